"""Find quotes in a reply: code, block quotes, elements, speech.

One pass from left to right, linear in the text: queries must go from left to right. Where
CommonMark and a model's habits differ, more text counts as quoted rather than less.
"""

import re
from typing import NamedTuple

from toolmd._dialect.decoder import skip
from toolmd._dialect.elements import (
    Elements,
    are_thoughts,
    begins_block,
    column_of,
    content_of,
    ends_paragraph,
    leaves_open,
    line_end,
    marker_end,
    run_of,
)
from toolmd._dialect.speech import COLONS, MARKS, attributed_end, quotation_end
from toolmd.errors import MalformedReplyError

MAX_STEPS = 32_768
"""Limit of the steps for one reply, far above the needs of a reply for people."""
_LOOK = 16
"""Steps for a run of backticks, a fence or a quoted line; scanning 16 characters is one step."""
_GLANCE = 4
"""Steps for a quotation mark, or a colon."""
# A set of single characters, so that its search is linear.
_OPENERS = re.compile(f"[`<{COLONS}{MARKS}]|~~~")
_FENCE = re.compile("```|~~~")
_SPACE = " \t"
_STARTS = frozenset(["", *"\t >#|-*+_=0123456789`~"])
"""First characters of lines that end the paragraph before them."""


class Quote(NamedTuple):
    """A part of the text that quotes something; ends are exclusive."""

    start: int
    end: int
    inner: int
    inner_end: int
    fenced: bool


class _Line(NamedTuple):
    start: int
    content: int
    """Its first character after white space and list markers."""
    quoted: bool
    """Whether it belongs to a block quote, by its own marker or as a paragraph's continuation."""


