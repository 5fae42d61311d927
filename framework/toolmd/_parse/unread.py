"""Report what nobody read: one sweep over the prose that is kept.

Prose is prose. A line of it is reported only if it is written as a field that restricts a call,
`Requires Confirmation: yes`, in a place where nothing would enforce the field.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as changed
from functools import lru_cache

from toolmd._parse.blocks import Block, Bullets, Comment, Node, Paragraph, Part, Raw, Table
from toolmd._parse.fields.entries import Unread, mark_of_name
from toolmd._parse.fields.table import (
    APPROVAL,
    KEY_BY_FOLD,
    PARAMETER,
    TABLES,
    SectionTable,
    key_instead,
    step_key,
)
from toolmd._parse.fields.values import READERS
from toolmd._parse.page import Mark, Page, replace
from toolmd._parse.words import Pair, assigned, fold, heading_text, nearest, plain, split
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.field import Row
from toolmd._types.imported import RESTRICTION
from toolmd._types.skill import STEP_KEYS

RESTRICTIONS: dict[str, tuple[SectionTable, Row]] = {
    key: (table, field)
    for table in (changed(PARAMETER, name="Parameters"), TABLES["skill"][0], *TABLES["tool"][::-1])
    for key, field in table.by_key.items()
    if field.restricts and (not table.children or table.name == "Parameters")
}
"""The fields that can keep a call from running, by every folded name."""
_LONG = tuple(key for key in RESTRICTIONS if len(key) >= 8)  # noqa: PLR2004 - surely no other word
_COMPARES = re.compile(r"[<>=!]=|[<>]|&&|\|\|")
"""The sign of an expression before a message, as rules are written: `` `a < b`: message ``."""
_TAG = re.compile(r"</?\w[^<>]*>")
_ROLES = (
    "does not say whether a caller needs one of the roles or all",
    "write `**Allowed Roles**: a, b` for one, or `'a' in caller.roles && …` as a rule for all",
)
_APPROVAL = (
    "does not say whether the caller must agree or another person",
    "write `**Requires Confirmation**: true` below `## Safety`, or a section `## Approval`",
)
_UNDECIDED_KEYS = dict.fromkeys(map(fold, (
    "Role", "Roles", "Requires Role", "Requires Roles", "Required Role", "Required Roles",
)), _ROLES) | dict.fromkeys(map(fold, (
    "Approval", "Approval Required", "Needs Approval", "Requires Approval", "Require Approval",
)), _APPROVAL)  # fmt: skip
"""Keys that restrict in one of two ways: what they leave open, and the remedy."""
_UNDECIDED = re.compile(rf"{RESTRICTION} \d+")
DECIDE = "write a field or a rule instead of this line, or delete the line"
"""The remedy for a line that an import left for somebody to decide about."""


def restriction(pair: Pair) -> tuple[SectionTable, Row] | None:
    """Return the restriction that `key: value` names or misspells, if the value is possible."""
    found = _named(fold(pair.key.text[:60]))
    return found if found is not None and _reads(found[1], pair) else None


@lru_cache(maxsize=4096)
def _named(folded: str) -> tuple[SectionTable, Row] | None:
    return RESTRICTIONS.get(folded) or RESTRICTIONS.get(nearest(folded, _LONG) or "")


def _reads(known: Row, pair: Pair) -> bool:
    """Return whether a value is one of the field's kind, and no words of a sentence."""
    text = pair.value.text.strip()
    if known.kind in {"expression", "condition"} and not (
        text.startswith("`") or set(text) & set("<>=!&|")
    ):
        return False
    if known.kind in {"hosts", "names", "roles"} and not set(text) & set("._"):
        exact = fold(pair.key.text) in RESTRICTIONS  # any word is a value of these kinds
        if not (pair.marked and exact):
            return False
    if known.kind == "given":  # read with the bullets below it: `order from get_order`
        return " from " in text
    try:
        READERS[known.kind](Page("", []), known, Node(pair.key, pair.value))
    except Unread:
        return False
    return True


