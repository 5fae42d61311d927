"""Render the console's pages: templates that escape everything, with safe headers."""

import datetime as dt
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, Response

from toolmd._auth import PAGE_POLICY
from toolmd._http.console.json_text import as_html, as_text
from toolmd._http.console.visible import exact, shown
from toolmd._skills.graph import STYLE

if TYPE_CHECKING:
    # A server whose console nobody opens does without it.
    from jinja2 import Environment

HERE = Path(__file__).parent
ASSETS: Mapping[str, str] = {
    "console.css": "text/css; charset=utf-8",
    "graph.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "forms.js": "text/javascript; charset=utf-8",
    "runs.js": "text/javascript; charset=utf-8",
    "enter.js": "text/javascript; charset=utf-8",
    "mark.svg": "image/svg+xml",
}
"""The files that a page may load, and their types."""


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "json": as_html,
        "json_text": as_text,
        "exact": exact,
        "clock": clock,
        "slug": slug,
    }
    return made


def printed(template: str, **values: Any) -> str:
    """Return a filled template."""
    return _templates().get_template(template).render(values)


def page(template: str, *, status: int = 200, **values: Any) -> Response:
    """Return a page, or a part of one, with a policy that only allows our own scripts."""
    headers = {"content-security-policy": PAGE_POLICY, "cache-control": "no-store"}
    return HTMLResponse(printed(template, **values), status, headers)


@cache
def _asset_bytes(name: str) -> bytes:
    return STYLE.encode() if name == "graph.css" else (HERE / "assets" / name).read_bytes()


def asset(name: str) -> Response:
    """Return one of the files that pages load."""
    return Response(
        _asset_bytes(name), media_type=ASSETS[name], headers={"cache-control": "no-cache"}
    )


def slug(text: str) -> str:
    """Return text in a form that is valid in an id, and unique for each text."""
    return re.sub(r"[^A-Za-z0-9-]", lambda found: f"_{ord(found[0]):x}_", text)


def clock(moment: str | float | None) -> str:
    """Return a moment, ISO 8601 or seconds since the epoch, in local time with its offset."""
    if moment is None or moment == "":
        return ""
    try:
        at = (
            dt.datetime.fromisoformat(moment)
            if isinstance(moment, str)
            else dt.datetime.fromtimestamp(moment, dt.UTC)
        )
    except ValueError:
        return str(moment)
    return at.astimezone().isoformat(" ", "seconds")