class Quotes:
    """The quoted parts of one text."""

    def __init__(self, text: str) -> None:
        # The length is kept, so that places stay; "\r\n" must not become a blank line.
        self._text = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
        self._at = 0
        self._left = MAX_STEPS
        self._asked = 0
        self._next = -1
        self._first_word = skip(self._text, 0, " \t\n")
        self._elements = Elements(self._text, self.spend)
        self._thoughts = self._elements.thoughts_end()
        self._unclosed: set[int] = set()
        self._first = self._text.find(">")
        self._checked = (0, False)
        self._line = self._line_at(0)

    def skip(self, end: int) -> None:
        """Mark everything before `end` as read, since a call is there."""
        self._at = max(self._at, end)

    def spend(self, steps: int) -> None:
        """Count the steps of a reader of this text; raises MalformedReplyError above the limit."""
        self._left -= steps
        if self._left < 0:
            raise MalformedReplyError("too much code and quotation to find the calls")

    def cover(self, mark: int) -> Quote | None:
        """Return the quote around the place `mark`, or None."""
        self.spend(_LOOK)
        if mark < self._thoughts:
            return Quote(0, self._thoughts, 0, self._thoughts, fenced=False)
        self._at = max(self._at, self._thoughts)
        while (opener := self._opener()) <= mark:
            if quote := self._open(opener):
                quote = self._past_fences(quote)
                self._at = quote.end
                if quote.end > mark:
                    return quote
        self._at = max(self._at, mark)
        line = self._line_of(mark)
        return self._whole(line) if line.quoted or self._is_code(line) else None

    def _opener(self) -> int:
        """Return the next place where a quote may open; beyond the text if there is none."""
        if self._next < self._at:
            found = _OPENERS.search(self._text, self._at)
            self._next = found.start() if found else len(self._text) + 1
        return self._next

    def _open(self, start: int) -> Quote | None:
        """Read the quote that begins at this character, or step over it."""
        text, line = self._text, self._line_of(start)
        sign = text[start]
        self.spend(_LOOK if sign in "`~<" else _GLANCE)
        if line.quoted:
            return self._whole(line)
        if sign in "`~":
            return self._code(line, start)
        self._at = start + 1
        if sign == "<":
            end = self._elements.end(start)
        elif sign in COLONS:
            end = attributed_end(text, start)
        else:
            end = quotation_end(text, start, self.spend, is_first=start == self._first_word)
        return Quote(start, end, start + 1, end, fenced=False) if end else None

    def _past_fences(self, quote: Quote) -> Quote:
        """Return the quote, extended over a fence that opens in it and closes behind it."""
        text, at, end = self._text, quote.start, quote.end
        if quote.fenced or are_thoughts(text, quote.start):
            return quote  # Thoughts are no markdown: their fences end with them.
        last = self._last_line_end(at, end)
        # Only a line with the signs of a fence may open one; a quote may have many lines.
        while (newline := text.find("\n", at, end)) >= 0 and (
            sign := _FENCE.search(text, newline + 1, last)
        ):
            self.spend(1)
            at = text.rfind("\n", newline, sign.start()) + 1
            start = content_of(text, at)
            if self._opens_fence(start):
                at = self._fence(_Line(at, start, quoted=False), start, run_of(text, start)).end
                if at > end:
                    end = at
                    last = self._last_line_end(at, end)
        return quote if end == quote.end else quote._replace(end=end)

    def _last_line_end(self, start: int, end: int) -> int:
        """Return where the last line ends that begins in or right behind this part of the text."""
        return line_end(self._text, self._text.rfind("\n", start, end) + 1)

    def _opens_fence(self, start: int) -> bool:
        """Return whether the text of a line, which begins there, opens a fence."""
        text = self._text
        if not text.startswith(("```", "~~~"), start):
            return False
        return (
            text[start] == "~"
            or "`" not in text[start + run_of(text, start) : line_end(text, start)]
        )

    def _code(self, line: _Line, start: int) -> Quote | None:
        text, sign = self._text, self._text[start]
        run = run_of(text, start)
        if start == line.content and self._opens_fence(start):
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
        column = column_of(text, line.start, start)
        inner = min(line_end(text, start) + 1, len(text))
        at = inner
        while (found := text.find(sign * run, at)) >= 0:
            self.spend(_LOOK)
            begin = text.rfind("\n", at - 1, found) + 1 or at
            end = line_end(text, found)
            closes = (
                not text[begin:found].strip(_SPACE)
                and not text[found + run_of(text, found) : end].strip(_SPACE)
                and abs(column_of(text, begin, found) - column) <= 3  # noqa: PLR2004 - CommonMark
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
        """Return the next run of exactly this many backticks, or -1."""
        if run in self._unclosed:
            return -1
        begin = at
        while (found := self._text.find("`" * run, at)) >= 0:
            self.spend(_LOOK)
            length = run_of(self._text, found)
            if length == run:
                self.spend((found - begin) // _LOOK)
                return found
            at = found + length
        self.spend((len(self._text) - begin) // _LOOK)
        self._unclosed.add(run)
        return -1

    def _crosses_block(self, start: int, close: int) -> bool:
        """Return whether a paragraph ends between the two places; a code span can't cross that."""
        lines = self._text[start:close].split("\n")
        if len(lines) == 1:
            return False
        if self._text[self._line_of(start).content] in "#|":
            return True
        # The last line ends at the closing run, which is text after its white space.
        lines[-1] += "`"
        odd = [line for line in lines[1:] if line[:1] in _STARTS]
        self.spend(len(odd) * _LOOK)
        return any(map(begins_block, odd))

    def _line_of(self, at: int) -> _Line:
        newline = self._text.rfind("\n", self._asked, at)
        self._asked = max(self._asked, at)
        if newline >= 0:
            self._line = self._line_at(newline + 1)
        return self._line

    def _line_at(self, start: int) -> _Line:
        content = content_of(self._text, start)
        quoted = self._text.startswith(">", content) or self._goes_on(start)
        return _Line(start, content, quoted)

    def _is_code(self, line: _Line) -> bool:
        """Return whether the line is indented code: after a blank line, not in a paragraph."""
        text, begin = self._text, line.start
        if column_of(text, begin, skip(text, begin, _SPACE)) < 4:  # noqa: PLR2004 - CommonMark
            return False
        blank = False
        while begin > 0:
            end, begin = begin - 1, text.rfind("\n", 0, begin - 1) + 1
            self.spend(2)
            at = skip(text, begin, _SPACE)
            if at >= end:
                blank = True
            elif column_of(text, begin, at) < 4:  # noqa: PLR2004 - as above
                # Indented text below a list item belongs to the item.
                return blank and marker_end(text, at) == at
            else:
                blank = False
        return False

    def _goes_on(self, start: int) -> bool:
        """Return whether the line continues a quoted paragraph, which needs no marker for that."""
        text = self._text
        if not 0 <= self._first < start:
            return False
        known, is_open = self._checked
        begin = start
        while begin > known:
            end = begin - 1
            begin = text.rfind("\n", known, end) + 1 or known
            self.spend(2)
            if (said := leaves_open(text[begin:end])) is not None:
                is_open = said
                break
        self._checked = (start, is_open)
        return is_open and not ends_paragraph(text[start : line_end(text, start)])

    def _whole(self, line: _Line) -> Quote:
        end = line_end(self._text, max(line.content, self._asked))
        return Quote(line.start, end + 1, line.content, end, fenced=False)
