"""Read a parameter in one line: `` `date` (string, required): the day `` and similar."""

import re
from dataclasses import dataclass, field

from toolmd._parse.fields.entries import Entry, implied
from toolmd._parse.parameters.details import (
    FLAGS,
    Inline,
    default_of,
    meant_type,
    names_type,
    pieces_of,
    read_details,
)
from toolmd._parse.source.page import Mark
from toolmd._parse.words.keys import DASHES, SEPARATORS, fold, without_invisible
from toolmd._parse.words.scalars import code_spans

_WRAPPERS = ("**", "__", "`", "*", "_")
_DASHES = (*(f" {dash} " for dash in DASHES), ". ")
_SECOND = re.compile(r"[,/&+]\s*[`*_\w]|(?:or|and)\s+[`*_]")
"""A second name behind the first one."""
_BRACKETS = {"(": ")", "[": "]", "<": ">"}


@dataclass(slots=True)
class _Line:
    """A line while it is read: the position, and the markup that is still open."""

    mark: Mark
    at: int = 0
    opened: list[str] = field(default_factory=list)

    def ahead(self) -> str:
        return self.mark.text[self.at :]

    def spaces(self) -> None:
        while self.ahead()[:1].isspace():
            self.at += 1

    def open(self) -> bool:
        before = self.at
        while wrapper := next((w for w in _WRAPPERS if self.ahead().startswith(w)), ""):
            self.opened.append(wrapper)
            self.at += len(wrapper)
        return self.at > before

    def close(self) -> None:
        while self.opened and self.ahead().startswith(self.opened[-1]):
            self.at += len(self.opened.pop())

    def piece(self, start: int, end: int) -> Mark:
        return Mark(self.mark.text[start:end], self.mark.line, self.mark.column + start)


def read_inline(mark: Mark) -> Inline | None:
    """Read a line as a parameter's head; return None if it does not begin with a name."""
    line = _Line(Mark(without_invisible(mark.text), mark.line, mark.column))
    while line.ahead() and not (line.ahead()[0].isalnum() or line.ahead()[0] in "_`*$"):
        line.at += 1
    # A name may begin with an underscore; `__` before a letter is bold.
    marked = not (line.ahead()[:1] == "_" and line.ahead()[1:2].isalnum()) and line.open()
    name = _name(line)
    if name is None:
        return None
    found = Inline(name, marked=marked)
    for _ in range(2):  # `**days?**` and `**days**?`
        if line.ahead().startswith("?"):
            found.questioned = True
            found.entries.append(implied("Required", "no", line.piece(line.at, line.at + 1)))
            line.at += 1
        line.close()
        _star(found, line)
    before = -1
    while line.at > before:
        before = line.at
        _group(found, line)
        _flags(found, line)
    _description(found, line)
    return found


def _star(found: Inline, line: _Line) -> None:
    """Read `name*`, the mark for required values in forms."""
    ahead = line.ahead().removeprefix("\\")
    behind = ahead[1:].lstrip("*_`")[:1]
    if ahead.startswith("*") and (not behind or behind.isspace() or behind in ":(：,"):  # noqa: RUF001
        if line.opened and not line.ahead().startswith("\\"):
            return
        end = line.at + len(line.ahead()) - len(ahead) + 1
        found.entries.append(implied("Required", "yes", line.piece(line.at, end)))
        line.at = end


def _name(line: _Line) -> Mark | None:
    start = line.at
    while (ahead := line.ahead()) and (ahead[0].isalnum() or ahead[0] in "_-.[\\$"):
        if any(ahead.startswith(w) and not ahead[len(w) :][:1].isalnum() for w in line.opened):
            break
        if ahead[0] == "[" and not ahead.startswith("[]"):
            break
        if ahead[0] in "-." and not ahead[1:2].isalnum():
            break
        line.at += 2 if ahead.startswith("[]") else 1
    if line.opened and line.ahead().startswith(" "):
        close = line.ahead().find(line.opened[-1])
        words = line.ahead()[: max(close, 0)].split("(")[0].rstrip("?: ")
        if words and words.replace(" ", "").isalnum():
            line.at += len(words)
    name = line.piece(start, line.at)
    return Mark(name.text.replace("\\", ""), name.line, name.column) if name.text else None


