"""The values of a step's keys: text, expressions, arguments, and where to continue."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from toolmd._expressions.syntax import pieces
from toolmd._parse import scalars
from toolmd._parse.blocks import Block, Bullets, Comment, Node, Paragraph, mark_of
from toolmd._parse.fields.entries import Unread
from toolmd._parse.fields.table import KEY_BY_FOLD, TIMEOUT_UNITS
from toolmd._parse.fields.values import READERS as FIELD_READERS
from toolmd._parse.page import CodePlace, Mark, Page
from toolmd._parse.words import code_text, flow, fold, plain, unquote
from toolmd._types.code import Code
from toolmd._types.field import Row
from toolmd._types.skill import (
    STEP_KEYS,
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
    # A quote within an expression does not end the text.
    bare = "".join("x" if is_code else piece for piece, is_code in pieces(text))
    parts: list[str | Expression] = []
    for piece, is_code in pieces(text if unquote(bare) == bare else text[1:-1]):
        if not is_code:
            parts.append(piece)
            if "{" in piece:
                what, help_ = "an opening brace is never closed", "close it: `{expression}`"
                page.error(Code.INVALID_STEP, page.mark("{", mark.line, mark.column), what, help_)
            continue
        mark = _behind(page, mark, "{")
        parts.append(expression(page, mark, piece))
        mark = _behind(page, mark, piece)
    return Template(parts=tuple(parts))


def _behind(page: Page, mark: Mark, text: str) -> Mark:
    """Return the part of a mark that follows a text; the same mark if the text wraps."""
    if (at := mark.text.find(text)) < 0:
        return mark
    at += len(text)
    lines = mark.text.count("\n", 0, at)
    return page.mark(mark.text[at:], mark.line + lines) if lines else mark.at(at)


def expression(page: Page, mark: Mark, cel: str) -> Expression:
    """Build an expression with its position in the file, and record it."""
    found = mark
    for number, line in enumerate(mark.text.split("\n")):
        if cel and cel in line:
            found = page.mark(cel, mark.line + number, mark.column if number == 0 else 0)
            break
    page.places.expressions.append(CodePlace(cel, found.line, found.column))
    return Expression(cel=cel, line=found.line, column=found.column)


def read_arguments(page: Page, items: list[Node], what: str) -> tuple[Argument, ...]:
    """Read nested bullets `- name: value`; two with the same name are an error."""
    arguments: dict[str, Argument] = {}
    for item in items:
        name = item.name
        if not item.keyed or not name.replace("-", "_").isidentifier():
            mark = item.mark if item.mark.text else Mark(" ", item.mark.line, 1)
            message = f"'{flow(item.mark.text)[:40]}' under {what} is not a `name: value` pair"
            help_ = "write `` - argument: `expression` `` or `- argument: text`"
            page.error(Code.INVALID_STEP, mark, message, help_)
        elif name in arguments:
            message = f"'{name}' is written twice under {what}"
            help_ = f"keep one; the first is in line {arguments[name].line}"
            page.error(Code.DUPLICATE_FIELD, item.key, message, help_)
        else:
            (line, column), at = item.key[1:], item.value.column
            value = read_value(page, item)
            arguments[name] = Argument(
                name=name, value=value, line=line, column=column, value_column=at
            )
    return tuple(arguments.values())


def read_value(page: Page, entry: Node) -> Value:
    """Read a value: text, an expression, or nested bullets as an object or a list."""
    is_object = all(item.keyed and item.name.isidentifier() for item in entry.items)
    below = [b for b in entry.blocks if entry.text or not isinstance(b, Bullets)]
    if not entry.text and not is_object:
        below += [block for item in entry.items if not item.keyed for block in item.blocks]
    lost = [block for block in below if not isinstance(block, Comment)]
    if lost:
        what = f"this is not part of the value of '{entry.name}', so it would be lost"
        help_ = "write the value after the colon, or as bullets below it"
        page.error(Code.INVALID_STEP, mark_of(lost[0]), what, help_)
    if entry.text or not entry.items:
        return read_template(page, entry.value)
    if is_object:
        return Values(fields=read_arguments(page, entry.items, entry.name))
    return Values(items=tuple(read_template(page, item.mark) for item in entry.items))


def way_of(page: Page, mark: Mark, text: str) -> Way | None:
    """Parse `go to NAME`, `stop "text"` or `continue`; return None for anything else."""
    if (word := fold(text)) in {"continue", "stop"}:
        return Way(kind="continue" if word == "continue" else "stop")
    if (goes := _GO.fullmatch(text)) is not None:
        name = plain(goes[1])
        page.named("section", name, mark.last(name))
        return Way(kind="go", target=name)
    if (stops := _STOP.fullmatch(text)) is not None:
        at = max(mark.text.find(stops[1].split(" ")[0]), 0)
        return Way(
            kind="stop", text=read_template(page, Mark(stops[1], mark.line, mark.column + at))
        )
    return None


_GO = re.compile(r"go ?to (.+?)\.?", re.IGNORECASE)
_STOP = re.compile(r"stop[ :]\s*(.+)", re.IGNORECASE)
_RETRY = re.compile(r"retry (\d+)(?: times?)?(?:(?:,| and| then)+ *(.+))?", re.IGNORECASE)
_UNTIL = "until "


def _report(page: Page, entry: Node, help_: str, code: Code = Code.INVALID_STEP) -> None:
    """Report a value that can't be read."""
    text = entry.text[:60]
    what = f"'{entry.name}' can't be read from '{text}'" if text else f"'{entry.name}' has no value"
    page.error(code, entry.written, what, help_)


