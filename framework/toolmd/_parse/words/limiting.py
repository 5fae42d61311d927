"""Words that announce a restriction in a key: `Upper Limit`, `At Most`."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from toolmd._parse.words.keys import MAX_KEY, fold, plain, says_none
from toolmd._parse.words.scalars import boolean
from toolmd._parse.words.slips import distance


class Meant(NamedTuple):
    """The meaning that a restricting key may have."""

    field: str
    """The field with the same meaning; empty if several could express it."""
    help: str
    """The text to write instead."""
    inverted: bool = False
    """Whether `no` restricts and `yes` does not, as in `Public: no`."""
    switch: bool = False
    """Whether the key asks for yes or no, so that one of them restricts nothing."""


_RULE = "write a rule below `## Rules`, such as `` - `amount != 13`: Another amount, please. ``"
_BOUND = "write Minimum, Maximum, or a rule below `## Rules`"
_LENGTH = "write Min Length, Max Length or Pattern"
_CONTEXT = "did you mean 'Requires Context'? It lists the facts that the host supplies: `tenant`"
_LIMIT = "write Timeout, Rate or Max Concurrent below `## Limits` of a tool"
_OFF = "move the file out of the folders of definitions, so that nothing reads it"
_ENUM = "did you mean 'Enum'? It lists the values that are allowed"
AUTH = "Requires Auth"
_USER = (
    "did you mean 'Requires Auth'? A tool's Metadata has this field, for calls that need a user; "
    "a guard in Python decides by role; reword the key if it restricts nothing"
)

_ANYWHERE = (
    (
        Meant("Maximum", "did you mean 'Maximum'?"),
        (
            "max, maximum, maximal, at most, no more than, not more than, exceed, exceeds,"
            "upper limit, upper bound"
        ),
    ),
    (
        Meant("Minimum", "did you mean 'Minimum'?"),
        "min, minimum, minimal, at least, no less than, not less than, lower limit, lower bound",
    ),
    (
        Meant("", _ENUM),
        (
            "allow, allowed, allows, allowlist, permitted, permits, whitelist, only, restricted to,"
            "limited to"
        ),
    ),
    (
        Meant("", _RULE),
        (
            "forbid, forbids, forbidden, prohibited, disallow, disallowed, deny, denied, denylist,"
            "banned, blocked, blocklist, blacklist, restrict, restricted, restricts, restriction,"
            "restrictions, constraint, constraints, constrained, exclude, excluded, excludes, must,"
            "mustn't, cannot, can't, never, may not, shall"
        ),
    ),
    (Meant("", _BOUND), "limit, limits, limited, quota"),
    (
        Meant(AUTH, _USER, switch=True),
        (
            "login, log in, logged in, signed in, sign in required, requires sign in,"
            "authenticated, authorization required, requires authorization, requires user,"
            "user required, needs user, identified user, identified users, requires role,"
            "requires roles, role required, roles required, required role, required roles,"
            "requires permission, requires permissions, permission required, permissions required,"
            "owner only, owners only, admin only, admins only, staff only, members only, users only"
        ),
    ),
    (Meant(AUTH, _USER, inverted=True, switch=True), "anonymous"),
)
"""Phrases that restrict in any section of fields, by their possible meaning."""
_OF_A_CALL = (
    (
        Meant(AUTH, _USER, switch=True),
        (
            "role, roles, permission, permissions, privilege, privileges, entitlement,"
            "entitlements, clearance, visibility, acl, rbac, access level, access levels,"
            "access control, access controls, access policy, access rights, access rule,"
            "access rules, who may, who can, may call, can call, callable by, usable by,"
            "visible to, visible for, available to, available for, accessible by, accessible to,"
            "user group, user groups, authorized users, authorised users, authorized by"
        ),
    ),
    (
        Meant("", _CONTEXT, switch=True),
        (
            "requires * context, require * context, required * context, needs * context,"
            "* context required"
        ),
    ),
)
"""Phrases that restrict the caller; among the fields of a value they may name a property.

