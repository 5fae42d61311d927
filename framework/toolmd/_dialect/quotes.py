"""Find what a reply only quotes: fenced code, code spans and block quotes, as CommonMark has them.

One pass from left to right, linear in the text: each question is about a place at or after the
last one. Where CommonMark and a model's habits differ, more is quoted rather than less.
"""

from typing import NamedTuple

from toolmd._dialect.decoder import skip
from toolmd.errors import MalformedReplyError

MAX_STEPS = 32_768
"""What telling calls from quotes may cost; far more than a reply for people does."""
_LOOK = 16
"""Steps that it costs to look at a run of backticks, a fence or a quoted line; scanning 16
characters costs one."""
_MAX_LISTS = 16
_SPACE = " \t"
_BULLETS = "-*+"
_STARTS = frozenset(["", *"\t >#|-*+_=0123456789`~"])
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
    """Whether it is of a block quote, by its own sign or as the rest of a quoted paragraph."""


class Quotes:
    """The quoted stretches of one text."""

    def __init__(self, text: str) -> None:
        # Of the same length, so that places stay; "\r\n" must not become a blank line.
        self._text = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
        self._at = 0
        self._left = MAX_STEPS
        self._asked = 0
        self._next: dict[str, int] = {}
        self._unclosed: set[int] = set()
        self._first = self._text.find(">")
        self._judged = (0, False)
        self._line = self._line_at(0)

    def skip(self, end: int) -> None:
        """Take everything before `end` as read: a call stood there."""
        self._at = max(self._at, end)

    def spend(self, steps: int) -> None:
        """Count what a reader of this text does; refuses the reply where it is too much."""
        self._left -= steps
        if self._left < 0:
            raise MalformedReplyError("too much code and quotation to tell the calls from it")

    def cover(self, mark: int) -> Quote | None:
        """Give the quote around the place `mark`, or None."""
        self.spend(_LOOK)
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
        self.spend(_LOOK)
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
            self.spend(_LOOK)
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
        close = self._closer(start + run, run)
        if close < 0 or self._crosses_block(start, close):
            return None
        return Quote(start, close + run, start + run, close, fenced=False)

    def _closer(self, at: int, run: int) -> int:
        """Give the next run of exactly so many backticks, or -1."""
        if run in self._unclosed:
            return -1
        begin = at
        while (found := self._text.find("`" * run, at)) >= 0:
            self.spend(_LOOK)
            length = _run(self._text, found)
            if length == run:
                self.spend((found - begin) // _LOOK)
                return found
            at = found + length
        self.spend((len(self._text) - begin) // _LOOK)
        self._unclosed.add(run)
        return -1

    def _crosses_block(self, start: int, close: int) -> bool:
        """Tell whether a paragraph ends between the two places: no code span crosses that."""
        lines = self._text[start:close].split("\n")
        if len(lines) == 1:
            return False
        if self._text[self._line_of(start).content] in "#|":
            return True
        # The last one ends at the closer, which is text behind its white space.
        lines[-1] += "`"
        odd = [line for line in lines[1:] if line[:1] in _STARTS]
        self.spend(len(odd) * _LOOK)
        return any(map(_begins_block, odd))

    def _line_of(self, at: int) -> _Line:
        newline = self._text.rfind("\n", self._asked, at)
        self._asked = max(self._asked, at)
        if newline >= 0:
            self._line = self._line_at(newline + 1)
        return self._line

    def _line_at(self, start: int) -> _Line:
        content = _content(self._text, start)
        quoted = self._text.startswith(">", content) or self._goes_on(start)
        return _Line(start, content, quoted)

    def _goes_on(self, start: int) -> bool:
        """Tell whether the line goes on with a quoted paragraph, which needs no sign for that."""
        text = self._text
        if not 0 <= self._first < start:
            return False
        known, is_open = self._judged
        begin = start
        while begin > known:
            end = begin - 1
            begin = text.rfind("\n", known, end) + 1 or known
            self.spend(2)
            if (said := _leaves_open(text[begin:end])) is not None:
                is_open = said
                break
        self._judged = (start, is_open)
        return is_open and not _ends_paragraph(text[start : _line_end(text, start)])

    def _whole(self, line: _Line) -> Quote:
        end = _line_end(self._text, max(line.content, self._asked))
        return Quote(line.start, end + 1, line.content, end, fenced=False)


def _content(text: str, start: int) -> int:
    """Give the place behind a line's white space and list markers."""
    at = start
    for _ in range(_MAX_LISTS):
        at = skip(text, at, _SPACE)
        behind = _marker_end(text, at)
        if behind == at:
            break
        at = behind
    return at


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


def _leaves_open(line: str) -> bool | None:
    """Tell whether the next line can go on with a quoted paragraph; None where this one tells not.

    So it is behind quoted words, and is not behind what ends a paragraph, quoted or not.
    """
    at = _content(line, 0)
    if line.startswith(">", at):
        words = line[at:].lstrip("> \t")
        return bool(words) and not words.startswith(("#", "```", "~~~"))
    return False if _ends_paragraph(line) else None


def _ends_paragraph(line: str) -> bool:
    """Tell whether a line without a quote's sign ends a quoted paragraph, as few do."""
    at = skip(line, 0, _SPACE)
    words = line[at:].rstrip(_SPACE)
    if not words or _column(line, 0, at) > 3:  # noqa: PLR2004 - further in, it is text
        return not words
    sign, run = words[0], _run(words, 0)
    if sign == "#":
        return run <= 6 and words[run : run + 1] in {"", " ", "\t"}  # noqa: PLR2004 - headings
    if sign in "`~":
        return run >= 3 and (sign == "~" or "`" not in words[run:])  # noqa: PLR2004 - a fence
    if sign in "-*_" and not words.strip(sign + _SPACE) and words.count(sign) >= 3:  # noqa: PLR2004
        return True
    behind = _marker_end(words, 0)
    number = words[:behind].rstrip(".) \t")
    return sign == ">" or (0 < behind < len(words) and number.lstrip("0") in {*_BULLETS, "1"})


def _begins_block(line: str) -> bool:
    """Tell whether the line ends the paragraph before it."""
    at = skip(line, 0, _SPACE)
    if at == len(line) or line[at] in ">#|":
        return True
    sign = line[at]
    if sign in "-*+_=0123456789":
        return not line[at:].strip(sign + _SPACE) or _marker_end(line, at) > at
    return line.startswith(("```", "~~~"), at)


def _column(text: str, start: int, at: int) -> int:
    return len(text[start:at].expandtabs(4))


def _run(text: str, start: int) -> int:
    return skip(text, start, text[start]) - start


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)
