"""Words that show a user's intent, guessed from the sentences that ask for it."""

import re

from toolmd.importing import words_of

_ASKED = re.compile(
    r"explicit(?:ly)?\s+(?:ask(?:s|ed)?|request(?:s|ed)?|mention(?:s|ed)?|say(?:s)?|state(?:s|d)?|"
    r"want(?:s)?)\s+(?:for |to |about |that )?(?P<what>[^.;(]+)",
    re.IGNORECASE,
)
_IDLE = frozenset(
    "a an the of to be been about for with by in on at or and this that it its some any their "
    "his her something anything user past upcoming recent new recurring own be".split()
)
_VERBS = frozenset(
    "get set add log create update delete remove fetch find search list schedule report send make "
    "run check show read write save record cancel move start stop do call use".split()
)
_MOST = 12


def keywords(name: str, sentences: list[str]) -> tuple[str, ...]:
    """Return short phrases that a user who wants this tool would say; narrow rather than wide."""
    found: list[str] = []
    for sentence in sentences:
        for match in _ASKED.finditer(sentence):
            for phrase in re.split(r",|\bor\b|\band\b", match["what"]):
                left = [w for w in re.findall(r"[a-z][a-z-]+", phrase.lower()) if w not in _IDLE]
                if 0 < len(left) <= 3:  # noqa: PLR2004 - more is a sentence nobody repeats
                    found.append(" ".join(left))
    own = words_of(name)
    rest = own[1:] if own and own[0] in _VERBS and len(own) > 1 else own
    found.append(" ".join(rest))
    return tuple(dict.fromkeys(found))[:_MOST]
