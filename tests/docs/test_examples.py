"""Every code block of the documents runs and does what the page says."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sybil import Document

ROOT = Path(__file__).parents[2]


def pages() -> list[str]:
    """Return the documents, without definitions and golden files, which other tests read."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(
        name
        for name in listed.stdout.splitlines()
        if "tests" not in Path(name).parts
        and not name.startswith(".")
        and not name.endswith((".tool.md", ".skill.md"))
    )


@pytest.mark.parametrize("name", pages())
def test_the_examples_of_a_page_work(name: str, read_page: Callable[[Path], Document]) -> None:
    for example in read_page(ROOT / name).examples():
        example.evaluate()
