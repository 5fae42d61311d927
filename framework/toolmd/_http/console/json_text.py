"""Format JSON for reading: indented, with marks for keys, texts and numbers."""

import json
import re
from typing import Any

from markupsafe import Markup, escape

from toolmd._http.console.visible import visible

_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\d[\d.eE+-]*)|(?P<word>true|false|null)"
)
LONGEST = 200_000
"""The most characters to show; browsers become slow with more."""


def as_text(value: Any) -> str:
    """Return indented JSON as text."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def as_html(value: Any) -> Markup:
    """Return indented JSON as HTML, truncated after `LONGEST` characters."""
    text = as_text(value)
    cut = len(text) > LONGEST
    text = visible(text[:LONGEST])
    parts: list[str] = []
    end = 0
    for found in _TOKEN.finditer(text):
        parts.append(str(escape(text[end : found.start()])))
        parts.append(f'<span class="j-{found.lastgroup}">{escape(found[0])}</span>')
        end = found.end()
    parts.append(str(escape(text[end:])))
    if cut:
        parts.append("\n…")
    return Markup("".join(parts))  # noqa: S704 - every part is escaped above