def report_kept(
    page: Page,
    blocks: Sequence[Block],
    parts: Sequence[Part] = (),
    here: SectionTable | None = None,
) -> None:
    """Report each restriction in prose that is kept.

    Args:
        page: the page that is being read.
        blocks: the blocks that no field of the section read.
        parts: the headings that no field of the section read.
        here: the section of fields that contains them; its fields are errors with any value.
    """
    for pair in _pairs([*blocks, *(Paragraph(part.heading) for part in parts)]):
        if not (pair.marked and _COMPARES.search(pair.key.text)):
            report_pair(page, pair, here)
        elif not _is_reported(page, pair.key):
            what = "this is not read as a rule, so nothing would enforce it"
            help_ = "write each rule as a bullet directly below `## Rules`"
            page.error(Code.UNREADABLE_RULE, pair.key, what, help_)
    for part in parts:
        key = part.heading._replace(text=heading_text(part.heading.text))
        _report_approval(page, key.text, part.blocks)
        report_kept(page, part.blocks, (), here)
        below = [block for block in part.blocks if not isinstance(block, Comment)]
        if split(part.heading) is not None or len(below) != 1:
            continue
        match below[0]:
            case Paragraph(mark=value):
                is_sentence = value.text.rstrip("*_").endswith((".", "!", "?"))
                report_pair(page, Pair(key, value, marked=not is_sentence))
            case Bullets(items=items):
                any(report_pair(page, Pair(key, item.mark, marked=True)) for item in items)


def _report_approval(page: Page, title: str, blocks: Sequence[Block]) -> None:
    """Report the fields of an approval below another heading than Approval.

    Their names are everyday words: When counts with an expression, or beside By; any of them
    counts below a heading that names an approval.
    """
    found = {row.attribute: (pair, row) for pair in _pairs(blocks)
             if (row := APPROVAL.field(pair.key.text)) and row.restricts}  # fmt: skip
    beside = found.keys() >= {"when", "by"} or (found and "approv" in fold(title))
    for pair, row in found.values():
        if (beside or (row.attribute == "when" and _reads(row, pair))) and not _is_reported(
            page, pair.key
        ):
            _report_misplaced(page, pair.key, APPROVAL, row)


def report_pair(page: Page, pair: Pair, here: SectionTable | None = None) -> bool:
    """Report `key: value` outside its place if it would restrict a call."""
    found = restriction(pair)
    if found is None and here is not None:
        written = here.field(pair.key.text) or _beginning(pair.key.text, here)
        if written is not None and not pair.value.text.startswith("("):
            found = here, written
        elif here.restricts and here.fields and pair.marked:
            found = here, here.fields[0]
    if found is None:
        return False
    if not _is_reported(page, pair.key):
        _report_misplaced(page, pair.key, *found)
    return True


def _report_misplaced(page: Page, key: Mark, table: SectionTable, known: Row) -> None:
    help_ = f"write `- **{known.name}**: …` below `## {table.name}`, or reword it"
    page.error(Code.MISPLACED_FIELD, key, f"'{plain(key.text)}' restricts nothing here", help_)


def _beginning(text: str, here: SectionTable) -> Row | None:
    """Return the field of several words with whose name a line begins: `Requires Auth yes`."""
    words = text.split()[:3]
    starts = (here.field("".join(words[:many])) for many in range(len(words), 1, -1))
    return next((known for known in starts if known and known.restricts), None)


def _is_reported(page: Page, mark: Mark) -> bool:
    """Return whether one of the last diagnostics is an error in the line of a mark."""
    last = page.diagnostics[-4:]
    return any(d.span.line == mark.line and d.severity is Severity.ERROR for d in last)


