"""Ask where a person's words are unclear: a finding of another's, another time, a danger."""

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


_OTHER_TIME = re.compile(
    r"\b(yesterday|last night|ago|last week|earlier this week|gestern|ayer|hier"
    r"|(?:on |last )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|昨天",
    re.IGNORECASE,
)


def at_another_time(call: Call, arguments: Mapping[str, Any]) -> Verdict | None:
    """Ask about a dose without a time where the user speaks of another day."""
    if "taken_at" in arguments or not _OTHER_TIME.search(_words(call)):
        return None
    reason = (
        "The user speaks of another day, and without taken_at the dose counts as taken now: give "
        "taken_at, or ask when it was."
    )
    return Verdict(Action.CONFIRM, "time_unclear", reason)


_DANGER = re.compile(
    r"suicid|self.?harm|overdos|kill(?:ing)? myself|(?:hurt|harm|cut|cutt)(?:ing)? myself"
    r"|(?:end|ending|ended|take|taking) (?:it|things|everything|my (?:own )?life)\b"
    r"|(?:to|i|i'?ll|will|wanna) die\b|dying(?! (?:to|of|my)\b)|(?:be|am|was|were) dead\b"
    r"|not wake|n'?t wake|wake up (?:again|tomorrow)"
    r"|(?:be|being|live|living|go|going|keep going) (?:here |on )?any ?(?:more|longer)"
    r"|\b(?:can'?t|cannot) (?:go on(?! (?!like|any|living)\w)|take (?:it|this)|do this any)"
    r"|worth (?:living|it any)"
    r"|reason to (?:live|go on)|no point|give up|giving up|goodbye|disappear|burden|hopeless"
    r"|worthless"
    r"|on purpose|(?:all|whole|bottle|pack|\b[1-9]\d)(?: of| my| the)* ?\w* ?(?:pills|tablets)"
    r"|jump(?:ing)? (?:off|in front)|hang(?:ing)? myself|better off without|will to live|\bkms\b"
    r"|sterben|umbringen|selbstmord|suizid|mourir|me tuer|plus vivre|morir|matarme"
    r"|想死|不想活|自杀",
    re.IGNORECASE,
)


def may_be_in_danger(call: Call, arguments: Mapping[str, Any]) -> Verdict | None:
    """Ask first where the user's words may speak of a danger, and lock nothing."""
    del arguments
    if call.caller.crisis or not _DANGER.search(_straight(call.caller.message)):
        return None
    reason = (
        "The user's words may speak of a danger to themselves. Ask whether they are safe before "
        "anything else; if they are not, they should call the emergency number now."
    )
    return Verdict(Action.CONFIRM, "may_need_help", reason)


def _words(call: Call) -> str:
    """Return the user's words since the last call that ran."""
    return " ".join((*call.caller.earlier, call.caller.message))


def _straight(words: str) -> str:
    return words.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
