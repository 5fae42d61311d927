"""One word per thing: a name of the face is no other class's, and stands in the glossary."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import toolmark
from toolmark import testing

ROOT = Path(__file__).parents[2]
FACE = {*toolmark.__all__, *testing.__all__}


def test_a_name_of_the_face_is_given_to_one_class_alone() -> None:
    homes = defaultdict(list)
    for file in (ROOT / "framework/toolmark").rglob("*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name in FACE:
                homes[node.name].append(file.relative_to(ROOT).as_posix())

    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_a_noun_gives_its_name_to_no_other_class() -> None:
    homes = defaultdict(list)
    for file in (ROOT / "framework/toolmark").rglob("*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(file.relative_to(ROOT / "framework/toolmark").as_posix())
    nouns = {name for name, files in homes.items() if any(f.startswith("_model/") for f in files)}

    assert {name: homes[name] for name in nouns if len(homes[name]) > 1} == {}


def test_every_class_of_the_face_stands_in_the_glossary() -> None:
    page = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    classes = {
        name
        for name in toolmark.__all__
        if isinstance(held := getattr(toolmark, name), type) and not issubclass(held, Exception)
    }

    assert {name for name in classes if f"`{name}`" not in page} == set()


def test_a_word_is_explained_once() -> None:
    page = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\*", page, re.MULTILINE)

    assert len(words) == len(set(words)) > 50