A `*` stands for any word.
"""
_ALONE = (
    (
        Meant(AUTH, _USER, switch=True),
        (
            "access, scope, scopes, oauth scope, oauth scopes, audience, private, internal,"
            "confidential, admin, admins, security, authorization, authorisation, authorized"
        ),
    ),
    (Meant(AUTH, _USER, inverted=True, switch=True), "public, is public, open to all, open access"),
    (
        Meant("", _LIMIT, switch=True),
        "throttle, throttling, cooldown, cool down, deadline, concurrency",
    ),
    (Meant("", _OFF, switch=True), "disabled, is disabled"),
    (Meant("", _OFF, inverted=True, switch=True), "enabled, is enabled"),
)
"""Keys that as a whole restrict calls; within a longer key they are ordinary words."""
_SECRETS = (
    (
        Meant("Sensitive", "did you mean 'Sensitive'?", switch=True),
        (
            "secret, is secret, pii, contains pii, phi, contains phi, redact, redacted, masked,"
            "private, confidential, classified, personal data, personal information"
        ),
    ),
)
"""Keys that as a whole hide a value; within a longer key they are ordinary words."""
_EVERYONE = frozenset(("public", "open", "all", "any", "everyone", "anyone", "everybody"))
_OF_A_VALUE = (
    (
        Meant("Maximum", "did you mean 'Maximum'?"),
        "upper, ceiling, cap, highest, largest, greatest, biggest, up to, not above, not over",
    ),
    (
        Meant("Minimum", "did you mean 'Minimum'?"),
        "lower, floor, lowest, smallest, not below, not under",
    ),
    (
        Meant("", _BOUND),
        (
            "between, bound, bounds, range, within, interval, threshold, above, below, under, over,"
            "less than, fewer than, smaller than, more than, greater than, larger than, positive,"
            "negative, nonnegative, inclusive, exclusive"
        ),
    ),
    (Meant("", _LENGTH), "length, len, maxlen, minlen, digits, characters, chars"),
    (Meant("", _ENUM), "accepted, acceptable, valid, legal, supported, one of, any of"),
    (
        Meant("Pattern", "did you mean 'Pattern'?"),
        "match, matches, matching, must match, mask, regex, regexp, pattern",
    ),
    (
        Meant("", _RULE),
        (
            "rule, rules, validate, validated, validation, validations, validator, invalid,"
            "illegal, reject, rejects, rejected, require, requires, required, mandatory, not, non"
        ),
    ),
)
"""Phrases that restrict only among the fields of a value; elsewhere they are ordinary words."""
_HARMLESS = ("readonly", "writeonly")
"""Keywords of JSON Schema that describe a value without restricting calls."""
_LONG = 7
"""A word of this many letters is also found if it is misspelt."""


def limiting(key: str, *, of_value: bool) -> Meant | None:
    """Return what a key that sounds like a restriction may mean, or None for any other key.

    Args:
        key: as the author wrote it.
        of_value: whether the fields around it describe one value, as a parameter's do.
    """
    return _limiting(plain(key)[: 4 * MAX_KEY], of_value)


@lru_cache(maxsize=2048)
def _limiting(key: str, of_value: bool) -> Meant | None:  # noqa: FBT001 - a key of the cache
    words = [fold(word) for word in _words(key)]
    whole = "".join(words)
    if whole.startswith(_HARMLESS):
        return None
    best: tuple[int, Meant] | None = None
    for meant, phrase in _phrases(of_value=of_value):
        found = whole == "".join(phrase) or _holds(words, phrase)
        if found and (best is None or len(phrase) > best[0]):
            best = len(phrase), meant
    if best is not None:
        return best[1]
    alone = _split(_SECRETS if of_value else _ALONE)
    return next((meant for meant, phrase in alone if whole == "".join(phrase)), None)


def lifted(meant: Meant, value: str) -> bool:
    """Return whether a value lifts what its key would restrict: `N/A`, `Private: no`."""
    answer = boolean(value)
    if meant.switch and answer is not None:
        return answer is meant.inverted
    return says_none(value) or (meant.field == AUTH and fold(value) in _EVERYONE)


@lru_cache(maxsize=2)
def _phrases(*, of_value: bool) -> tuple[tuple[Meant, tuple[str, ...]], ...]:
    return tuple(_split((*_ANYWHERE, *(_OF_A_VALUE if of_value else _OF_A_CALL))))


def _split(rows: Iterable[tuple[Meant, str]]) -> Iterator[tuple[Meant, tuple[str, ...]]]:
    for meant, phrases in rows:
        for phrase in phrases.split(","):
            yield meant, tuple(fold(word) for word in phrase.split())


def _holds(words: list[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(
        all(map(_same, words[at : at + size], phrase)) for at in range(len(words) - size + 1)
    )


def _same(word: str, known: str) -> bool:
    return not known or word == known or (len(known) >= _LONG and distance(word, known, 1) <= 1)


def _words(key: str) -> Iterator[str]:
    """Split `upper_limit`, `Upper Limit` and `upperLimit` into words."""
    word = ""
    for before, char in zip(" " + key, key, strict=False):
        if not (char.isalnum() or char in "'\u2019") or (char.isupper() and before.islower()):
            if word:
                yield word
            word = ""
        if char.isalnum():
            word += char
    if word:
        yield word
