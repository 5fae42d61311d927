"""The readers of a step's keys."""

from collections.abc import Callable
from typing import Any

from toolmd._parse.blocks.block import Paragraph
from toolmd._parse.fields.alone import with_unit
from toolmd._parse.fields.entries import Entry, item_entry
from toolmd._parse.fields.step import TIMEOUT_UNITS
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
from toolmd._types.skill import Loop, OnError, Use, Way

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


def _return(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
    said: dict[str, Any] = {attribute: read_arguments(page, entry.items, "Return")}
    if entry.text:
        said["message"] = read_template(page, entry.value)
    return said


def _for_each(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
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
        return {}
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
    return {attribute: loop}


def _on_error(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
    text = flow(entry.value.text)
    if not text.lower().startswith("retry "):
        return {attribute: OnError(then=read_way(page, entry))}
    if "," not in text:
        text = text.replace(" and then ", ", ", 1).replace(" then ", ", ", 1)
    head, comma, tail = text.partition(",")
    words = head.split()
    many = scalars.whole(words[1]) if len(words) > 1 else None
    then = Way(kind="stop")
    if comma:
        tail = tail.strip().removeprefix("then ").strip()
        way = way_of(page, entry.value, tail)
    else:
        way = then
    if not many or len(words) > 3 or way is None:  # noqa: PLR2004 - `retry 3 times`
        page.error(
            Code.INVALID_STEP,
            entry.value,
            f"'On error' can't be read from '{text[:60]}'",
            'write `retry 3 times, then stop "text"`',
        )
        return {}
    return {attribute: OnError(retries=many, then=way)}


def _undo(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
    items = entry.items
    first = item_entry(items[0]) if len(items) == 1 else None
    if first is not None and fold(first.name) == "with":
        items = first.items
    arguments = read_arguments(page, items, "Undo")
    use = Use(name=_callee(page, entry), arguments=arguments)
    record_arguments(page, use)
    return {attribute: use}


def record_arguments(page: Page, use: Use) -> None:
    """Record the callee's parameters that a step names."""
    for argument in use.arguments:
        at = Mark(argument.name, argument.line, argument.column)
        page.named("parameter", argument.name, at, use.name)


def _save_as(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
    name = plain(entry.text)
    if not name.isidentifier():
        page.error(
            Code.INVALID_STEP,
            entry.mark,
            f"'{name[:40]}' is not a valid name for a result",
            "use letters, digits and _, starting with a letter",
        )
        return {}
    page.named("variable", name, entry.value, declares=True)
    return {attribute: name}


def _timeout(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
    unit = TIMEOUT_UNITS.get(fold(entry.name), "")
    seconds = with_unit(scalars.duration, "duration", entry.text, unit)
    if seconds is None:
        page.error(
            Code.UNREADABLE_VALUE,
            entry.mark,
            f"'Timeout' can't be read from '{entry.text}'",
            "write a number and a unit: `30s`, `10 minutes`",
        )
        return {}
    return {attribute: seconds}


def _moment(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
    text = flow(entry.value.text)
    if (seconds := scalars.duration(text)) is not None:
        return {attribute: seconds}
    until = text[len(_UNTIL) :].strip() if text.lower().startswith(_UNTIL) else ""
    if not until and code_text(text) == text:
        page.error(
            Code.UNREADABLE_VALUE,
            entry.mark,
            f"'{entry.name}' can't be read from '{text[:40]}'",
            "write a duration such as `2h`, or an expression that gives a time: "
            '`` `timestamp(visit.start) - duration("24h")` ``',
        )
        return {}
    return {attribute: expression(page, entry.value, code_text(until or text))}


def _question(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
    if not entry.text:
        page.error(Code.INVALID_STEP, entry.key, "Ask has no question", "write the question")
    return _text(page, entry, attribute)


def _text(page: Page, entry: Entry, attribute: str) -> dict[str, Any]:
    extra = [b for b in entry.blocks if isinstance(b, Paragraph)]
    text = "\n".join([entry.value.text, *(b.mark.text for b in extra)])
    return {attribute: read_template(page, Mark(text, entry.value.line, entry.value.column))}


READERS: dict[str, Callable[[Page, Entry, str], dict[str, Any]]] = {
    "callee": lambda page, entry, attribute: {attribute: Use(name=_callee(page, entry))},
    "expression": lambda page, entry, attribute: {attribute: bare_expression(page, entry)},
    "question": _question,
    "data": _return,
    "text": _text,
    "name": _save_as,
    "loop": _for_each,
    "way": lambda page, entry, attribute: {attribute: read_way(page, entry)},
    "choice": lambda page, entry, attribute: {attribute: read_way(page, entry, choose=True)},
    "failure": _on_error,
    "call": _undo,
    "duration": _timeout,
    "moment": _moment,
}
"""The kinds of values, each with the reader of an entry; it returns attributes of the step."""
