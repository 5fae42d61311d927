"""Read a heading, a bold line or a bullet as the name of a tool."""

import re
from dataclasses import dataclass

from toolmd_catalog.layout.labels import role_of
from toolmd_catalog.words import clean, closing

_NUMBERING = re.compile(
    r"(?:\(?\d+(?:\.\d+)*[.):]*|[A-Z][.)]|§\s*\d+(?:\.\d+)*|#\d+[.:]?|[ivx]+\.)\s+(?=\S)"
)
_LEAD = re.compile(
    r"(?:tool|function|method|command|action|endpoint)\s*(?:#?\d+)?\s*(?:[:–—-])\s*",  # noqa: RUF001
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]*\)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*")
_FILE = re.compile(
    r".*\.(?:jsonl?|md|js|ts|py|toml|ya?ml|sh|txt|env|log|exe|conf|cfg|ini|lock|db|html?|csv)"
)
_FOLLOWS = re.compile(r"\s*(?:->|→|:|[-–—](?=\s)|$)")  # noqa: RUF001


@dataclass(slots=True)
class ToolHeading:
    """A tool's name as a heading gives it."""

    name: str
    signature: str = ""
    """The inside of its parentheses, then ` -> ` and what it returns, where they are given."""
    words: str = ""
    """The words behind the name."""
    strong: bool = True
    """Whether the name is code's: in a span, with underscores, with parentheses."""
    aside: bool = False
    """Whether the name stands behind a title: `Get the weather (`get_weather`)`."""


def heading_of(text: str, *, listed: bool = False) -> ToolHeading | None:
    """Read a heading as a tool's name; None where it is none.

    `listed` is a text that stands in a list of tools: there a lone word is a name too.
    """
    plain = _LINK.sub(r"\1", clean(text)).strip().rstrip(":").strip()
    start = re.search(r"[A-Za-z0-9_`(§#]", plain)
    plain = plain[start.start() :] if start else ""
    counted = _NUMBERING.match(plain)
    plain = plain[counted.end() :] if counted else plain
    led = _LEAD.match(plain)
    plain = plain[led.end() :] if led else plain
    coded = plain.startswith("`")
    inner = plain[1:].split("`", 1) if coded else [plain, ""]
    whole = "".join(inner) if len(inner) > 1 else inner[0]
    match = _NAME.match(whole)
    if match is None:
        return None
    name, rest = match[0], whole[match.end() :]
    if _FILE.fullmatch(name):
        return None
    signature = ""
    if rest.startswith("(") and (end := closing(rest, 0)) >= 0:
        signature, rest = rest[1:end], rest[end + 1 :]
        arrow = re.match(r"\s*(?:->|→|:(?=\s*\w[\w\[\]<>{}|]*\s*$))\s*(?P<gives>[^–—]+)", rest)  # noqa: RUF001
        if arrow:
            signature += f" -> {arrow['gives'].strip()}"
            rest = rest[arrow.end() :]
        if not signature:
            signature = " "
    camel = name[:1].islower() and name != name.lower()
    code = coded or bool(led) or bool(signature) or "_" in name.strip("_") or camel
    lone = listed and name == name.lower() and not role_of(name)
    spaced = r"\s*\(|\s+(?=\w)" if listed and coded else r"\s*\("
    if _FOLLOWS.match(rest) or (code and re.match(spaced, rest)):
        if name.isupper():
            return None  # a variable of the environment
        behind = re.sub(r"^\s*(?:->|→|:|[-–—])\s*", "", rest).strip()  # noqa: RUF001
        return ToolHeading(name, signature, behind, strong=code or lone)
    aside = re.search(r"`([A-Za-z_][\w-]*)`\)?[\s.]*$", plain)
    # A heading is no sentence; a bullet in a list of tools may be one, with the name behind it.
    if aside and (len(plain) < 80 or (listed and plain[aside.start() - 1] == "(")):  # noqa: PLR2004
        return ToolHeading(aside[1], "", plain[: aside.start()].strip(" (-–—:"), aside=True)  # noqa: RUF001
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9 /&'-]{1,60}(?:\([^()]*\))?", plain):
        return ToolHeading(re.sub(r"\s*\(.*", "", plain), "", "", strong=False)
    return None
