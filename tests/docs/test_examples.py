"""Every code block of the documents runs and does what the page says."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sybil import Document
from tests.command import run_command

ROOT = Path(__file__).parents[2]
FIRST = [ROOT / "README.md", *sorted(ROOT.glob("docs/tutorial/*.md"))]
"""The pages from which readers learn the format."""
DEFINITION = re.compile(
    r'^(`{3,})markdown title="([^"]+\.(?:tool|skill)\.md)"\n(.*?)^\1$', re.DOTALL | re.MULTILINE
)


def pages() -> list[str]:
    """Return the documents, without definitions and golden files, which other tests read."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(
        name
        for name in listed.stdout.splitlines()
        if "tests" not in Path(name).parts
        and not name.startswith(".")
        and not name.endswith((".tool.md", ".skill.md", ".chat.md"))
    )


@pytest.mark.parametrize("name", pages())
def test_the_examples_of_a_page_work(name: str, read_page: Callable[[Path], Document]) -> None:
    for example in read_page(ROOT / name).examples():
        example.evaluate()


def test_the_definitions_of_the_readme_and_the_tutorials_are_canonical(tmp_path: Path) -> None:
    for page in FIRST:
        for _, name, text in DEFINITION.findall(page.read_text("utf-8")):
            file = tmp_path / page.stem / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")

    ended = run_command(tmp_path, "fmt", "--check", ".")

    assert ended.code == 0, ended.err
    assert "6 files already canonical" in ended.out + ended.err
