"""The values of a step: text, an expression in a code span, or text with expressions in braces."""

from toolmd._parse.blocks.block import Bullets, Comment, Item, mark_of
from toolmd._parse.fields.entries import Entry, item_entry
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.source.places import CodePlace
from toolmd._parse.words.keys import code_text, flow, fold, plain, unquoted
from toolmd._types.code import Code
from toolmd._types.skill import Argument, Expression, Template, Value, Values, Way


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


def bare_expression(page: Page, entry: Entry) -> Expression:
    """Read a value that is always an expression, with or without a code span."""
    cel = code_text(flow(entry.value.text))
    if not cel or entry.blocks:
        page.error(
            Code.INVALID_STEP,
            entry.mark,
            f"'{entry.name}' needs an expression",
            "write it in a code span: `` `size(slots) > 0` ``",
        )
    return expression(page, entry.value, cel)


def read_arguments(page: Page, items: list[Item], what: str) -> tuple[Argument, ...]:
    """Read nested bullets `- name: value`; two with the same name are an error."""
    arguments: dict[str, Argument] = {}
    for item in items:
        entry = item_entry(item)
        name = plain(entry.key.text) if entry else ""
        if entry is None or not name.replace("-", "_").isidentifier():
            page.error(
                Code.INVALID_STEP,
                item.mark if item.mark.text else Mark(" ", item.line, 1),
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


def read_value(page: Page, entry: Entry) -> Value:
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
        if item_entry(item) is None and item.blocks:
            page.error(
                Code.INVALID_STEP,
                mark_of(item.blocks[0]),
                "a list item is text or an expression, so this would be lost",
                "write it on the item's own line",
            )
    entries = [item_entry(item) for item in entry.items]
    if all(e is not None and plain(e.key.text).isidentifier() for e in entries):
        return Values(fields=read_arguments(page, entry.items, entry.name))
    return Values(items=tuple(read_template(page, item.mark) for item in entry.items))


def read_way(page: Page, entry: Entry, *, choose: bool = False) -> Way:
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
            entry.mark,
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
