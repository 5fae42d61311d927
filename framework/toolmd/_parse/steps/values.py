"""The values of a step's keys: text, expressions, arguments, and where to continue."""

from collections.abc import Callable
from typing import Any, NamedTuple

from toolmd._parse import scalars
from toolmd._parse.blocks import Block, Bullets, Comment, Node, Paragraph, mark_of
from toolmd._parse.fields.table import TIMEOUT_UNITS
from toolmd._parse.fields.values import with_unit
from toolmd._parse.page import CodePlace, Mark, Page
from toolmd._parse.words import code_text, flow, fold, plain, unquoted
from toolmd._types.code import Code
from toolmd._types.skill import (
    Argument,
    Expression,
    Loop,
    OnError,
    Template,
    Use,
    Value,
    Values,
    Way,
)


def read_template(page: Page, mark: Mark) -> Template:
    """Read `` `expression` `` or text with `{expression}` in it; braces nest."""
    text = flow(mark.text)
    code = code_text(text)
    if code != text:
        return Template(parts=(expression(page, mark, code),), code=True)
    text = unquoted(text)
    parts: list[str | Expression] = []
    at = 0
    while (start := text.find("{", at)) >= 0:
        end = closing_brace(text, start)
        if end < 0:
            page.error(
                Code.INVALID_STEP,
                page.mark("{", mark.line, mark.column),
                "an opening brace is never closed",
                "close it: `{expression}`",
            )
            break
        if start > at:
            parts.append(text[at:start])
        mark = _behind(page, mark, "{")
        parts.append(expression(page, mark, text[start + 1 : end].strip()))
        mark = _behind(page, mark, text[start + 1 : end])
        at = end + 1
    if at < len(text):
        parts.append(text[at:])
    return Template(parts=tuple(parts))


def _behind(page: Page, mark: Mark, text: str) -> Mark:
    """Return the part of a mark that follows a text; the same mark if the text wraps."""
    if (at := mark.text.find(text)) < 0:
        return mark
    at += len(text)
    lines = mark.text.count("\n", 0, at)
    return page.mark(mark.text[at:], mark.line + lines) if lines else mark.at(at)


def closing_brace(text: str, start: int) -> int:
    """Return the end of the brace at `start`, skipping nested braces and quotes; -1 if none."""
    depth, quote, at = 0, "", start
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'" and depth:
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1


def expression(page: Page, mark: Mark, cel: str) -> Expression:
    """Build an expression with its position in the file."""
    for number, line in enumerate(mark.text.split("\n")):
        if cel and cel in line:
            found = page.mark(cel, mark.line + number, mark.column if number == 0 else 0)
            return _recorded(page, Expression(cel=cel, line=found.line, column=found.column))
    return _recorded(page, Expression(cel=cel, line=mark.line, column=mark.column))


def _recorded(page: Page, written: Expression) -> Expression:
    page.places.expressions.append(CodePlace(written.cel, written.line, written.column))
    return written


def bare_expression(page: Page, entry: Node) -> Expression:
    """Read a value that is always an expression, with or without a code span."""
    cel = code_text(flow(entry.value.text))
    if not cel or entry.blocks:
        page.error(
            Code.INVALID_STEP,
            entry.written,
            f"'{entry.name}' needs an expression",
            "write it in a code span: `` `size(slots) > 0` ``",
        )
    return expression(page, entry.value, cel)


def read_arguments(page: Page, items: list[Node], what: str) -> tuple[Argument, ...]:
    """Read nested bullets `- name: value`; two with the same name are an error."""
    arguments: dict[str, Argument] = {}
    for item in items:
        entry = item.entry
        name = plain(entry.key.text) if entry else ""
        if entry is None or not name.replace("-", "_").isidentifier():
            page.error(
                Code.INVALID_STEP,
                item.mark if item.mark.text else Mark(" ", item.mark.line, 1),
                f"'{flow(item.mark.text)[:40]}' under {what} is not a `name: value` pair",
                "write `` - argument: `expression` `` or `- argument: text`",
            )
            continue
        if name in arguments:
            page.error(
                Code.DUPLICATE_FIELD,
                entry.key,
                f"'{name}' is written twice under {what}",
                f"keep one; the first is in line {arguments[name].line}",
            )
            continue
        arguments[name] = Argument(
            name=name,
            value=read_value(page, entry),
            line=entry.key.line,
            column=entry.key.column,
            value_column=entry.value.column,
        )
    return tuple(arguments.values())


def read_value(page: Page, entry: Node) -> Value:
    """Read a value: text, an expression, or nested bullets as an object or a list."""
    below = [b for b in entry.blocks if not isinstance(b, Comment)]
    if unread := [b for b in below if entry.text or not isinstance(b, Bullets)]:
        page.error(
            Code.INVALID_STEP,
            mark_of(unread[0]),
            f"'{entry.name}' already has a value, so this would be lost"
            if entry.text
            else f"this is not a value for '{entry.name}'",
            "write the value after the colon, or as bullets below it",
        )
    if entry.text or not entry.items:
        return read_template(page, entry.value)
    for item in entry.items:
        if item.entry is None and item.blocks:
            page.error(
                Code.INVALID_STEP,
                mark_of(item.blocks[0]),
                "a list item is text or an expression, so this would be lost",
                "write it on the item's own line",
            )
    entries = [item.entry for item in entry.items]
    if all(e is not None and plain(e.key.text).isidentifier() for e in entries):
        return Values(fields=read_arguments(page, entry.items, entry.name))
    return Values(items=tuple(read_template(page, item.mark) for item in entry.items))


