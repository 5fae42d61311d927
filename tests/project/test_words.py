"""One word per thing: no two classes share a name, and those of the face stand in the glossary."""

import ast
import re
from collections import defaultdict

from tracked import ROOT, tracked

import toolmd


def test_a_class_shares_its_name_with_no_other() -> None:
    homes = defaultdict(list)
    for file in (ROOT / name for name in tracked() if name.startswith("framework/toolmd/")):
        if file.suffix != ".py":
            continue
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(file.relative_to(ROOT).as_posix())

    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_every_class_of_the_face_stands_in_the_glossary() -> None:
    page = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    classes = {
        name
        for name in toolmd.__all__
        if isinstance(held := getattr(toolmd, name), type) and not issubclass(held, Exception)
    }

    assert {name for name in classes if f"`{name}`" not in page} == set()


def test_a_word_is_explained_once() -> None:
    page = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\*", page, re.MULTILINE)

    assert len(words) == len(set(words)) > 50