def _group(found: Inline, line: _Line) -> None:
    """Read `(string, required)`, in brackets of any kind or in a code span."""
    line.spaces()
    before, opened = line.at, list(line.opened)
    line.open()
    start = line.ahead()[:1]
    if start in _BRACKETS:
        end = _closing(line.ahead(), start, _BRACKETS[start])
        if end > 0:
            inside = line.piece(line.at + 1, line.at + end)
            line.at += end + 1
            line.close()
            read_details(found, inside)
            return
    elif line.at > before and _spanned(found, line):
        return
    line.at, line.opened = before, opened


def _spanned(found: Inline, line: _Line) -> bool:
    """Read a type and its details up to the end of their code span or italics."""
    end = line.ahead().find(line.opened[-1]) if line.opened else -1
    inside = line.piece(line.at, line.at + max(end, 0)).strip()
    first = pieces_of(inside.text)[0].strip()
    if end <= 0 or found.typed or not (names_type(first) or default_of(inside.text)):
        return False
    line.at += end
    line.close()
    read_details(found, inside)
    return True


def _flags(found: Inline, line: _Line) -> None:
    """Read `*required*` after a name or its type; a bare word could begin a sentence."""
    while True:
        line.spaces()
        before, opened = line.at, list(line.opened)
        marked = line.open()
        end = line.at
        while line.mark.text[end : end + 1].isalpha():
            end += 1
        word = line.piece(line.at, end)
        flag = FLAGS.get(fold(word.text))
        behind = line.mark.text[end:].lstrip()[:1]
        if flag is None or not (marked or not behind or behind in SEPARATORS):
            line.at, line.opened = before, opened
            return
        found.entries.append(implied(*flag, word))
        line.at = end
        line.close()
        if line.ahead().startswith(","):
            line.at += 1


def _description(found: Inline, line: _Line) -> None:
    line.spaces()
    if line.ahead()[:1] and line.ahead()[0] in SEPARATORS:
        found.separated = True
        line.at += 1
        line.close()
        line.spaces()
        if _spanned(found, line):
            _group(found, line)
            _flags(found, line)
            line.spaces()
            line.at += 1 if line.ahead()[:1] and line.ahead()[0] in SEPARATORS else 0
        if not found.typed and line.ahead().startswith("("):
            _group(found, line)
            line.spaces()
    rest = line.piece(line.at, len(line.mark.text)).strip()
    found.doubled = not found.separated and _SECOND.match(rest.text) is not None
    if not found.typed and found.separated:
        rest = _leading_type(found, rest)
    if rest.text:
        found.entries.append(Entry(Mark("Description", rest.line, rest.column), rest))


def _leading_type(found: Inline, rest: Mark) -> Mark:
    """Read `string, required - the day`: a type before the description."""
    ends = [at for sign in _DASHES if (at := rest.text.find(sign)) > 0]
    end = min(ends, default=len(rest.text))
    head = rest.text[:end].rstrip(".")
    first, *others = (piece.partition("(")[0].strip() for piece in pieces_of(head))
    slipped = any(fold(word) in FLAGS for word in others) and meant_type(first)
    if not first or not (names_type(first) or default_of(first) or code_spans(head) or slipped):
        return rest
    group = head.find("(")
    in_group = group > 0 and head.rstrip().endswith(")") and "{" not in head
    if in_group and fold(head[:group]) != "enum":
        read_details(found, rest.at(0, group).strip())
        read_details(found, rest.at(group + 1, len(head.rstrip()) - group - 2))
    else:
        read_details(found, rest.at(0, len(head)))
    return _leading_flags(found, _behind(rest, end))


def _leading_flags(found: Inline, rest: Mark) -> Mark:
    """Read `required — the day`: flags separated by dashes."""
    while True:
        end = min((at for sign in _DASHES if (at := rest.text.find(sign)) > 0), default=None)
        word = rest.at(0, end or len(rest.text)) if rest.text else rest
        flag = FLAGS.get(fold(word.text))
        if flag is None:
            return rest
        found.entries.append(implied(*flag, word))
        rest = _behind(rest, end or len(rest.text))


def _behind(rest: Mark, end: int) -> Mark:
    """Return the text after the dash at `end`."""
    after = rest.text[end:]
    skip = next((len(sign) for sign in _DASHES if after.startswith(sign)), 0)
    if end + skip >= len(rest.text):
        return Mark("", rest.line, rest.column)
    return rest.at(end + skip).strip()


def _closing(text: str, opening: str, closing: str) -> int:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == opening) - (char == closing)
        if depth == 0:
            return at
    return -1