def report_unknown(page: Page, entry: Node, table: SectionTable) -> bool:
    """Report a key that no field has: any of a parameter, elsewhere a misplaced restriction."""
    if _UNDECIDED.fullmatch(entry.name):
        key = page.mark(entry.name, entry.key.line, entry.key.column)
        what = f"'{entry.name}' waits for a decision: {plain(entry.text)}"
        page.error(Code.UNKNOWN_FIELD, key, what, DECIDE)
        return True
    if (open_ := _UNDECIDED_KEYS.get(fold(entry.name))) is not None:
        page.error(Code.UNKNOWN_FIELD, entry.key, f"'{entry.name}' {open_[0]}", open_[1])
        return True
    misplaced = RESTRICTIONS.get(fold(entry.name))
    if misplaced is not None and misplaced[0].name != "Parameters":
        _report_misplaced(page, entry.key, *misplaced)
        return True
    if report_pair(page, Pair(entry.key, entry.value, marked=True)):
        return True
    if table.field("types") is None:
        return False
    names = {name: field.name for field in table.fields for name in field.names}
    near = names.get(nearest(entry.name, names) or "")
    what = f"a parameter has no field '{entry.name}'"
    help_ = (
        f"did you mean '{near}'?"
        if near
        else f"the fields are {', '.join(dict.fromkeys(names.values()))}"
    )
    key = mark_of_name(page, entry)
    fix = replace(key, near) if near and key.text == entry.name else ()
    page.error(Code.UNKNOWN_FIELD, key, what, help_, fix)
    return True


def _pairs(blocks: Iterable[Block]) -> Iterator[Pair]:
    """Yield each `key: value` of kept prose; a bullet or a heading alone stands for yes."""
    for block in blocks:
        match block:
            case Paragraph():
                yield from _of_lines(block.mark)
            case Raw():
                bare = _TAG.sub(lambda tag: " " * len(tag[0]), block.mark.text)
                yield from _of_lines(block.mark._replace(text=bare))
            case Bullets():
                for item in block.items:
                    below = ", ".join(each.mark.text for each in item.items)
                    yield from _of_lines(item.mark, below)
                    yield from _pairs(item.blocks)
            case Table(head=head, rows=rows):
                for row in [head, *rows]:
                    yield from (Pair(row[0], cell, marked=False) for cell in row[1:])
            case _:
                pass


def _of_lines(mark: Mark, below: str = "") -> Iterator[Pair]:
    lines = mark.text.split("\n")
    for number, text in enumerate(lines):
        line = Mark(text, mark.line + number, mark.column if number == 0 else 1).strip()
        pair = split(line) or assigned(line.at(0, 200))
        pair = pair or Pair(line, line._replace(text="yes"), marked=False)
        if not pair.value.text:
            after = lines[number + 1].strip() if number + 1 < len(lines) else below
            pair = pair._replace(value=pair.value._replace(text=after))
        yield pair


def report_steps(page: Page, blocks: Sequence[Block], *, acts: bool) -> None:
    """Report restrictions and step keys in the prose of a workflow that acts."""
    report_kept(page, blocks)
    for pair in _pairs(blocks) if acts else ():
        key = step_key(pair.key.text)
        exact = fold(pair.key.text) in KEY_BY_FOLD and pair.value.text != "yes"
        if key is None or not (pair.marked or (exact and STEP_KEYS[key].holds)):
            continue
        if not _is_reported(page, pair.key):
            what = f"'{plain(pair.key.text)}' is not a bullet of a numbered step"
            help_ = f"write `- **{key}**: …` directly below its step, or number it as a step"
            page.error(Code.INVALID_STEP, pair.key, f"{what}, so it would be ignored", help_)


def report_key(page: Page, key: Mark) -> None:
    """Report a bullet directly below a step whose key no step has."""
    name, near = plain(key.text), key_instead(key.text)
    mark = page.mark(name, key.line, key.column)
    keys = ", ".join(STEP_KEYS)
    help_ = f"did you mean '{near}'?" if near else f"the keys of a step are {keys}"
    fix = replace(mark, near) if near and near == nearest(name, STEP_KEYS) else ()
    what = f"a step has no key '{name}'"
    if known := KEY_BY_FOLD.get(fold(name)):
        what, help_, fix = f"'{name}' has no value here", f"write `**{known}**: …`", ()
    page.error(Code.UNKNOWN_STEP_KEY, mark, what, help_, fix)
