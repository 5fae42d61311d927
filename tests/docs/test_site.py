"""The site of the documents: every page is in its section, every link has a target."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
MAKER = runpy.run_path(str(ROOT / "docs/build_site.py"))
Site: Callable[[Path], Any] = MAKER["Site"]
PUBLIC = re.compile(r'(?:src|href)="((?:https?:)?//[^"]+)"|@import|url\(')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site."""
    out = tmp_path_factory.mktemp("site")
    assert Site(ROOT).build(out) == []
    return out


@pytest.fixture
def small(tmp_path: Path) -> Callable[..., list[str]]:
    """Return a function that builds a site of a few pages and returns its problems."""

    def build(**texts: str) -> list[str]:
        pages = {
            "index": "# Front\n",
            "tutorial/index": "# Tutorial\n\n- [One](one.md)\n",
            "tutorial/one": "# One\n\n## Twice\n\n## Twice\n",
            "how-to/index": "# How-to\n",
            "reference/index": "# Reference\n",
            "explanation/index": "# Explanation\n",
        } | {name.replace("__", "/"): text for name, text in texts.items()}
        for name, text in pages.items():
            file = tmp_path / "docs" / f"{name}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        return Site(tmp_path).build(tmp_path / "site")

    return build


def test_every_document_has_its_page(site: Path) -> None:
    documents = {file.relative_to(ROOT / "docs") for file in (ROOT / "docs").rglob("*.md")}
    pages = {file.relative_to(site).with_suffix(".md") for file in site.rglob("*.html")}
    assert documents <= pages


def test_every_link_of_a_page_leads_to_a_file_of_the_site(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:src|href)="([^"#:]+)(?:#[^"]*)?"', page.read_text("utf-8")):
            assert (page.parent / target).resolve().is_file(), (page.name, target)


def test_the_site_loads_nothing_from_other_hosts(site: Path) -> None:
    """A link that a reader may follow does not count."""
    for file in [*site.rglob("*.html"), *site.glob("*.css"), *site.glob("*.js")]:
        text = re.sub(r"<a [^>]*>", "", file.read_text("utf-8"))
        found = PUBLIC.search(text) if file.name != "index.js" else None
        assert found is None, (file.name, found)


def test_a_block_of_code_is_coloured_under_the_name_of_its_file(site: Path) -> None:
    page = (site / "tutorial/first-tool.html").read_text("utf-8")
    assert "<figcaption>tools_md/convert_temperature.py</figcaption>" in page
    assert '<span class="k">async</span>' in page


def test_a_sound_site_has_no_problems(small) -> None:
    assert small(index="# Front\n\n[second](tutorial/one.md#twice-1)\n") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# A\n\n[x](nowhere.md)\n", "docs/how-to/a.md: docs/how-to/nowhere.md does not exist"),
        ("# A\n\n[x](../tutorial/one.md#b)\n", "docs/tutorial/one.md has no heading #b"),
        ("# A\n\n[x](#b)\n", "docs/how-to/a.md has no heading #b"),
        ("words\n", "docs/how-to/a.md: no title"),
    ],
)
def test_a_broken_link_is_a_problem(small, text: str, problem: str) -> None:
    problems = small(**{"how-to__index": "# How-to\n\n[a](a.md)\n", "how-to__a": text})
    assert any(problem in line for line in problems), problems


def test_a_page_that_its_section_does_not_link_is_a_problem(small) -> None:
    problems = small(**{"how-to__a": "# A\n"})
    assert problems == ["docs/how-to/a.md: docs/how-to/index.md does not link it"]


def test_the_architecture_is_read_in_three_minutes() -> None:
    text = (ROOT / "docs/explanation/architecture.md").read_text("utf-8")
    words = re.findall(r"[\w'.-]*\w", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert len(words) < 3 * 270


@pytest.mark.parametrize("section", ["tutorial", "how-to", "reference", "explanation"])
def test_a_page_begins_with_a_sentence_below_its_title(section: str) -> None:
    for file in (ROOT / "docs" / section).glob("*.md"):
        kinds = [token.type for token in MarkdownIt("commonmark").parse(file.read_text("utf-8"))]
        first = [kind for kind in kinds if kind not in {"html_block", "inline"}]
        assert first[:3] == ["heading_open", "heading_close", "paragraph_open"], file.name
