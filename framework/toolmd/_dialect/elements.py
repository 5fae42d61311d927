"""Find the ends of elements such as `<tool_result>…</tool_result>`: their text is quoted.

Any element counts, also comments, whatever its name. An unclosed element reaches to the end of
the text: calls in doubtful text are not made.
"""

from collections.abc import Callable
from functools import cached_property
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

from toolmd._dialect.decoder import skip

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_FIRST = frozenset(ascii_letters + "_")
_NAME = f"{ascii_letters}{digits}_-.:"
_SPACE = " \t\r\n"
_PAIRS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
"""The elements of HTML without content."""
_THOUGHTS = ("think", "thinking", "thought", "thoughts", "reasoning", "scratchpad")
"""Elements that a model's template may open in the prompt, so that the reply has only their end."""
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
        if not text.startswith((">", "/>", *_SPACE), at):
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
