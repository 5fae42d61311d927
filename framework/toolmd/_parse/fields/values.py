"""Read an entry's value by its field's kind, or report an error with the remedy."""

import re
from collections.abc import Mapping
from dataclasses import replace as replaced
from typing import Any

from toolmd._parse.blocks.block import Bullets, Comment
from toolmd._parse.blocks.prose import prose
from toolmd._parse.fields.alone import ValueReader, alone, count, number, share, whole
from toolmd._parse.fields.entries import Entry, Unread, item_entry
from toolmd._parse.fields.implemented_by import read_function
from toolmd._parse.fields.keywords import read_keywords
from toolmd._parse.fields.naming import Fields
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words import scalars
from toolmd._parse.words.keys import (
    code_text,
    fold,
    plain,
    says_none,
    value_text,
    without_invisible,
)
from toolmd._parse.words.slips import nearest
from toolmd._types.call import fact_name
from toolmd._types.code import Code
from toolmd._types.field import Row
from toolmd._types.schedule import cron_text


def read_values(page: Page, fields: Fields) -> dict[str, Any]:
    """Read every known field that has a reader; report each value that can't be read."""
    values: dict[str, Any] = {}
    for attribute, (known, entry) in fields.known.items():
        reader = READERS.get(known.kind)
        if reader is None:
            continue
        try:
            values[attribute] = _read(page, known, entry, reader)
        except Unread as unread:
            if _report_nested(page, known, entry):
                continue
            shown = entry.text or ("the text below it" if entry.blocks else "nothing")
            page.error(
                Code.UNREADABLE_VALUE,
                entry.mark,
                f"'{known.name}' can't be read from "
                + (f"'{_short(shown)}'" if entry.text else shown),
                str(unread) + (_OTHER_FIELDS.get(attribute, "") if set(shown) & _OF_MORE else ""),
                replace(entry.mark, unread.instead) if unread.instead else (),
            )
    return values


def _read(page: Page, known: Row, entry: Entry, reader: ValueReader) -> Any:
    """Read a value; a remark in brackets behind it, `true (always)`, is no part of it."""
    try:
        return reader(page, known, entry)
    except Unread:
        bare, remark = without_remark(entry.value)
        if not remark.text:
            raise
        value = reader(page, known, replaced(entry, value=bare))
    report_remark(page, remark)
    return value


_REMARK = re.compile(r"(.*[^\s(])\s+(\([^()]*\))\s*", re.DOTALL)


def without_remark(value: Mark) -> tuple[Mark, Mark]:
    """Split `a, b (optional)` into the value and its remark, which is empty without one."""
    found = _REMARK.fullmatch(value.text)
    if found is None:
        return value, value._replace(text="")
    return value.at(0, found.end(1)), value.last(found[2])


def report_remark(page: Page, remark: Mark) -> None:
    """Warn of a remark behind a value."""
    page.warn(
        Code.UNREAD_DETAIL,
        remark,
        f"'{remark.text}' is a remark and no part of the value",
        "remove it, or put the value in quotes if the brackets are a part of it",
        replace(remark, ""),
    )


_OTHER_FIELDS = {
    "requires_confirmation": "; for a condition, write `- **Confirm When**: …`",
    "max_calls": "; for calls in a time, write `- **Rate**: …`",
}
_OF_MORE = frozenset(" /<>=")  # the signs of a value that may be meant for one of these


def _report_nested(page: Page, known: Row, entry: Entry) -> bool:
    """Report fields that are nested below a value of one line; return whether there are any."""
    nested = [item for item in entry.items if item_entry(item) is not None] if entry.text else []
    for item in nested:
        page.error(
            Code.UNREADABLE_VALUE,
            item.mark,
            f"the bullet in line {item.line} is nested below {known.name}",
            "unindent it",
        )
    return bool(nested)


