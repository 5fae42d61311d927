"""Read the lines of markdown, and find the ends of elements such as `<tool_result>…</tool_result>`.

Any element counts, also comments, whatever its name. An unclosed element reaches to the end of
the text: calls in doubtful text are not made.
"""

from collections.abc import Callable
from functools import cached_property
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

from toolmd._dialect.decoder import SPACE, skip

_MAX_LISTS = 16
_SPACE = " \t"
_BULLETS = "-*+"


def content_of(text: str, start: int) -> int:
    """Return the place after a line's white space and list markers."""
    at = start
    for _ in range(_MAX_LISTS):
        at = skip(text, at, _SPACE)
        behind = marker_end(text, at)
        if behind == at:
            break
        at = behind
    return at


def marker_end(text: str, at: int) -> int:
    """Return the place after a list marker and its space, or `at` without one."""
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


def leaves_open(line: str) -> bool | None:
    """Return whether the next line can continue a quoted paragraph; None if undecided.

    Quoted text leaves it open; the end of a paragraph, quoted or not, closes it.
    """
    at = content_of(line, 0)
    if line.startswith(">", at):
        words = line[at:].lstrip("> \t")
        return bool(words) and not words.startswith(("#", "```", "~~~"))
    return False if ends_paragraph(line) else None


def ends_paragraph(line: str) -> bool:
    """Return whether a line without a quote marker ends a quoted paragraph, as few do."""
    at = skip(line, 0, _SPACE)
    words = line[at:].rstrip(_SPACE)
    if not words or column_of(line, 0, at) > 3:  # noqa: PLR2004 - further in, it is text
        return not words
    sign, run = words[0], run_of(words, 0)
    if sign == "#":
        return run <= 6 and words[run : run + 1] in {"", " ", "\t"}  # noqa: PLR2004 - headings
    if sign in "`~":
        return run >= 3 and (sign == "~" or "`" not in words[run:])  # noqa: PLR2004 - a fence
    if sign in "-*_" and not words.strip(sign + _SPACE) and words.count(sign) >= 3:  # noqa: PLR2004
        return True
    behind = marker_end(words, 0)
    number = words[:behind].rstrip(".) \t")
    return sign == ">" or (0 < behind < len(words) and number.lstrip("0") in {*_BULLETS, "1"})


def are_thoughts(text: str, start: int) -> bool:
    """Return whether the element of a model's thoughts begins there."""
    return text[start : start + 16].lower().startswith(_THOUGHT_TAGS)


def begins_block(line: str) -> bool:
    """Return whether the line ends the paragraph before it."""
    at = skip(line, 0, _SPACE)
    if at == len(line) or line[at] in ">#|":
        return True
    sign = line[at]
    if sign in "-*+_=0123456789":
        return not line[at:].strip(sign + _SPACE) or marker_end(line, at) > at
    return line.startswith(("```", "~~~"), at)


def column_of(text: str, start: int, at: int) -> int:
    return len(text[start:at].expandtabs(4))


def run_of(text: str, start: int) -> int:
    return skip(text, start, text[start]) - start


def line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_FIRST = frozenset(ascii_letters + "_")
_NAME = f"{ascii_letters}{digits}_-.:"
_PAIRS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
"""The elements of HTML without content."""
_THOUGHTS = ("think", "thinking", "thought", "thoughts", "reasoning", "scratchpad")
"""Elements that a model's template may open in the prompt, so that the reply has only their end."""
_THOUGHT_TAGS = tuple(f"<{name}" for name in _THOUGHTS)
_PER_STEP = 16
"""Characters that are scanned for one step."""


class Elements:
    """The elements of one text; queries must go from left to right."""

    def __init__(self, text: str, spend: Callable[[int], None]) -> None:
        """Prepare the text; `spend` counts the scanning steps."""
        self._text = text
        self._spend = spend
        self._unclosed: set[str] = set()

    @cached_property
    def _lower(self) -> str:
        # `lower` can change the length, which would shift the places.
        return self._text.translate(_LOWER)

    def end(self, start: int) -> int:
        """Return the place after the element that begins at this `<`; 0 if none does."""
        text = self._text
        for opening, closing in _PAIRS.items():
            if text.startswith(opening, start):
                found = text.find(closing, start + len(opening))
                return found + len(closing) if found >= 0 else len(text)
        name, inner = self._tag(start)
        if not inner or name in _VOID or text[inner - 2] == "/":
            return inner
        # An unclosed `list<int>` is a type.
        joined = start > 0 and text[start - 1].isalnum()
        if joined and name in self._unclosed:
            return 0
        end = self._closed(name, inner)
        if end:
            return end
        self._unclosed.add(name)
        return 0 if joined else len(text)

    def _tag(self, start: int) -> tuple[str, int]:
        """Return the name of the tag at this `<` and the place after it; 0 if there is none."""
        text = self._text
        if text[start + 1 : start + 2] not in _FIRST:
            return "", 0
        at = skip(text, start + 1, _NAME)
        name = self._lower[start + 1 : at]
        # `<https://…>` is a URL.
        if not text.startswith((">", "/>", *SPACE), at):
            return "", 0
        while at < len(text):
            sign = text[at]
            if sign == ">":
                self._spend((at - start) // _PER_STEP)
                return name, at + 1
            if sign == "<":
                break
            closing = text.find(sign, at + 1) if sign in "\"'" else at
            if closing < 0:
                break
            at = closing + 1
        self._spend((at - start) // _PER_STEP)
        return "", 0

    def _closed(self, name: str, inner: int) -> int:
        """Return the place after the tag that closes the element; 0 without one."""
        depth, at, opened = 1, inner, self._find(f"<{name}", inner)
        while (closing := self._find(f"</{name}", at)) >= 0:
            depth -= 1
            while 0 <= opened < closing:
                depth += 1
                opened = self._find(f"<{name}", opened + 1)
            at = (self._text.find(">", closing) + 1) or len(self._text)
            if depth == 0:
                self._spend((at - inner) // _PER_STEP)
                return at
        self._spend((len(self._text) - inner) // _PER_STEP)
        return 0

    def _find(self, tag: str, at: int) -> int:
        """Return the next place of a tag of exactly this name, -1 without one."""
        while (found := self._lower.find(tag, at)) >= 0:
            behind = found + len(tag)
            if self._text[behind : behind + 1] not in _NAME or behind == len(self._text):
                return found
            at = behind
        return -1

    def thoughts_end(self) -> int:
        """Return the place after thoughts that began before the reply; 0 without such."""
        ends = [0]
        if "</" not in self._text:
            return 0
        for name in _THOUGHTS:
            closing = self._find(f"</{name}", 0)
            if closing >= 0 and not 0 <= self._find(f"<{name}", 0) < closing:
                ends.append((self._text.find(">", closing) + 1) or len(self._text))
        return max(ends)
