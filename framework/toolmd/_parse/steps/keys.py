"""The readers of a step's keys."""

from collections.abc import Callable
from typing import Any, NamedTuple

from toolmd._parse.blocks.block import Block, Bullets, Paragraph
from toolmd._parse.fields.alone import with_unit
from toolmd._parse.fields.entries import Entry, item_entry
from toolmd._parse.fields.table import TIMEOUT_UNITS
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.steps.templates import (
    bare_expression,
    expression,
    read_arguments,
    read_template,
    read_way,
    way_of,
)
from toolmd._parse.words import scalars
from toolmd._parse.words.keys import code_text, flow, fold, plain
from toolmd._types.code import Code
from toolmd._types.skill import Expression, Loop, OnError, Template, Use, Way

_UNTIL = "until "


def _callee(page: Page, entry: Entry) -> str:
    name = plain(entry.text).replace("-", "_")
    if not name.isidentifier():
        page.error(
            Code.INVALID_STEP,
            entry.mark,
            f"'{entry.name}' names no tool or skill: '{entry.text[:40]}'",
            "write the name alone; its arguments go below `- **With**:`",
        )
    page.named("definition", name, entry.value)
    return name


def _return(page: Page, entry: Entry, _whole: None) -> dict[str, Any]:
    read: dict[str, Any] = {"returns": read_arguments(page, entry.items, "Return")}
    if entry.text:
        read["message"] = read_template(page, entry.value)
    return read


def _with(page: Page, entry: Entry, use: Use | None) -> Use | None:
    if entry.text:
        page.error(
            Code.INVALID_STEP,
            entry.value,
            "the arguments of With are nested bullets",
            "write `- argument: value` below it, one on each line",
        )
    arguments = read_arguments(page, entry.items, "With")
    if use is not None:
        use = use.model_copy(update={"arguments": arguments})
        _record_arguments(page, use)
    return use


def _at_once(page: Page, entry: Entry, loop: Loop | None) -> Loop | None:
    many = scalars.whole(entry.text)
    if not many:
        page.error(Code.INVALID_STEP, entry.value, "At Once is a whole number", "write `3`")
    return loop and loop.model_copy(update={"at_once": many or 1})


def _for_each(page: Page, entry: Entry, _whole: None) -> Loop | None:
    text = flow(entry.value.text)
    whole = code_text(text)
    name, found, over = (whole if "`" not in whole else text).partition(" in ")
    name = plain(name)
    if not found or not name.isidentifier() or not over.strip():
        page.error(
            Code.INVALID_STEP,
            entry.mark,
            f"'For each' can't be read from '{text[:40]}'",
            "write `` day in `next_days(date, 3)` ``",
        )
        return None
    page.named("variable", name, entry.value, declares=True)
    loop = Loop(name=name, over=expression(page, entry.value, code_text(over)))
    for item in entry.items:
        nested = item_entry(item)
        if nested is not None and fold(nested.name) == "atonce" and scalars.whole(nested.text):
            loop = loop.model_copy(update={"at_once": scalars.whole(nested.text)})
        else:
            page.error(
                Code.UNKNOWN_STEP_KEY,
                item.mark,
                f"'{flow(item.mark.text)[:40]}' is not part of For each",
                "For each has At Once",
            )
    return loop


def _on_error(page: Page, entry: Entry, _whole: None) -> OnError | None:
    text = flow(entry.value.text)
    if not text.lower().startswith("retry "):
        return OnError(then=read_way(page, entry))
    if "," not in text:
        text = text.replace(" and then ", ", ", 1).replace(" then ", ", ", 1)
    head, comma, tail = text.partition(",")
    words = head.split()
    many = scalars.whole(words[1]) if len(words) > 1 else None
    tail = tail.strip().removeprefix("then ").strip()
    way = way_of(page, entry.value, tail) if comma else Way(kind="stop")
    if not many or len(words) > 3 or way is None:  # noqa: PLR2004 - `retry 3 times`
        page.error(
            Code.INVALID_STEP,
            entry.value,
            f"'On error' can't be read from '{text[:60]}'",
            'write `retry 3 times, then stop "text"`',
        )
        return None
    return OnError(retries=many, then=way)


