"""Find what a reply only quotes: fenced code, code spans and block quotes, as CommonMark has them.

One pass from left to right, linear in the text: each question is about a place at or after the
last one. Where CommonMark and a model's habits differ, more is quoted rather than less.
"""

from bisect import bisect_left
from typing import NamedTuple

_SPACE = " \t"
_BULLETS = "-*+"
_STARTS = frozenset(["", *"\n\t >#|-*+_=0123456789`~"])
"""How a line may begin that ends the paragraph before it."""


class Quote(NamedTuple):
    """A stretch that is somebody else's words; ends are exclusive."""

    start: int
    end: int
    inner: int
    inner_end: int
    fenced: bool


class _Line(NamedTuple):
    start: int
    content: int
    """Its first character behind white space and list markers."""
    quoted: bool
    """Whether it is of a block quote."""


class Quotes:
    """The quoted stretches of one text."""

    def __init__(self, text: str) -> None:
        # Of the same length, so that places stay; "\r\n" must not become a blank line.
        self._text = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
        self._at = 0
        self._asked = 0
        self._next: dict[str, int] = {}
        self._paragraph = (0, 0)
        self._runs: dict[int, list[int]] | None = None
        self._line = self._line_at(0)

    def skip(self, end: int) -> None:
        """Take everything before `end` as read: a call stood there."""
        self._at = max(self._at, end)

    def cover(self, mark: int) -> Quote | None:
        """Give the quote around the place `mark`, or None."""
        while (opener := min(self._find("`"), self._find("~~~"))) <= mark:
            if quote := self._open(opener):
                self._at = quote.end
                if quote.end > mark:
                    return quote
        self._at = max(self._at, mark)
        line = self._line_of(mark)
        return self._whole(line) if line.quoted else None

    def _find(self, what: str) -> int:
        """Give the next `what` from here on; past the text where there is none."""
        found = self._next.get(what, -1)
        if found < self._at:
            found = self._text.find(what, self._at)
            self._next[what] = found = found if found >= 0 else len(self._text) + 1
        return found

    def _open(self, start: int) -> Quote | None:
        """Read what begins at this backtick or tilde, and step over it where it is nothing."""
        text, line = self._text, self._line_of(start)
        if line.quoted:
            return self._whole(line)
        sign = text[start]
        run = _run(text, start)
        if run >= 3 and start == line.content:  # noqa: PLR2004 - CommonMark's shortest fence
            end = _line_end(text, start)
            if sign == "~" or "`" not in text[start + run : end]:
                return self._fence(line, start, run)
        if sign == "~":
            self._at = start + run
            return None
        if (start - len(text[self._at : start].rstrip("\\")) - self._at) % 2:
            start, run = start + 1, run - 1
        self._at = start + run
        return self._span(start, run) if run else None

    def _fence(self, line: _Line, start: int, run: int) -> Quote:
        text, sign = self._text, self._text[start]
        column = _column(text, line.start, start)
        inner = min(_line_end(text, start) + 1, len(text))
        at = inner
        while (found := text.find(sign * run, at)) >= 0:
            begin = text.rfind("\n", at - 1, found) + 1 or at
            end = _line_end(text, found)
            closes = (
                not text[begin:found].strip(_SPACE)
                and not text[found + _run(text, found) : end].strip(_SPACE)
                and abs(_column(text, begin, found) - column) <= 3  # noqa: PLR2004 - CommonMark
            )
            if closes:
                return Quote(start, end, inner, begin, fenced=True)
            at = min(end + 1, len(text))
            if at == end:
                break
        return Quote(start, len(text), inner, len(text), fenced=True)

    def _span(self, start: int, run: int) -> Quote | None:
        closers = self._closers().get(run, [])
        index = bisect_left(closers, start + run)
        if index == len(closers) or closers[index] >= self._paragraph_end(start):
            return None
        close = closers[index]
        return Quote(start, close + run, start + run, close, fenced=False)

    def _closers(self) -> dict[int, list[int]]:
        """Give the places of all runs of backticks, by length."""
        if self._runs is None:
            self._runs = {}
            at = start = length = 0
            for part in self._text.split("`")[:-1]:
                if part or not length:
                    if length:
                        self._runs.setdefault(length, []).append(start)
                    at += len(part)
                    start, length = at, 0
                length += 1
                at += 1
            if length:
                self._runs.setdefault(length, []).append(start)
        return self._runs

    def _paragraph_end(self, at: int) -> int:
        """Give the end of the paragraph around `at`: no code span crosses it."""
        begin, end = self._paragraph
        if begin <= at < end:
            return end
        text = self._text
        end = text.find("\n", at)
        if text[self._line_of(at).content] not in "#|":
            while end >= 0:
                # Most lines begin with a letter, and there may be 100,000 of them.
                if text[end + 1 : end + 2] in _STARTS and _begins_block(text, end + 1):
                    break
                end = text.find("\n", end + 1)
        self._paragraph = (at, end if end >= 0 else len(text))
        return self._paragraph[1]

    def _line_of(self, at: int) -> _Line:
        newline = self._text.rfind("\n", self._asked, at)
        self._asked = max(self._asked, at)
        if newline >= 0:
            self._line = self._line_at(newline + 1)
        return self._line

    def _line_at(self, start: int) -> _Line:
        content = _content(self._text, start)
        return _Line(start, content, self._text.startswith(">", content))

    def _whole(self, line: _Line) -> Quote:
        end = _line_end(self._text, max(line.content, self._asked))
        return Quote(line.start, end + 1, line.content, end, fenced=False)


def _content(text: str, start: int) -> int:
    """Give the place behind a line's white space and list markers."""
    at = start
    while True:
        while text[at : at + 1] and text[at] in _SPACE:
            at += 1
        behind = _marker_end(text, at)
        if behind == at:
            return at
        at = behind


def _marker_end(text: str, at: int) -> int:
    """Give the place behind a list marker and its space, or `at` where there is none."""
    end = at
    if text[at : at + 1] and text[at] in _BULLETS:
        end = at + 1
    else:
        while end - at <= 9 and text[end : end + 1] and text[end] in "0123456789":  # noqa: PLR2004
            end += 1
        if end == at or text[end : end + 1] not in {".", ")"}:
            return at
        end += 1
    return end + 1 if text[end : end + 1] in {" ", "\t"} else at


def _begins_block(text: str, start: int) -> bool:
    """Tell whether the line ends the paragraph before it."""
    at, size = start, len(text)
    while at < size and text[at] in _SPACE:
        at += 1
    if at == size or text[at] in "\n>#|":
        return True
    sign = text[at]
    if sign in "-*+_=0123456789":
        ruled = not text[at : _line_end(text, at)].strip(sign + _SPACE)
        return ruled or _marker_end(text, at) > at
    return text.startswith(("```", "~~~"), at)


def _column(text: str, start: int, at: int) -> int:
    return len(text[start:at].expandtabs(4))


def _run(text: str, start: int) -> int:
    sign, end, size = text[start], start, len(text)
    while end < size and text[end] == sign:
        end += 1
    return end - start


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)
