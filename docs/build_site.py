"""Build the site of the documents: static pages that load nothing from other hosts."""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

ROOT = Path(__file__).parents[1]
LOOK = Path(__file__).parent / "look"
FRONT = "docs/index.md"
SECTIONS = {
    "docs/tutorial": "Tutorial",
    "docs/how-to": "How-to",
    "docs/reference": "Reference",
    "docs/explanation": "Explanation",
}
"""The folder of each section; its `index.md` links the pages in reading order."""
DECISIONS = "docs/explanation/decisions"
PROJECT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""The pages at the root of the repository."""
ASSETS = {".svg", ".png"}
LIGHT, DARK = "default", "github-dark"


@dataclass
class Page:
    """One document: its tokens and its link targets."""

    path: str
    """Relative to the repository, with slashes."""
    tokens: list[Token]
    title: str = ""
    anchors: list[tuple[str, str, str]] = field(default_factory=list)
    """The tag, id and text of each heading."""

    @property
    def url(self) -> str:
        """The page's path in the site."""
        below = self.path.removeprefix("docs/")
        return re.sub(r"(^|/)README\.html$", r"\1readme.html", below.removesuffix(".md") + ".html")


class Site:
    """All pages, and their problems."""

    def __init__(self, root: Path) -> None:
        """Read the pages of a folder with the structure of this repository."""
        self.root = root
        self.problems: list[str] = []
        self.assets: set[str] = set()
        self.reader = MarkdownIt("commonmark", {"highlight": highlighted}).enable("table")
        self.reader.add_render_rule("fence", fence)
        self.reader.add_render_rule("code_inline", name)
        found = [*root.glob("docs/*.md"), *root.glob("docs/*/*.md"), *root.glob(f"{DECISIONS}/*")]
        files = [*sorted(set(found)), *(root / name for name in PROJECT)]
        read = [self.read(file) for file in files if file.suffix == ".md" and file.is_file()]
        self.pages = {page.path: page for page in read}

    def read(self, file: Path) -> Page:
        """Read one document, and add anchors to its headings."""
        page = Page(file.relative_to(self.root).as_posix(), [])
        page.tokens = self.reader.parse(file.read_text("utf-8"))
        for opening, inline in zip(page.tokens, page.tokens[1:], strict=False):
            if opening.type == "heading_open":
                anchor = self.free(page, slug(inline.content))
                opening.attrSet("id", anchor)
                page.anchors.append((opening.tag, anchor, plain(inline)))
        page.title = next((text for tag, _, text in page.anchors if tag == "h1"), "")
        if not page.title:
            self.problems.append(f"{page.path}: no title: begin it with `# Title`")
        return page

    @staticmethod
    def free(page: Page, anchor: str) -> str:
        """Return a free anchor; a repeated one gets a number, as on code hosts."""
        taken = {known for _, known, _ in page.anchors}
        numbered = (f"{anchor}-{n}" for n in range(1, len(taken) + 2))
        return anchor if anchor not in taken else next(n for n in numbered if n not in taken)

    def sections(self) -> list[tuple[str, list[Page]]]:
        """Return the name of each section with its pages in order."""
        sections = []
        for folder, name in SECTIONS.items():
            index = self.pages.get(f"{folder}/index.md")
            if index is None:
                self.problems.append(
                    f"{folder}/index.md: the file is missing: it links the section's pages"
                )
                continue
            linked = dict.fromkeys(target for target, _ in self.links(index))
            pages = [
                self.pages[t] for t in linked if t.startswith(f"{folder}/") and t in self.pages
            ]
            for path in self.pages:
                if Path(path).parent.as_posix() == folder and path not in {*linked, index.path}:
                    self.problems.append(f"{path}: {index.path} does not link it")
            sections.append((name, [index, *(p for p in pages if p is not index)]))
        decisions = [page for path, page in self.pages.items() if path.startswith(DECISIONS)]
        decisions.sort(key=lambda page: not page.path.endswith("/index.md"))
        sections.append(("Decisions", decisions))
        sections.append(("Project", [self.pages[p] for p in PROJECT if p in self.pages]))
        return sections

    def links(self, page: Page) -> Iterator[tuple[str, Token]]:
        """Return each link of a page to a file of the repository: the target and the token."""
        for token in page.tokens:
            for child in token.children or ():
                name = {"link_open": "href", "image": "src"}.get(child.type, "")
                target = str(child.attrGet(name) or "") if name else ""
                if target and not re.match(r"[a-z]+:", target):
                    path = unquote(target.partition("#")[0])
                    whole = os.path.normpath((self.root / page.path).parent / path)
                    yield (
                        Path(whole if path else self.root / page.path)
                        .relative_to(self.root)
                        .as_posix(),
                        child,
                    )

    def lead(self, page: Page) -> None:
        """Turn links to documents into links to pages, and report broken links."""
        for target, token in self.links(page):
            name = "src" if token.type == "image" else "href"
            anchor = str(token.attrGet(name)).partition("#")[2]
            if target == DECISIONS:
                target = f"{DECISIONS}/index.md"  # noqa: PLW2901  # a folder opens its index
            elif target in self.pages:
                known = {found for _, found, _ in self.pages[target].anchors}
                if anchor and anchor not in known:
                    self.problems.append(f"{page.path}: {target} has no heading #{anchor}")
            elif not (self.root / target).exists():
                self.problems.append(f"{page.path}: {target} does not exist")
            if target in self.pages:
                url = relative(self.pages[target].url, page.url)
                token.attrSet(name, url + (f"#{anchor}" if anchor else ""))
            elif Path(target).suffix in ASSETS:
                self.assets.add(target)
                token.attrSet(name, relative(target.removeprefix("docs/"), page.url))
            else:  # a file of the repository, which is not part of the site
                token.attrs.pop(name, None)

    def build(self, out: Path) -> list[str]:
        """Empty a folder, write the site into it, and return the problems."""
        sections = self.sections()
        page_html = Environment(loader=FileSystemLoader(LOOK), autoescape=True).get_template(
            "page.html"
        )
        shutil.rmtree(out, ignore_errors=True)
        index = []
        for page in self.pages.values():
            self.lead(page)
            body = self.reader.renderer.render(page.tokens, self.reader.options, {})
            text = page_html.render(
                page=page,
                sections=sections,
                body=Markup(body),  # noqa: S704  # built from this repository's own documents
                to=lambda url, here=page.url: relative(url, here),
            )
            write(out / page.url, text)
            words = " ".join(plain(token) for token in page.tokens if token.type == "inline")
            heads = [(anchor, text) for _, anchor, text in page.anchors[1:]]
            index.append({"t": page.title, "u": page.url, "h": heads, "w": words})
        for asset in self.assets:
            target = out / asset.removeprefix("docs/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / asset, target)
        write(out / "index.js", f"const PAGES = {json.dumps(index, ensure_ascii=False)};\n")
        write(out / "page.css", (LOOK / "page.css").read_text("utf-8") + colours())
        write(out / "search.js", (LOOK / "search.js").read_text("utf-8"))
        return self.problems


def slug(title: str) -> str:
    """Return the anchor of a heading, as code hosts build it."""
    return re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-")


def plain(token: Token) -> str:
    """Return the plain text of a line."""
    return "".join(child.content or " " for child in token.children or ()).strip()


def relative(url: str, here: str) -> str:
    """Return the relative URL from one page of the site to another."""
    return Path(os.path.relpath(url, Path(here).parent)).as_posix()


def highlighted(code: str, language: str, _attributes: str) -> str:
    """Highlight a block of code."""
    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))


