"""Convert foreign names and prose to what a definition may have."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from toolmd._parse.page import Mark
from toolmd._parse.unread import restriction
from toolmd._parse.words import split

_LONGEST = 64
_MOST = 2000
"""The characters of a value that a note shows."""
_TOOL = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PARAMETER = re.compile(r"\$?[A-Za-z_][A-Za-z0-9_-]{0,62}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

RESULTS = (
    *("outputSchema", "output_schema", "response", "responseJsonSchema"),
    *("response_json_schema", "returns", "return_schema"),
)
"""The keys under which functions have the schema of their result."""


def tool_name(text: str) -> str:
    """Return the name of a tool that is nearest to a text: `Get-Labs` becomes `get_labs`.

    Args:
        text: A name in any form.

    Returns:
        The name in snake case, at most 64 characters; empty for a text without letters.
    """
    folded = text.strip().replace("-", "_")
    if _TOOL.fullmatch(folded):
        return folded
    return "_".join(words_of(text))[:_LONGEST].strip("_")


def words_of(text: str) -> list[str]:
    """Return the words of a name: of snake, kebab and camel case.

    Args:
        text: The name.

    Returns:
        The words in lower case. Digits stay with the word before them; leading ones are dropped,
        since a name begins with a letter.
    """
    found: list[str] = []
    for piece in re.split(r"[^A-Za-z0-9]+", text):
        for match in _WORDS.finditer(piece):
            word = match[0].lower()
            if word.isdigit() and found and match.start():
                found[-1] += word
            elif found or not word.isdigit():
                found.append(word)
    return found


def parameter_name(text: str) -> str:
    """Return a valid parameter name unchanged, else the nearest one.

    Args:
        text: A name in any form.

    Returns:
        The name, at most 64 characters; empty for a text without letters.
    """
    return text if _PARAMETER.fullmatch(text) else "_".join(words_of(text))[:_LONGEST].strip("_")


def title_of(name: str) -> str:
    """Return the title for a name: `get_labs` becomes `Get Labs`.

    Args:
        name: The name of a tool or a skill.

    Returns:
        Its words, each with a capital, on one line.
    """
    return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[_\-]+", name) if word)


def distinct(names: Sequence[str]) -> Iterator[str]:
    """Yield each name; one that was there before gets a number behind it."""
    taken = set(names)
    seen: set[str] = set()
    for name in names:
        own, number = name, 1
        while own in seen or (number > 1 and own in taken):
            number += 1
            own = f"{name[: _LONGEST - len(str(number)) - 1]}_{number}"
        seen.add(own)
        yield own


_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def one_line(text: str) -> str:
    """Return a text on one line."""
    return " ".join(_CONTROL.sub(" ", text).split())


def first_and_rest(text: str) -> tuple[str, str]:
    """Return the first paragraph on one line, and the paragraphs after it."""
    first, _, rest = text.replace("\r\n", "\n").strip().partition("\n\n")
    lines = first.split("\n")
    # A list or a fence right below the first sentence is not part of it.
    for at, line in enumerate(lines):
        if at and re.match(r"\s*(?:[-*+] |\d+[.)] |```|~~~|#)", line):
            first, rest = "\n".join(lines[:at]), "\n".join(lines[at:]) + "\n\n" + rest
            break
    return plain_line(first), rest.strip()


def plain_line(text: str) -> str:
    """Return a text as a line that does not parse as a heading, a bullet or a rule."""
    line = one_line(text)
    heading = _HEADING.fullmatch(line)
    if heading:
        line = (heading[1] or "").strip()
    line = re.sub(r"^(?:[-*+>|]|\d+[.)])\s+", "", line)
    return _escape_restriction(line.replace("<!--", "").replace("-->", ""))


def _escape_restriction(line: str) -> str:
    """Escape the sign after a restriction: its author meant another program."""
    pair = split(Mark(line, 1, 1))
    if pair is None or restriction(pair) is None:
        return line
    end = pair.key.column - 1 + len(pair.key.text)
    sign = next(at for at in range(end, len(line)) if line[at] not in " *_`")
    return f"{line[:sign]}\\{line[sign:]}"


def prose(text: str) -> str:
    """Return paragraphs with headings as bold text and closed fences."""
    lines: list[str] = []
    fence = ""
    for line in _CONTROL.sub("", text.replace("\r\n", "\n")).split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            lines.append(line)
        elif heading := _HEADING.fullmatch(line):
            title = (heading[1] or "").strip(" *_`")
            lines += ["", f"**{title}**", ""] if title else [""]
        elif _UNDERLINE.fullmatch(line) and lines and lines[-1].strip():
            lines.append("")
        else:
            lines.append(_escape_restriction(line.replace("<!--", "").replace("-->", "")))
    if fence:
        lines.append(fence)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def fence_text(text: str) -> str:
    """Return a text as a block of code, which nothing reads."""
    fence = "~" * (max(map(len, re.findall(r"~+", text)), default=0) + 3)
    return f"{fence}\n{text}\n{fence}"


def brief(value: Any) -> str:
    """Return a value as JSON on one line, cut where a note has no room for it."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
