"""Escape foreign prose so that a definition does not parse it as its own syntax."""

import re

from toolmd._parse.page import Mark
from toolmd._parse.unread import restriction
from toolmd._parse.words import split

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
    return _not_meant(line.replace("<!--", "").replace("-->", ""))


def _not_meant(line: str) -> str:
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
            lines.append(_not_meant(line.replace("<!--", "").replace("-->", "")))
    if fence:
        lines.append(fence)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def fenced(text: str) -> str:
    """Return a text as a block of code, which nothing reads."""
    fence = "~" * (max(map(len, re.findall(r"~+", text)), default=0) + 3)
    return f"{fence}\n{text}\n{fence}"