def name(renderer: Any, tokens: list[Token], number: int, options: Any, env: Any) -> str:  # noqa: ARG001
    """Render a code span that may break between its words, because paths and names are long."""
    text = re.sub(r"(?<=\w)([/_]|::)(?=\w)", r"\1<wbr>", escape(tokens[number].content))
    return f"<code>{text}</code>"


def fence(renderer: Any, tokens: list[Token], number: int, options: Any, env: Any) -> str:  # noqa: ARG001
    """Render a block of code below the name of its file."""
    language, _, marks = tokens[number].info.strip().partition(" ")
    named = re.search(r'(?:title|into)="([^"]+)"', marks)
    caption = f"<figcaption>{escape(named[1])}</figcaption>" if named else ""
    code = highlighted(tokens[number].content, language, marks)
    return f'<figure class="code">{caption}<pre tabindex="0"><code>{code}</code></pre></figure>\n'


def colours() -> str:
    """Return the styles of code for the light and the dark theme."""
    light = HtmlFormatter(style=LIGHT).get_style_defs(".code")
    dark = HtmlFormatter(style=DARK).get_style_defs(".code")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def write(file: Path, text: str) -> None:
    """Write one file of the site."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8", newline="\n")


def main() -> int:
    """Build `site/`; return 1 if there are problems."""
    site = Site(ROOT)
    problems = site.build(ROOT / "site")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"site/index.html and {len(site.pages) - 1} more pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
