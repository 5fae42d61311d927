"""Find the end of attributed text, in quotation marks or after `The user wrote:`."""

import re
from collections.abc import Callable

from toolmd._dialect.decoder import skip
from toolmd._dialect.elements import line_end

COLONS = ":："  # noqa: RUF001 - as it is written in East Asia
_PAIRS = {
    '"': '"', "'": "'", "“": "”", "„": "“”", "”": "”", "«": "»", "»": "«", "‹": "›", "›": "‹",  # noqa: RUF001
    "‘": "’", "‚": "‘’", "「": "」", "『": "』",  # noqa: RUF001
}  # fmt: skip
"""The opening marks of quotations and their closing marks, in several languages."""
MARKS = "".join(_PAIRS)
_SURE = "“„«‹‘‚「『"  # noqa: RUF001
"""Marks that open a quotation anywhere; others open one only at the beginning of a word."""
_LOOSE = "«‹"  # noqa: RUF001
"""Marks with an inner space, in French."""
_APOSTROPHES = "'‘"  # noqa: RUF001
# None of these tries a character twice, so their searches are linear.
_CLOSERS = {
    sign: re.compile(("" if sign in _LOOSE else r"(?<!\s)") + rf"[{closers}](?!\w)")
    for sign, closers in _PAIRS.items()
}
_OBJECT = re.compile(r"\{\s*+\"")
_SIGNS = re.compile(r'[{}]|"(?:[^"\\]*+(?:\\.[^"\\]*+)*+")?', re.DOTALL)
_SPACE = " \t\r\n"
_CLAUSE = 80
"""Characters before a colon that are read."""
_PER_STEP = 16
"""Characters that are scanned for one step."""
_ASIDE = str.maketrans(dict.fromkeys("*_#>`\"'()[]-•|", " "))
_SAYS = frozenset(
    "wrote writes written said says asked asks typed types sent sends posted replied replies"
    " answered answers responded returned returns reads contained contains states stated quoted"
    " pasted shared submitted printed schrieb schreibt geschrieben sagte sagt gesagt fragte"
    " antwortete écrit dit demandé répondu escribió dijo preguntó respondió scritto detto".split()
)
_FILLS = frozenset(
    "this that the following me us you back here below earlier before just exactly literally"
    " verbatim and it as follows".split()
)
_OWN = frozenset("i we i'll i've we've as ich wir wie je nous comme yo nosotros como".split())
"""With these the text is the model's own, or only refers to somebody's words."""
_ROLES = frozenset(
    {
        "user", "the user", "human", "customer", "patient", "client", "caller", "operator",
        "tool", "tool result", "tool results", "tool output", "tool response", "function result",
        "system", "quote", "quoted", "transcript", "user message", "user's message",
        "the user's message", "your message", "original message", "example", "for example",
        "email", "document", "page", "web page", "file",
    }
)  # fmt: skip


def quotation_end(text: str, start: int, spend: Callable[[int], None], *, is_first: bool) -> int:
    """Return the place after the quotation that this mark opens; 0 if it opens none.

    An unclosed quotation reaches to the end of the text, except for the apostrophe. `is_first`
    means that no text precedes the mark.
    """
    sign = text[start]
    after = text[start + 1 : start + 2]
    if sign not in _SURE:
        within = start > 0 and text[start - 1].isalnum()
        if within or not after or after.isspace():
            return 0
    if is_first and _wraps_all(text, start):
        return 0
    end = _closing(text, start)
    spend(((end or len(text)) - start) // _PER_STEP)
    if end:
        return end
    return 0 if sign in _APOSTROPHES else len(text)


def _wraps_all(text: str, start: int) -> bool:
    """Return whether marks enclose a whole reply that ends with its call, as in some models."""
    said = text.rstrip(_SPACE)
    ends = said[-1] in _PAIRS[text[start]] and said[-2:-1] in {"]", "}"}
    return ends and said[start + 1].isalpha()


def _closing(text: str, start: int) -> int:
    """Return the place after the mark that closes a quotation; 0 without one."""
    sign, at = text[start], start + 1
    # An apostrophe that opens nothing must not cause a search of the whole text.
    limit = line_end(text, at) if sign in _APOSTROPHES else len(text)
    while found := _CLOSERS[sign].search(text, at, limit):
        close = found.start()
        brace = _OBJECT.search(text, at, close + 1) if sign in "\"'" else None
        if brace is None:
            return close + 1
        # The marks within an object belong to the object.
        at = _object_end(text, brace.start(), limit)
        if not at:
            return 0
    return 0


def _object_end(text: str, brace: int, limit: int) -> int:
    """Return the place after the object that begins here; 0 if it does not end."""
    depth, at = 0, brace
    while found := _SIGNS.search(text, at, limit):
        match text[found.start()]:
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if not depth:
                    return found.end()
            case _:
                # An unclosed string.
                if found.end() - found.start() == 1:
                    return 0
        at = found.end()
    return 0


def attributed_end(text: str, colon: int) -> int:
    """Return the end of the text that this colon attributes to somebody; 0 if it attributes none.

    It is the rest of the colon's line, or the next paragraph where nothing follows there.
    """
    after = text[colon + 1 : colon + 2]
    if after.isalnum() or after == "/" or not _names_another(text, colon):
        return 0
    behind = skip(text, colon + 1, " \t\r*_")
    if text[behind : behind + 1] not in {"\n", ""}:
        return line_end(text, behind)
    end = skip(text, behind, _SPACE)
    while end < len(text) and text[end : (line := line_end(text, end))].strip(_SPACE):
        end = line + 1
    return min(end, len(text))


def _names_another(text: str, colon: int) -> bool:
    """Return whether the words before a colon name a speaker."""
    begin = max(text.rfind("\n", 0, colon) + 1, colon - _CLAUSE)
    line = text[begin:colon].casefold().replace("’", "'").translate(_ASIDE)  # noqa: RUF001
    if " ".join(line.split()) in _ROLES:
        return True
    clause = line[max(line.rfind(sign) for sign in ",;.!?—") + 1 :].split()
    if not _OWN.isdisjoint(clause):
        return False
    while clause and clause[-1] in _FILLS:
        clause.pop()
    return bool(clause) and clause[-1] in _SAYS