def _undo(page: Page, entry: Entry, _whole: None) -> Use:
    items = entry.items
    first = item_entry(items[0]) if len(items) == 1 else None
    if first is not None and fold(first.name) == "with":
        items = first.items
    arguments = read_arguments(page, items, "Undo")
    use = Use(name=_callee(page, entry), arguments=arguments)
    _record_arguments(page, use)
    return use


def _record_arguments(page: Page, use: Use) -> None:
    """Record the callee's parameters that a step names."""
    for argument in use.arguments:
        at = Mark(argument.name, argument.line, argument.column)
        page.named("parameter", argument.name, at, use.name)


def _save_as(page: Page, entry: Entry, _whole: None) -> str | None:
    name = plain(entry.text)
    if not name.isidentifier():
        page.error(
            Code.INVALID_STEP,
            entry.mark,
            f"'{name[:40]}' is not a valid name for a result",
            "use letters, digits and _, starting with a letter",
        )
        return None
    page.named("variable", name, entry.value, declares=True)
    return name


def _timeout(page: Page, entry: Entry, _whole: None) -> float | None:
    unit = TIMEOUT_UNITS.get(fold(entry.name), "")
    seconds = with_unit(scalars.duration, "duration", entry.text, unit)
    if seconds is None:
        page.error(
            Code.UNREADABLE_VALUE,
            entry.mark,
            f"'Timeout' can't be read from '{entry.text}'",
            "write a number and a unit: `30s`, `10 minutes`",
        )
    return seconds


def _moment(page: Page, entry: Entry, _whole: None) -> float | Expression | None:
    text = flow(entry.value.text)
    if (seconds := scalars.duration(text)) is not None:
        return seconds
    until = text[len(_UNTIL) :].strip() if text.lower().startswith(_UNTIL) else ""
    if not until and code_text(text) == text:
        page.error(
            Code.UNREADABLE_VALUE,
            entry.mark,
            f"'{entry.name}' can't be read from '{text[:40]}'",
            "write a duration such as `2h`, or an expression that gives a time: "
            '`` `timestamp(visit.start) - duration("24h")` ``',
        )
        return None
    return expression(page, entry.value, code_text(until or text))


def _question(page: Page, entry: Entry, _whole: None) -> Template:
    if not entry.text:
        page.error(Code.INVALID_STEP, entry.key, "Ask has no question", "write the question")
    return _text(page, entry, None)


def _text(page: Page, entry: Entry, _whole: None) -> Template:
    extra = [b for b in entry.blocks if isinstance(b, Paragraph)]
    text = "\n".join([entry.value.text, *(b.mark.text for b in extra)])
    return read_template(page, Mark(text, entry.value.line, entry.value.column))


class Reader(NamedTuple):
    """The reader of a kind of value."""

    read: Callable[[Page, Entry, Any], Any]
    """Returns the value of the key's attribute, or several attributes by name; None for no value.

    The last argument is the value that another key of the attribute gave before.
    """
    takes: tuple[type[Block], ...] = ()
    """The blocks that may be nested below the key."""


READERS: dict[str, Reader] = {
    "callee": Reader(lambda page, entry, _: Use(name=_callee(page, entry))),
    "arguments": Reader(_with, takes=(Bullets,)),
    "condition": Reader(lambda page, entry, _: bare_expression(page, entry)),
    "expression": Reader(lambda page, entry, _: bare_expression(page, entry)),
    "question": Reader(_question, takes=(Paragraph,)),
    "data": Reader(_return, takes=(Bullets,)),
    "text": Reader(_text, takes=(Paragraph,)),
    "name": Reader(_save_as),
    "loop": Reader(_for_each, takes=(Bullets,)),
    "count": Reader(_at_once),
    "way": Reader(lambda page, entry, _: read_way(page, entry)),
    "choice": Reader(lambda page, entry, _: read_way(page, entry, choose=True)),
    "failure": Reader(_on_error),
    "call": Reader(_undo, takes=(Bullets,)),
    "duration": Reader(_timeout),
    "moment": Reader(_moment),
}
"""The reader of each kind of value; `STEP_KEYS` has the kind of each key."""
