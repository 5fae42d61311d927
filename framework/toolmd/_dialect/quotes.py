"""Find which marks of a reply are quoted: in code, a block quote, an element or quotation marks.

markdown-it reads the blocks and the code spans. Each mark stands in the text as a number, so that
nothing in a call's own JSON opens or closes a quotation. Unclosed elements and quotations reach to
the end of the text: a call in doubtful text is not made.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("zero").enable(
    ["blockquote", "code", "fence", "heading", "hr", "lheading", "list", "backticks", "escape"]
)
_NUMBER = re.compile(r"\ue000(\d+)\ue001")
_RESERVED = {0xE000: " ", 0xE001: " "}
_THOUGHTS = re.compile(
    r"<(/?)(?:think|thinking|thoughts?|reasoning|scratchpad)\b[^<>]*>", re.IGNORECASE
)
"""Elements that a model's template may open in the prompt, so that the reply has only their end."""
_PAIRS = {
    '"': '"', "'": "'", "“": "”", "„": "“”", "”": "”", "«": "»", "»": "«", "‹": "›", "›": "‹",  # noqa: RUF001
    "‘": "’", "‚": "‘’", "「": "」", "『": "』",  # noqa: RUF001
}  # fmt: skip
"""The opening marks of quotations and their closing marks, in several languages."""
_SURE = frozenset("“„«‹‘‚「『")  # noqa: RUF001
"""Marks that open a quotation anywhere; others open one only at the beginning of a word."""
_SPACED = frozenset("«‹")  # noqa: RUF001
"""Marks with an inner space, in French."""
_APOSTROPHES = frozenset("'‘")  # noqa: RUF001
"""Marks whose quotation ends in its line, or is none."""
_CLOSERS = {
    sign: re.compile(("" if sign in _SPACED else r"(?<!\s)") + rf"[{closers}](?!\w)")
    for sign, closers in _PAIRS.items()
}
_SPEAKER = r"^[ \t*_]*(?:user|human|system|tool|tool result)[ \t*_]*:[ \t*_]*"
"""The beginning of a line in a transcript, by a role of the protocols."""
_OPENER = re.compile(
    rf"\ue000(\d+)\ue001|(<)|([{''.join(_PAIRS)}])|{_SPEAKER}", re.IGNORECASE | re.MULTILINE
)
# None of these tries a character twice, so their searches are linear.
_TAG = re.compile(
    r"<([A-Za-z_][\w.:-]*+)(?=/?>|\s)(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>", re.ASCII
)
_BREAKS = re.compile(r"\n*")
_PASSIVE = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
"""The elements of HTML without content."""
_MOST_UNCLOSED = 64
"""The most names of unclosed elements that may be types, such as `list<int>`."""


class Standing(NamedTuple):
    """How a mark that nobody quotes stands in the text."""

    fence: str = ""
    """The run of signs of the fence that begins with the mark; empty outside of fences."""
    ends: bool = False
    """Whether that fence ends the reply."""


def find_own(text: str, spans: Sequence[tuple[int, int]]) -> dict[int, Standing]:
    """Return how each span stands that the assistant says itself, by its number.

    Args:
        text: The reply.
        spans: The places of possible calls, in order. Their content is not looked at.
    """
    text = text.translate(_RESERVED)
    at, parts = _thoughts_end(text), []
    for number, (start, end) in enumerate(spans):
        if start >= at:
            parts += [text[at:start], f"\ue000{number}\ue001"]
            at = end
    masked = "".join([*parts, text[at:]]).strip()
    if masked[:1] in _PAIRS and masked[1:2].isalpha() and masked[-2:-1] == "\ue001":
        masked = masked[1:].rstrip(_PAIRS[masked[0]])  # Some models quote their whole reply.
    said, fences = _read(masked)
    return {number: fences.get(number, Standing()) for number in _Speech(said).own()}


