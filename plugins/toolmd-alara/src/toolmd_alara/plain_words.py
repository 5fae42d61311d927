"""Check that the free text of a care log adds nothing to the user's words."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolmd import Action, Call, Verdict, not_stated

TOOLS = frozenset(("add_care_log", "create_care_log"))
"""The tools whose entries are permanent."""
_TEXTS = ("title", "notes")
_KINDS = ("log_type", "location_type")
_WORD = re.compile(r"\w+(?:['\u2019]\w+)?")
NEUTRAL = frozenset(
    """
    a an and as at be been by for from had has have he her his i in is it its me my of on or our
    she that the their them there they this to us was we were which with you your
    about after again before between during into since then until when where while
    appointment care clinic doctor dr entry event health hospital log logged mentioned note noted
    patient reported said saw says seen states told took user user's visit visited went
    day days hour hours minute minutes month months morning afternoon evening night today
    tomorrow week weeks year years yesterday
    """.split()
)
"""Words that state no finding, so that a title may be a sentence. All others must be the user's."""


def adds_nothing(call: Call, arguments: Mapping[str, Any]) -> Verdict | None:
    """Ask the user about a title or notes with words of another's, such as a diagnosis.

    A person confirms these tools in any case, so that words alone deny nothing.
    """
    kinds = {word for name in _KINDS for word in str(arguments.get(name, "")).split("_")}
    for name in _TEXTS:
        added = " ".join(_claims(str(arguments.get(name, "")), NEUTRAL | kinds))
        if (verdict := not_stated(call, name, added)) is not None:
            return verdict._replace(action=Action.CONFIRM)
    return None


def _claims(text: str, neutral: frozenset[str]) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if word.casefold() not in neutral)
