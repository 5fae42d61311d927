"""Words with which a sentence restricts calls: `must never`, `at most twice a day`."""

import re
from collections.abc import Iterator

from toolmd._parse.prose_policy import enforced, sentences, stated
from toolmd._types.tool import ToolSpec

_IN_A_SENTENCE = re.compile(
    r"\b(?:must|mustn[\u2019']t|shall|never|only|at most|(?:no|not) more than|no less than|may not|"
    r"not (?:be )?(?:allowed|permitted)|forbidden|prohibited|cannot|can[\u2019']t|do not|"
    r"don[\u2019']t|scopes?)\b",
    re.IGNORECASE,
)
_WORK = (
    "works?|returns?|returning|shows?|lists?|search(?:es)?|reads?|finds?|gets?|supports?|includes?|"
    "including|contains?|accepts?|apply|applies|affects?|checks?|counts?"
)
_UNDONE = "undone|reversed|retrieved|recovered|restored|found|determined|reached"
_DONE = "returned|shown|listed|found|read|kept"
_OF_THE_TOOL = re.compile(
    rf"\b(?:only (?:{_WORK})|(?:{_WORK}) only|(?:cannot|can[\u2019']t) be (?:{_UNDONE})|"
    rf"(?:never |no |not )?(?:more than|at most) \S+ (?:\w+ )?(?:are|is) (?:{_DONE})|"
    r"(?:do not|don[\u2019']t) (?:hesitate|forget|worry))\b",
    re.IGNORECASE,
)
"""What a tool does by itself; no call can break it: `Only returns 10 results`."""
_REQUIRED_SCOPE = re.compile(
    r"\b(?:requires?|required|needs?) (?:[\w:'`\"-]+ ){0,5}?['`\"]?scopes?\b|"
    r"\bscopes? (?:\w+ )?required\b",
    re.IGNORECASE,
)
_TIME = (
    r"(?:per|an?|each|every|in any) (?:second|minute|hour|day|week|month|year|session|conversation|"
    r"visit|user|caller|customer|question)"
)
_OF_A_CALLER = re.compile(
    r"\byou (?:\w+ )?(?:must|mustn[\u2019']t|shall|may not|cannot|can[\u2019']t|"
    r"(?:can|may|should|must) (?:only|never|not))\b|"
    r"\b(?:must|shall) (?:not|never|only)\b|\bmustn[\u2019']t\b|\bshould (?:never|only)\b|"
    r"\b(?:not (?:be )?(?:allowed|permitted)|(?:is|are) (?:strictly )?(?:forbidden|prohibited))\b|"
    r"\bnot be (?:used|run|executed|performed) (?:by|to|for|in|on|if|when|after|before|once)\b|"
    r"\bonly (?:be )?(?:used|usable|run|executed|performed|available|accessible|allowed) "
    r"(?:by|to|for|in|on|if|when|after|before|once)\b|"
    r"\b(?:only|at most|limited to|up to|max(?:imum)?(?: of)?|exceed\w*|"
    rf"(?:no|not|never) more (?:than|often))\b.{{0,40}}\b{_TIME}\b",
    re.IGNORECASE,
)
"""What only a caller can keep: `you must`, `must never`, `at most 5 times a day`."""
OF_CALLS = frozenset(
    "call calls called calling invoke invoked tool model assistant agent user users caller callers "
    "admin admins administrator administrators role roles permission permissions "
    "scopes oauth".split()
)
"""Words with which a sentence speaks about calls and callers."""
_SIGNS = ".,:;!?()[]{}*_`'\"\u2014\u2013-"


def restricts(text: str, *, at_start: bool = False) -> bool:
    """Return whether a text has words that restrict calls: must, never, at most.

    Args:
        text: a sentence or a paragraph.
        at_start: whether the text must begin with these words: `Only clerks pay.`
    """
    look = _IN_A_SENTENCE.match if at_start else _IN_A_SENTENCE.search
    return look(text) is not None


def restricts_calls(sentence: str) -> bool:
    """Return whether a sentence of a description tells callers what they must not do.

    It begins with a restricting word, or has one and speaks about calls or callers, or forbids
    something. What else a description restricts is a fact about the tool or about a value: `must
    be a valid date`.
    """
    words = {word.strip(_SIGNS) for word in sentence.lower().split()}
    kept = _OF_THE_TOOL.sub("", sentence)
    asked = _REQUIRED_SCOPE.search(sentence) or _OF_A_CALLER.search(kept)
    return bool(asked) or restricts(kept.lstrip(_SIGNS + " "), at_start=not words & OF_CALLS)


def unexpressed(spec: ToolSpec) -> Iterator[str]:
    """Yield the sentences of a tool's prose that restrict calls, and that no field enforces."""
    for prose in (spec.description, spec.notes, spec.when_to_use):
        for sentence in sentences(prose):
            policies = stated(sentence)
            known = all(enforced(policy, spec) for policy in policies)
            if not known or (not policies and restricts_calls(sentence)):
                yield sentence