def read_way(page: Page, entry: Node, *, choose: bool = False) -> Way:
    """Read `go to NAME`, `stop "text"`, `continue` or, with `choose`, an expression."""
    text = flow(entry.value.text)
    code = code_text(text)
    if choose and code != text:
        return Way(kind="choose", choose=expression(page, entry.value, code))
    way = way_of(page, entry.value, text)
    if way is None:
        also = ", or an expression in a code span" if choose else ""
        page.error(
            Code.INVALID_STEP,
            entry.written,
            f"'{entry.name}' can't be read from '{text[:40]}'",
            f'write `go to NAME`, `stop "text"` or `continue`{also}',
        )
        return Way(kind="stop")
    return way


def way_of(page: Page, mark: Mark, text: str) -> Way | None:
    """Parse a jump from its words; return None if they are not one."""
    text = (
        text.strip().rstrip(".") if text.strip().lower() in {"continue.", "stop."} else text.strip()
    )
    word = fold(text)
    if word == "continue":
        return Way(kind="continue")
    if word == "stop":
        return Way(kind="stop")
    if text.lower().startswith(("go to ", "goto ")):
        target = text.split(" ", 2)[2] if text.lower().startswith("go to ") else text[5:]
        name = plain(target.rstrip("."))
        page.named("section", name, mark.last(name))
        return Way(kind="go", target=name)
    if text.lower().startswith(("stop ", "stop:")):
        rest = text[5:].strip()
        at = mark.text.find(rest.split(" ")[0]) if rest else 0
        return Way(
            kind="stop", text=read_template(page, Mark(rest, mark.line, mark.column + max(at, 0)))
        )
    return None


_UNTIL = "until "


def _callee(page: Page, entry: Node) -> str:
    name = plain(entry.text).replace("-", "_")
    if not name.isidentifier():
        page.error(
            Code.INVALID_STEP,
            entry.written,
            f"'{entry.name}' names no tool or skill: '{entry.text[:40]}'",
            "write the name alone; its arguments go below `- **With**:`",
        )
    page.named("definition", name, entry.value)
    return name


def _return(page: Page, entry: Node, _whole: None) -> dict[str, Any]:
    read: dict[str, Any] = {"returns": read_arguments(page, entry.items, "Return")}
    if entry.text:
        read["message"] = read_template(page, entry.value)
    return read


def _with(page: Page, entry: Node, use: Use | None) -> Use | None:
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


def _at_once(page: Page, entry: Node, loop: Loop | None) -> Loop | None:
    many = scalars.whole(entry.text)
    if not many:
        page.error(Code.INVALID_STEP, entry.value, "At Once is a whole number", "write `3`")
    return loop and loop.model_copy(update={"at_once": many or 1})


def _for_each(page: Page, entry: Node, _whole: None) -> Loop | None:
    text = flow(entry.value.text)
    whole = code_text(text)
    name, found, over = (whole if "`" not in whole else text).partition(" in ")
    name = plain(name)
    if not found or not name.isidentifier() or not over.strip():
        page.error(
            Code.INVALID_STEP,
            entry.written,
            f"'For each' can't be read from '{text[:40]}'",
            "write `` day in `next_days(date, 3)` ``",
        )
        return None
    page.named("variable", name, entry.value, declares=True)
    loop = Loop(name=name, over=expression(page, entry.value, code_text(over)))
    for item in entry.items:
        nested = item.entry
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


def _on_error(page: Page, entry: Node, _whole: None) -> OnError | None:
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


def _undo(page: Page, entry: Node, _whole: None) -> Use:
    items = entry.items
    first = items[0].entry if len(items) == 1 else None
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


def _save_as(page: Page, entry: Node, _whole: None) -> str | None:
    name = plain(entry.text)
    if not name.isidentifier():
        page.error(
            Code.INVALID_STEP,
            entry.written,
            f"'{name[:40]}' is not a valid name for a result",
            "use letters, digits and _, starting with a letter",
        )
        return None
    page.named("variable", name, entry.value, declares=True)
    return name


def _timeout(page: Page, entry: Node, _whole: None) -> float | None:
    unit = TIMEOUT_UNITS.get(fold(entry.name), "")
    seconds = with_unit(scalars.duration, "duration", entry.text, unit)
    if seconds is None:
        page.error(
            Code.UNREADABLE_VALUE,
            entry.written,
            f"'Timeout' can't be read from '{entry.text}'",
            "write a number and a unit: `30s`, `10 minutes`",
        )
    return seconds


def _moment(page: Page, entry: Node, _whole: None) -> float | Expression | None:
    text = flow(entry.value.text)
    if (seconds := scalars.duration(text)) is not None:
        return seconds
    until = text[len(_UNTIL) :].strip() if text.lower().startswith(_UNTIL) else ""
    if not until and code_text(text) == text:
        page.error(
            Code.UNREADABLE_VALUE,
            entry.written,
            f"'{entry.name}' can't be read from '{text[:40]}'",
            "write a duration such as `2h`, or an expression that gives a time: "
            '`` `timestamp(visit.start) - duration("24h")` ``',
        )
        return None
    return expression(page, entry.value, code_text(until or text))


def _question(page: Page, entry: Node, _whole: None) -> Template:
    if not entry.text:
        page.error(Code.INVALID_STEP, entry.key, "Ask has no question", "write the question")
    return _text(page, entry, None)


def _text(page: Page, entry: Node, _whole: None) -> Template:
    extra = [b for b in entry.blocks if isinstance(b, Paragraph)]
    text = "\n".join([entry.value.text, *(b.mark.text for b in extra)])
    return read_template(page, Mark(text, entry.value.line, entry.value.column))


class Reader(NamedTuple):
    """The reader of a kind of value."""

    read: Callable[[Page, Node, Any], Any]
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
