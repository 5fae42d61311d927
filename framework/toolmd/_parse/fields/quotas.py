"""Read a Quota: `3 calls per user per day`, `500 of amount per user in 24h when …`."""

import re
from collections.abc import Iterator

from toolmd._parse import scalars
from toolmd._parse.blocks import Bullets, Node, prose
from toolmd._parse.fields.entries import Unread
from toolmd._parse.page import Mark, Page
from toolmd._parse.words import flow, plain
from toolmd._types.call import fact_name
from toolmd._types.code import Code
from toolmd._types.field import Row
from toolmd._types.quota import EVER, OWN_KEYS, ROLLING, UNITS, Quota

_TOKEN = re.compile(r"`[^`]*`|[^\s`]+")
_GROUPED = re.compile(r"[1-9]\d{0,2}(\.\d{3})+")
"""A number whose points may separate thousands, as in German."""
_PER = frozenset(("per", "a", "an", "each", "every"))
_NO_KEYS = {
    "role": "a user may have several roles: write `per user`",
    "roles": "a user may have several roles: write `per user`",
    "caller": "write `per user`, or `per project` for all callers together",
    "token": "write `per user`, or `per project` for all callers together",
    "via": "write ``per `caller.via` ``, with the expression in backticks",
    "tool": "write `per project`: a Quota counts the calls of its tool",
}
MOST_ROLLING = 10_000
"""The most calls of a rolling window, which keeps each start."""


def read_quotas(page: Page, known: Row, entry: Node) -> tuple[Quota, ...]:
    """Read one quota on the line, or one in each nested bullet."""
    del known
    marks = [entry.value] if entry.text else [item.mark for item in entry.items]
    if entry.text and entry.items:
        raise Unread("write one quota on the line, or each as a nested bullet")
    others = [block for block in entry.blocks if not isinstance(block, Bullets)]
    if not marks or prose([*others, *(b for item in entry.items for b in item.blocks)]):
        raise Unread("write `3 calls per user per day`, or each quota as a nested bullet")
    found = []
    for mark in marks:
        try:
            found.append(read_quota(flow(mark.text)))
        except Unread as unread:
            if len(marks) == 1:
                raise
            message = f"'Quota' can't be read from '{mark.text}'"
            page.error(Code.UNREADABLE_VALUE, mark, message, str(unread))
    return tuple(found)


def quota_marks(entry: Node) -> Iterator[Mark]:
    """Yield where each quota of an entry is written."""
    yield from [entry.value] if entry.text else [item.mark for item in entry.items]


def read_quota(text: str) -> Quota:
    """Read a quota. Raises Unread with the remedy."""
    tokens = [token if token[0] == "`" else token.lower() for token in _TOKEN.findall(text)]
    number = scalars.number(tokens[0]) if tokens else None
    if number is None or number <= 0:
        grouped = re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", tokens[0]) if tokens else None
        if grouped:
            raise Unread(f"write `{' '.join([tokens[0].replace(',', ''), *tokens[1:]])}`")
        digits = re.match(r"[1-9]\d*", text.strip())
        raise Unread(f"write `{digits[0] if digits else 3} calls per user per day`")
    if any(token.endswith(",") for token in tokens):
        raise Unread("write each quota as a nested bullet")
    amount = int(number) if number == int(number) else number
    written = tokens[0]
    when, tokens = _when(tokens[1:])
    of, tokens = _subject(tokens)
    if not of and not isinstance(number, int):
        if isinstance(amount, int):
            grouped = _GROUPED.fullmatch(written)
            other = f" or {written.replace('.', '')}" if grouped else ""
            raise Unread(f"calls are whole: write {amount}{other}")
        raise Unread("calls are whole: for a sum write `2.5 of PARAMETER per user per day`")
    what = f"{amount} of {of}" if of else f"{amount} {'call' if amount == 1 else 'calls'}"
    keys, window, seconds = _keys_and_window(tokens, what)
    if not keys:
        raise Unread(f"write `{what} per user {_shown(window, seconds)}`, or per project for all")
    if not window and len(keys) > 1 and keys[-1][0] != "`" and keys[-1] not in OWN_KEYS:
        others = " and ".join(keys[:-1])
        raise Unread(
            f"'{keys[-1]}' is no time: write `{what} per {others} per day`, or `in 14 days`"
        )
    if not window:
        raise Unread(f"write `{what} per {' and '.join(keys)} per day`, in a length, or ever")
    if seconds is not None and not of and amount > MOST_ROLLING:
        raise Unread(f"a rolling window counts at most {MOST_ROLLING:,} calls: write `per day`")
    return Quota(amount, keys, window, seconds, of, when)


def _when(tokens: list[str]) -> tuple[str, list[str]]:
    if "when" not in tokens:
        return "", tokens
    at = tokens.index("when")
    if len(tokens) != at + 2 or tokens[-1][0] != "`":
        raise Unread("write the condition last, in a code span: when `category == 'parking'`")
    return tokens[-1].strip("` "), tokens[:at]


def _subject(tokens: list[str]) -> tuple[str, list[str]]:
    """Return the parameter of a sum, and the tokens behind it."""
    if tokens[:1] == ["of"]:
        if len(tokens) < 2:  # noqa: PLR2004 - the word and its name
            raise Unread("name the parameter of the sum: `500 of amount per user per day`")
        return plain(tokens[1]), tokens[2:]
    return "", tokens[1:] if tokens[:1] in (["call"], ["calls"]) else tokens


def _keys_and_window(tokens: list[str], what: str) -> tuple[tuple[str, ...], str, float | None]:
    keys: list[str] = []
    window, seconds = "", None
    at = 0
    while at < len(tokens):
        word, found = tokens[at], ""
        if word == EVER:
            found, at = EVER, at + 1
        elif word == "in":
            seconds = scalars.duration(" ".join(tokens[at + 1 : at + 3]).strip())
            step = 3
            if seconds is None:
                seconds, step = scalars.duration("".join(tokens[at + 1 : at + 2])), 2
            if seconds is None:
                raise Unread("write the length with its unit: `in 24h`, `in 7 days`")
            found, at = ROLLING, at + step
        elif word in _PER and at + 1 < len(tokens):
            if tokens[at + 1] in UNITS:
                found, at = tokens[at + 1], at + 2
            else:
                at = _read_keys(tokens, at + 1, keys)
        else:
            raise Unread(f"write `{what} per user per day`: `{word}` has no place in it")
        if found and window:
            raise Unread("write one time, and each further quota as a nested bullet")
        window = found or window
    return tuple(keys), window, seconds


def _read_keys(tokens: list[str], at: int, keys: list[str]) -> int:
    """Add the keys `a and b` that begin at a token; return the place behind them."""
    while True:
        word = tokens[at]
        if word in _NO_KEYS:
            raise Unread(_NO_KEYS[word])
        fact = fact_name(word)
        if word[0] != "`" and word not in OWN_KEYS and fact is None:
            raise Unread("name user, conversation, project, a fact, or an expression in backticks")
        key = word if word[0] == "`" or word in OWN_KEYS else str(fact)
        if key in keys:
            raise Unread(f"name {key} once")
        keys.append(key)
        if tokens[at + 1 : at + 2] != ["and"] or at + 2 >= len(tokens):
            return at + 1
        at += 2


def _shown(window: str, seconds: float | None) -> str:
    return Quota(1, ("user",), window or "day", seconds).time
