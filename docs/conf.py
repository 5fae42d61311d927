"""Settings of the site, which `make docs` builds with Sphinx and MyST."""

import json
import re
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
SECTIONS = ("tutorial", "how-to", "reference", "explanation")
PROJECT = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")
"""The pages at the root of the repository."""
TITLED = re.compile(r'^( *)(`{3,}|~{3,})(\w+) .*?(?:title|into)="([^"]+)".*$', re.MULTILINE)
LINKED = re.compile(r"\]\(([\w./-]+)\.md\)")

project = "Toolmd"
author = "the authors of Toolmd"
release = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
root_doc = "docs/index"
include_patterns = ["docs/**", *(f"{name}.md" for name in PROJECT)]
exclude_patterns = ["docs/*.py"]
extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 4
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
pygments_style = "friendly"
html_theme = "pydata_sphinx_theme"
html_title = f"Toolmd {release}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    "switcher": {"json_url": "../versions.json", "version_match": release},
    "check_switcher": False,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "footer_end": [],
}


def prepare(_app: Sphinx, page: str, source: list[str]) -> None:
    """Name the files of code blocks, and add a page's links of its own section to the navigation.

    Args:
        page: The page's path in the repository, without its ending.
        source: The page's text, in a list of one; it is changed in place.
    """
    text = TITLED.sub(r"\1\2{code-block} \3\n\1:caption: \4\n", source[0])
    if page.endswith("/index"):
        linked = list(dict.fromkeys(LINKED.findall(text)))
        if page == root_doc:
            linked = [*(f"{name}/index" for name in SECTIONS), *(f"/{name}" for name in PROJECT)]
        if page == "docs/reference/index":
            linked += ["commands", "diagnostics", "hooks", "http", "python"]
        inside = [path for path in linked if not path.startswith("..")]
        text += "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(inside) + "\n```\n"
    source[0] = text


def list_versions(app: Sphinx, failure: Exception | None) -> None:
    """List the versions next to this one for the menu, and lead the site's address to this one."""
    if failure is None and app.builder.name == "html":
        site = Path(app.outdir).parent
        found = sorted(
            (page.parents[1].name for page in site.glob("*/docs/index.html")), reverse=True
        )
        menu = [
            {"version": version, "url": f"../../{version}/docs/index.html"} for version in found
        ]
        site.joinpath("versions.json").write_text(json.dumps(menu, indent=2) + "\n", "utf-8")
        site.joinpath("index.html").write_text(
            "<!doctype html><title>Toolmd</title>"
            f'<meta http-equiv="refresh" content="0; url={release}/docs/index.html">\n',
            "utf-8",
        )


def setup(app: Sphinx) -> None:
    """Prepare each page after Sphinx has read it."""
    app.connect("source-read", prepare)
    app.connect("build-finished", list_versions)
