"""Ask where a person's words are unclear: a finding of another's, another time, a danger."""

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from toolmd import Action, Call, Verdict, not_stated

WORDS = tomllib.loads((files("toolmd_alara") / "words.toml").read_text("utf-8"))
"""The words of danger, of doubt, and those that state no finding."""
TOOLS = frozenset(("add_care_log", "create_care_log"))
"""The tools whose entries are permanent."""
_WORD = re.compile(r"\w+(?:['\u2019]\w+)?")


def adds_nothing(call: Call, arguments: Mapping[str, Any]) -> Verdict | None:
    """Ask the user about a title or notes with words of another's, such as a diagnosis.

    A person confirms these tools in any case, so that words alone deny nothing.
    """
    given = {name: str(value) for name, value in arguments.items()}
    neutral = {
        *WORDS["neutral"]["en"],
        *f"{given.get('log_type')}_{given.get('location_type')}".split("_"),
    }
    for name in ("title", "notes"):
        added = (
            word for word in _WORD.findall(given.get(name, "")) if word.casefold() not in neutral
        )
        if (verdict := not_stated(call, name, " ".join(added))) is not None:
            return verdict._replace(action=Action.CONFIRM)
    return None


_OTHER_TIME = re.compile(
    r"\b(yesterday|last night|ago|last week|earlier this week|gestern|ayer|hier"
    r"|(?:on |last )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|昨天",
    re.IGNORECASE,
)


def at_another_time(call: Call, arguments: Mapping[str, Any]) -> Verdict | None:
    """Ask about a dose without a time where the user speaks of another day."""
    words = " ".join((*call.caller.earlier, call.caller.message))
    if "taken_at" in arguments or not _OTHER_TIME.search(words):
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
    words = call.caller.message.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if call.caller.crisis or not _DANGER.search(words):
        return None
    reason = (
        "The user's words may speak of a danger to themselves. Ask whether they are safe before "
        "anything else; if they are not, they should call the emergency number now."
    )
    return Verdict(Action.CONFIRM, "may_need_help", reason)
