"""Read what a tool's conditions take from other tools: `- **Given**: order from get_order`."""

import re
from collections.abc import Callable, Iterator

from toolmd._expressions import CALLER, NOW
from toolmd._parse import scalars
from toolmd._parse.blocks import Bullets, Comment, Node, mark_of
from toolmd._parse.document.definition import Definition
from toolmd._parse.page import Page
from toolmd._parse.words import fold
from toolmd._types.call_spec import Given
from toolmd._types.code import Code

Check = Callable[..., bool]
"""Compiles an expression at a mark, named by these words; False where it was reported."""
_GIVEN = re.compile(r"`?([A-Za-z_]\w*)`? from `?([A-Za-z_][\w-]*)`?")
_HELP = "write `- **Given**: order from get_order`, and the arguments of get_order as bullets below"


def is_given(item: Node) -> bool:
    """Return whether a bullet of Rules is a Given."""
    return item.keyed and fold(item.name) == "given"


def read_given(definition: Definition, check: Check) -> tuple[Given, ...]:
    """Read each Given in Rules; `check` checks an expression over the arguments and the caller."""
    section, page = definition.section("Rules"), definition.page
    bullets = [b for b in section.blocks if isinstance(b, Bullets)] if section is not None else []
    found: dict[str, Given] = {}
    for item in [item for block in bullets for item in block.items if is_given(item)]:
        read = _GIVEN.fullmatch(item.text)
        if read is None:
            page.error(Code.UNREADABLE_VALUE, item.written, "this Given can't be read", _HELP)
            continue
        name, tool = read[1], read[2].replace("-", "_")
        if name in found or name in {CALLER, NOW, "approver"}:
            what = f"'{name}' stands for something else in this file"
            page.error(Code.AMBIGUOUS_NAME, item.value, what, "give the result another name")
            continue
        page.named("definition", tool, item.value)
        arguments = dict(_arguments(page, item, check))
        found[name] = Given(name, tool, arguments, item.mark.line)
    return tuple(found.values())


def _arguments(page: Page, item: Node, check: Check) -> Iterator[tuple[str, str]]:
    for block in item.blocks:
        if not isinstance(block, Bullets | Comment):
            what = "this is not read, so the tool would not get it"
            page.error(Code.UNREADABLE_VALUE, mark_of(block), what, _HELP)
    known: set[str] = set()
    for one in item.items:
        text, name = one.text, one.name.replace("-", "_")
        is_code = len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]  # noqa: PLR2004
        is_value = scalars.number(text) is not None or text in {"true", "false"}
        if not one.keyed or one.blocks or not (is_code or is_value):
            what = f"'{one.mark.text}' is no argument with its value"
            help_ = f"write `` - {name}: `{text or name}` `` for the value of a name, "
            help_ += f"or `` - {name}: `'{text or name}'` `` for that text"
            page.error(Code.UNREADABLE_VALUE, one.mark, what, help_)
        elif name in known:
            page.error(Code.DUPLICATE_FIELD, one.key, f"'{name}' is written twice", "keep one")
        else:
            known.add(name)
            cel = text.strip("` ")
            mark = page.mark(cel, one.value.line, one.value.column)
            if check(mark, cel, "argument of Given", any_type=True):
                yield name, cel