def _expression(page: Page, entry: Node, _whole: None) -> Expression:
    """Read a value that is always an expression, with or without a code span."""
    cel = code_text(entry.text)
    if not cel or entry.blocks:
        _report(page, entry, "write an expression in a code span: `` `size(slots) > 0` ``")
    return expression(page, entry.value, cel)


def _way(page: Page, entry: Node, _whole: None) -> Way:
    way = way_of(page, entry.value, entry.text)
    if way is None:
        _report(page, entry, 'write `go to NAME`, `stop "text"` or `continue`')
    return way or Way(kind="stop")


def _choice(page: Page, entry: Node, _whole: None) -> Way:
    if (code := code_text(entry.text)) != entry.text:
        return Way(kind="choose", choose=expression(page, entry.value, code))
    way = way_of(page, entry.value, entry.text)
    if way is None:
        help_ = 'write `go to NAME`, `stop "text"`, `continue`, or an expression in a code span'
        _report(page, entry, help_)
    return way or Way(kind="stop")


def _callee(page: Page, entry: Node, _whole: None) -> Use:
    name = plain(entry.text).replace("-", "_")
    if not name.isidentifier():
        _report(page, entry, "write the tool's name alone; its arguments go below `- **With**:`")
    page.named("definition", name, entry.value)
    return Use(name=name)


def _return(page: Page, entry: Node, _whole: None) -> dict[str, Any]:
    read: dict[str, Any] = {"returns": read_arguments(page, entry.items, "Return")}
    if entry.text:
        read["message"] = read_template(page, entry.value)
    return read


def _with(page: Page, entry: Node, use: Use | None) -> Use | None:
    if entry.text:
        _report(page, entry, "write `- argument: value` below it, one on each line")
    arguments = read_arguments(page, entry.items, "With")
    return use and _called(page, use, arguments)


def _undo(page: Page, entry: Node, _whole: None) -> Use:
    items = entry.items
    if len(items) == 1 and items[0].keyed and fold(items[0].name) == "with":
        items = items[0].items
    arguments = read_arguments(page, items, "Undo")
    return _called(page, _callee(page, entry, None), arguments)


def _called(page: Page, use: Use, arguments: tuple[Argument, ...]) -> Use:
    """Return the use with its arguments, and record the callee's parameters that they name."""
    for argument in arguments:
        at = Mark(argument.name, argument.line, argument.column)
        page.named("parameter", argument.name, at, use.name)
    return Use(name=use.name, arguments=arguments)


def _for_each(page: Page, entry: Node, _whole: None) -> Loop | None:
    whole = code_text(entry.text)
    name, _, over = (whole if "`" not in whole else entry.text).partition(" in ")
    name = plain(name)
    if not name.isidentifier() or not over.strip():
        _report(page, entry, "write `` day in `next_days(date, 3)` ``")
        return None
    page.named("variable", name, entry.value, declares=True)
    return Loop(name=name, over=expression(page, entry.value, code_text(over)))