def _text(page: Page, known: Row, entry: Entry) -> str:
    del page
    if known.kind == "line" and entry.text and any(map(item_entry, entry.items)):
        raise Unread("write it on one line")
    text = entry.text
    parts = [value_text(without_invisible(text)) if text else "", prose(entry.blocks)]
    return "\n\n".join(part for part in parts if part)


def _prose(page: Page, known: Row, entry: Entry) -> str:
    del page, known
    return "\n\n".join(part for part in (entry.text, prose(entry.blocks)) if part)


def _word(page: Page, known: Row, entry: Entry) -> str:
    del page, known
    word = plain(entry.text)
    if not word or entry.blocks:
        raise Unread("write one word")
    return word


def _boolean(page: Page, known: Row, entry: Entry) -> Any:
    if entry.bare and not entry.blocks:
        return entry.checked is not False
    del page, known
    said = None if entry.blocks else scalars.boolean(entry.text)
    if said is None:
        raise Unread("write yes or no")
    if entry.checked not in {None, said}:
        raise Unread("tick the box or write the word: they differ")
    return said


def _choice(page: Page, known: Row, entry: Entry) -> str:
    word = fold(plain(entry.text))
    if set(known.choices) >= {"yes", "no"} and word not in map(fold, known.choices):
        said = scalars.boolean(entry.text)
        word = word if said is None else "yes" if said else "no"
    for choice in known.choices:
        if word == fold(choice) and not entry.blocks:
            return choice
    options = ", ".join(known.choices)
    near = nearest(word, known.choices)
    mark = page.mark(entry.text, entry.value.line, entry.value.column)
    if near and not known.restricts:
        page.warn(
            Code.MISSPELT_FIELD,
            mark,
            f"'{entry.text}' was read as '{near}'",
            f"write '{near}'",
            replace(mark, near),
        )
        return near
    raise Unread(f"write one of {options}" + (f"; did you mean '{near}'?" if near else ""))


def _list(page: Page, known: Row, entry: Entry) -> tuple[str, ...]:
    del page
    if entry.listed is not None:
        words = [m.text for m in entry.listed]
    else:
        words = [*scalars.listed(entry.text), *(flow_item(i.mark.text) for i in entry.items)]
    prosaic = any(not isinstance(block, Bullets | Comment) for block in entry.blocks)
    if prosaic or any(prose(item.blocks) for item in entry.items):
        raise Unread("write the values on one line, or as nested bullets")
    read = tuple(map(value_text, words))
    read = () if len(read) == 1 and says_none(read[0]) else read
    if known.restricts and not any(read):
        raise Unread("name at least one, separated by commas")
    return tuple(word for word in read if word)


_EVERY = "every "
_NO_HOST = frozenset(("any", "all", ""))
_HOST_SIGNS = frozenset("-_.:[]")


def _hosts(page: Page, known: Row, entry: Entry) -> tuple[str, ...]:
    hosts = _list(page, known, entry)
    for host in hosts:
        name = host.removeprefix("*.").lower()
        signs = name.isascii() and all(c.isalnum() or c in _HOST_SIGNS for c in name)
        if name in _NO_HOST or not signs or "." in (name[0], name[-1]):
            raise Unread(
                f"'{_short(host)}' is not a host; write `api.example.org`, or `*.example.org` for "
                "all hosts below it, separated by commas"
            )
    return hosts


def _names(page: Page, known: Row, entry: Entry) -> tuple[str, ...]:
    if (not entry.text or says_none(entry.text)) and not entry.blocks and entry.listed is None:
        return ()
    words = _list(page, known, entry)
    names = tuple(word.partition("(")[0].strip("`*_ ").replace("-", "_") for word in words)
    for name in names:
        if not name.isidentifier():
            raise Unread("write names separated by commas, such as `check_availability, book`")
    return names


def _patterns(page: Page, known: Row, entry: Entry) -> tuple[str, ...]:
    words = _list(page, known, entry)
    return tuple(scalars.split_words(words[0])) if len(words) == 1 else words


def _context(page: Page, known: Row, entry: Entry) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_fact(word) for word in _list(page, known, entry)))


