"""The pages of the documents: titles, places in their sections, and links that lead somewhere."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SITE_ONLY = ("commands", "diagnostics", "hooks", "http", "python")
BUILT = {DOCS / "reference" / f"{name}.md" for name in SITE_ONLY}
"""The pages that `make docs` writes for the site only."""
PAGES = sorted({*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("plugins/*/*.md")} - BUILT)
SECTIONS = [page.parent for page in PAGES if page.name == "index.md" and page.parent != DOCS]
READER = MarkdownIt("commonmark").enable("table")


@cache
def tokens(page: Path) -> list[Token]:
    return READER.parse(page.read_text("utf-8"))


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts and the site build them."""
    texts = [line.content for head, line in pairwise(tokens(page)) if head.type == "heading_open"]
    slugs = [re.sub(r"[^\w -]", "", text).strip().lower().replace(" ", "-") for text in texts]
    earlier = [slugs[:place].count(slug) for place, slug in enumerate(slugs)]
    return {f"{slug}-{n}" if n else slug for slug, n in zip(slugs, earlier, strict=True)}


def links(page: Path) -> list[tuple[Path, str]]:
    """Return the file and the anchor of each link into the repository."""
    found = []
    for child in [child for token in tokens(page) for child in token.children or ()]:
        name = {"link_open": "href", "image": "src"}.get(child.type, "")
        target = unquote(str(child.attrGet(name) or "")) if name else ""
        if target and not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            found.append(((page.parent / path).resolve() if path else page, anchor))
    return found


def test_each_link_leads_to_a_file_and_a_heading() -> None:
    for page in PAGES:
        for target, anchor in links(page):
            assert target.exists(), (page.name, target)
            assert not anchor or anchor in anchors(target), (page.name, target, anchor)


def test_the_index_of_a_section_links_each_of_its_pages() -> None:
    for section in SECTIONS:
        linked = {target for target, _ in links(section / "index.md")}
        assert {*section.glob("*.md")} - linked - BUILT == {section / "index.md"}


def test_a_page_begins_with_a_sentence_below_its_title() -> None:
    for page in [p for p in PAGES if p.parent in SECTIONS and p.parent.name != "decisions"]:
        kinds = [token.type for token in tokens(page)]
        first = [kind for kind in kinds if kind not in {"html_block", "inline"}]
        assert first[:3] == ["heading_open", "heading_close", "paragraph_open"], page.name


def test_the_architecture_is_read_in_three_minutes() -> None:
    text = (DOCS / "explanation/architecture.md").read_text("utf-8")
    words = re.findall(r"[\w'.-]*\w", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert len(words) < 3 * 270