def _on_error(page: Page, entry: Node, _whole: None) -> OnError | None:
    retry = _RETRY.fullmatch(entry.text)
    if retry is None and not entry.text.lower().startswith("retry"):
        return OnError(then=_way(page, entry, None))
    many = scalars.whole(retry[1]) if retry else None
    tail = retry[2] if retry else None
    way = way_of(page, entry.value, tail) if tail else Way(kind="stop")
    if not many or way is None:
        _report(page, entry, 'write `retry 3 times, then stop "text"`')
        return None
    return OnError(retries=many, then=way)


def _save_as(page: Page, entry: Node, _whole: None) -> str | None:
    name = plain(entry.text)
    if not name.isidentifier():
        _report(page, entry, "write a name of letters, digits and _, starting with a letter")
        return None
    page.named("variable", name, entry.value, declares=True)
    return name


def _moment(page: Page, entry: Node, _whole: None) -> float | Expression | None:
    text = entry.text
    if (seconds := scalars.duration(text)) is not None:
        return seconds
    until = text[len(_UNTIL) :].strip() if text.lower().startswith(_UNTIL) else ""
    if not until and code_text(text) == text:
        help_ = "write a duration such as `2h`, or an expression that gives a time: "
        help_ += '`` `timestamp(visit.start) - duration("24h")` ``'
        _report(page, entry, help_, Code.UNREADABLE_VALUE)
        return None
    return expression(page, entry.value, code_text(until or text))


def _question(page: Page, entry: Node, _whole: None) -> Template:
    if not entry.text:
        _report(page, entry, "write the question")
    return _text(page, entry, None)


def _text(page: Page, entry: Node, _whole: None) -> Template:
    extra = [b for b in entry.blocks if isinstance(b, Paragraph)]
    text = "\n".join([entry.value.text, *(b.mark.text for b in extra)])
    return read_template(page, Mark(text, entry.value.line, entry.value.column))


def _as_field(page: Page, entry: Node, _whole: None) -> Any:
    """Read a value that is written like that of a field with the same kind."""
    row = Row(STEP_KEYS[KEY_BY_FOLD[fold(entry.name)]].kind, "", name=entry.name, restricts=True,
              unit=TIMEOUT_UNITS.get(fold(entry.name), ""))  # fmt: skip
    try:
        return FIELD_READERS[row.kind](page, row, entry)
    except Unread as unread:
        _report(page, entry, str(unread), Code.UNREADABLE_VALUE)
        return None


def _approvers(page: Page, entry: Node, _whole: None) -> tuple[str, ...] | Expression | None:
    by: tuple[str, ...] | str | None = _as_field(page, entry, None)
    return expression(page, entry.value, by) if isinstance(by, str) else by


def _at_once(page: Page, entry: Node, loop: Loop | None) -> Loop | None:
    return loop and loop.model_copy(update={"at_once": _as_field(page, entry, None) or 1})


class Reader(NamedTuple):
    """The reader of a kind of value."""

    read: Callable[[Page, Node, Any], Any]
    """Returns the value of the key's attribute, or several attributes by name; None for no value.

    The last argument is the value that another key of the attribute gave before.
    """
    takes: tuple[type[Block], ...] = ()
    """The blocks that may be nested below the key."""


READERS: dict[str, Reader] = {
    "callee": Reader(_callee),
    "arguments": Reader(_with, takes=(Bullets,)),
    "condition": Reader(_expression),
    "expression": Reader(_expression),
    "question": Reader(_question, takes=(Paragraph,)),
    "data": Reader(_return, takes=(Bullets,)),
    "text": Reader(_text, takes=(Paragraph,)),
    "name": Reader(_save_as),
    "loop": Reader(_for_each),
    "count": Reader(_at_once),
    "way": Reader(_way),
    "choice": Reader(_choice),
    "failure": Reader(_on_error),
    "call": Reader(_undo, takes=(Bullets,)),
    "duration": Reader(_as_field),
    "moment": Reader(_moment),
    "approvers": Reader(_approvers, takes=(Bullets,)),
    "term": Reader(_as_field),
    "escalations": Reader(_as_field, takes=(Bullets,)),
}
"""The reader of each kind of value; `STEP_KEYS` has the kind of each key."""