def _suppliers(page: Page, known: Row, entry: Entry) -> dict[str, str]:
    found: dict[str, str] = {}
    for supplied in _list(page, known, entry):
        words = supplied.split()
        if len(words) != 3 or words[1].lower() != "from":  # noqa: PLR2004 - `fact from input`
            raise Unread("write `patient from patientId`: a fact, `from` and an input's name")
        fact = _fact(words[0])
        if fact in found:
            raise Unread(f"{fact} is supplied twice: keep one")
        found[fact] = plain(words[2])
    return found


def _schedule(page: Page, known: Row, entry: Entry) -> str:
    del page, known
    text = " ".join(code_text(entry.text).split())
    every = text[len(_EVERY) :] if text.lower().startswith(_EVERY) else ""
    seconds = scalars.duration(every)
    if seconds is not None and seconds % 1 == 0:
        return f"{_EVERY}{int(seconds)}s"
    canonical = None if every or entry.blocks else cron_text(text)
    if canonical is None:
        raise Unread(
            "write `every 15m`, or minute, hour, day, month and weekday as `0 7 * * 1-5`, "
            "with a time zone as `0 7 * * 1-5 in Europe/Paris`"
        )
    return canonical


def _inputs(page: Page, known: Row, entry: Entry) -> dict[str, str]:
    del page, known
    items = [item_entry(item) for item in entry.items]
    found = {plain(one.key.text): value_text(one.text) for one in items if one is not None}
    bullets = all(isinstance(block, Bullets | Comment) for block in entry.blocks)
    nested = any(one is None or one.blocks for one in items)
    if entry.text or not bullets or nested or not items or len(found) != len(items):
        raise Unread("write `- input: value` below it, one line for each input")
    return found


def _fact(word: str) -> str:
    """Return the name of a fact in snake case; raises Unread for anything but a name."""
    name = fact_name(plain(word))
    if name is None or scalars.boolean(name) is not None:
        raise Unread("write names of facts separated by commas, such as `patient, tenant`")
    return name


def _expression(page: Page, known: Row, entry: Entry) -> str:
    del page, known
    source = code_text(entry.text)
    if not source or entry.blocks:
        raise Unread("write an expression in a code span, such as `` `amount > 100` ``")
    return source


def _pattern(page: Page, known: Row, entry: Entry) -> str:
    del page, known
    pattern = code_text(entry.text)
    if len(pattern) > 1 and pattern == entry.text and pattern[0] == pattern[-1] in ("'", '"'):
        pattern = pattern[1:-1]
    if pattern.startswith("/^"):
        raise Unread("write it without the slashes and flags around it, as `^[A-Z]+$`")
    if not pattern:
        raise Unread("write a regular expression in a code span, such as `` `[A-Z]{3}` ``")
    return pattern


def flow_item(text: str) -> str:
    """Return a bullet's text on one line, without a closing comma."""
    return " ".join(text.split()).rstrip(",")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004


READERS: Mapping[str, ValueReader] = {
    "text": _text,
    "line": _text,
    "prose": _prose,
    "word": _word,
    "identifier": _word,
    "boolean": _boolean,
    "number": number,
    "whole": whole,
    "count": count,
    "share": share,
    "choice": _choice,
    "list": _list,
    "names": _names,
    "keywords": read_keywords,
    "patterns": _patterns,
    "context": _context,
    "suppliers": _suppliers,
    "schedule": _schedule,
    "inputs": _inputs,
    "hosts": _hosts,
    "function": read_function,
    "duration": alone(scalars.duration, "write a number and a unit: `500ms`, `10s`, `2m`"),
    "size": alone(scalars.size, "write a number and a unit: `512`, `64KB`, `1MB`"),
    "rate": alone(scalars.rate, "Rate spaces the starts of calls: write `3/s` or `100/min`"),
    "batch": alone(scalars.batch, "write the array parameter and a size: `texts by 256`"),
    "expression": _expression,
    "pattern": _pattern,
}
