"""The pages and sections that the code names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFERENCE = re.compile(r'(?<![\w.-])([a-z0-9-]+\.md)\b(?:, "([^"\n]+)")?')


def references() -> set[tuple[str, str]]:
    """Return each page, with its section if any, in the docstrings of the package."""
    found = set()
    for path in (ROOT / "framework").rglob("*.py"):
        for docstring in re.findall(r'""".+?"""', path.read_text("utf-8"), re.DOTALL):
            found |= set(REFERENCE.findall(docstring))
    return found


def test_a_page_that_a_docstring_names_has_that_section() -> None:
    missing = set()
    for page, section in references():
        paths = list((ROOT / "docs").rglob(page))
        titles = (
            re.findall(r"^#+ (.+)$", paths[0].read_text("utf-8"), re.MULTILINE) if paths else []
        )
        if not paths or (section and section not in titles):
            missing.add((page, section))

    assert not missing


def test_a_seed_that_the_code_names_is_in_the_glossary() -> None:
    glossary = (ROOT / "docs" / "explanation" / "glossary.md").read_text("utf-8")
    named = set()
    for path in (ROOT / "framework").rglob("*.py"):
        named |= set(re.findall(r"\bseed (\d{3})\b", path.read_text("utf-8")))

    assert all(number in glossary for number in named)