def _thoughts_end(text: str) -> int:
    """Return the place after thoughts that begin the reply, or began before it; else 0."""
    for tag in _THOUGHTS.finditer(text):
        if tag[1]:
            return tag.end()
        if text[: tag.start()].strip():
            return 0
    return 0


def _read(masked: str) -> tuple[str, dict[int, Standing]]:
    """Return the words outside of code and block quotes, and the fences that begin with a mark."""
    said: list[str] = []
    fences: dict[int, Standing] = {}
    quoted = 0
    tokens = _MARKDOWN.parse(masked)
    for place, token in enumerate(tokens):
        if token.type in {"blockquote_open", "blockquote_close"}:
            quoted += token.nesting
        elif quoted:
            continue
        elif token.type == "fence" and (mark := _NUMBER.match(token.content.lstrip())):
            ends = all(one.nesting < 0 for one in tokens[place + 1 :])
            fences[int(mark[1])] = Standing(token.markup, ends)
            said += [mark[0], "\n\n"]
        elif token.type == "inline":
            code = {"code_inline": "x"}
            said += [code.get(child.type, child.content) for child in token.children or ()]
            said.append("\n\n")
    return "".join(said), fences


class _Speech:
    """Reads words from left to right, past elements, quotations and the turns of others."""

    def __init__(self, said: str) -> None:
        self._said = said
        self._unclosed: set[str] = set()
        self._open_until: dict[str, int] = {}
        """The place before which no apostrophe of this sign closes a quotation."""

    def own(self) -> list[int]:
        """Return the numbers of the marks that are nobody else's words."""
        found, at = [], 0
        while opener := _OPENER.search(self._said, at):
            at = opener.end()
            if opener[1]:
                found.append(int(opener[1]))
            elif opener[2]:
                at = max(at, self._element_end(opener.start()))
            elif opener[3]:
                at = max(at, self._quotation_end(opener.start()))
            else:
                # The rest of the line, or the next paragraph where nothing follows there.
                begin = _BREAKS.match(self._said, at).end()  # type: ignore[union-attr]
                at = self._end("\n", at) if begin == at else self._end("\n\n", begin)
        return found

    def _end(self, sign: str, at: int) -> int:
        end = self._said.find(sign, at)
        return end if end >= 0 else len(self._said)

    def _element_end(self, start: int) -> int:
        """Return the place after the element that begins at this `<`; 0 if none does."""
        text = self._said
        for opening, closing in _PASSIVE.items():
            if text.startswith(opening, start):
                end = text.find(closing, start)
                return end + len(closing) if end >= 0 else len(text)
        tag = _TAG.match(text, start)
        if tag is None:
            return 0
        name = tag[1].lower()
        if name in _VOID or tag[0].endswith("/>"):
            return tag.end()
        if name not in self._unclosed:
            depth = 1
            same = re.compile(rf"<(/?){re.escape(name)}(?=[\s/>])[^<>]*>?", re.IGNORECASE)
            for one in same.finditer(text, tag.end()):
                depth += 0 if one[0].endswith("/>") else -1 if one[1] else 1
                if not depth:
                    return one.end()
            self._unclosed.add(name)
        # An unclosed `list<int>` is a type.
        joined = start > 0 and text[start - 1].isalnum()
        return 0 if joined and len(self._unclosed) <= _MOST_UNCLOSED else len(text)

    def _quotation_end(self, start: int) -> int:
        """Return the place after the quotation that this mark opens; 0 if it opens none."""
        text, sign = self._said, self._said[start]
        after = text[start + 1 : start + 2]
        in_word = (start > 0 and text[start - 1].isalnum()) or not after or after.isspace()
        if sign not in _SURE and in_word:
            return 0
        if sign not in _APOSTROPHES:
            closer = _CLOSERS[sign].search(text, start + 1)
            return closer.end() if closer else len(text)
        if start < self._open_until.get(sign, 0):
            return 0
        end = self._end("\n", start)
        closer = _CLOSERS[sign].search(text, start + 1, end)
        if closer is None:
            self._open_until[sign] = end
        return closer.end() if closer else 0
