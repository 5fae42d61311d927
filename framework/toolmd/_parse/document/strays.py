"""Report restrictions in places where nothing would enforce them."""

import re
from collections.abc import Iterable, Sequence
from functools import partial

from toolmd._parse.blocks.block import Block, Comment, Item, Paragraph, Part
from toolmd._parse.blocks.prose_lines import bare_items, lines, pairs
from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.field import Field, SectionTable
from toolmd._parse.fields.restrictions import (
    RESTRICTIONS,
    begun,
    names_restriction,
    restriction_of,
    starts,
)
from toolmd._parse.fields.step import key_meant
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words import scalars
from toolmd._parse.words.keys import Pair, fold, heading_text, plain, split
from toolmd._parse.words.limiting import AUTH, lifted, limiting
from toolmd._parse.words.slips import nearest
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.imported import RESTRICTION
from toolmd._types.skill import STEP_KEYS, StepKey


def report_strays(
    page: Page,
    blocks: Sequence[Block],
    parts: Sequence[Part],
    here: SectionTable | None,
    *,
    in_steps: bool = False,
) -> None:
    """Report each restriction in prose that is kept, and in the headings of its parts.

    A line in a known section is compared with the section's fields, including near misses.
    Elsewhere a line counts if its key names a restriction and its value could be one.

    Args:
        page: the page that is being read.
        blocks: the blocks that no field of the section read.
        parts: the parts that no field of the section read.
        here: the section that contains them; None for prose outside known sections.
        in_steps: whether the prose is part of a skill's steps.
    """
    if not blocks and not parts:
        return
    all_blocks = [*blocks, *(block for part in parts for block in part.blocks)]
    reported: set[Mark] = set()
    for pair in pairs(all_blocks):
        if pair.key in reported:
            continue  # each row of a table yields its first cell once for each other cell
        if (here is not None and _reported_unread(page, pair, here)) or (
            report_restriction(page, pair) if in_steps else report_stray(page, pair)
        ):
            reported.add(pair.key)
    for item in bare_items(all_blocks):
        _report_bare(page, item)
    if here is not None and (restricting := _restricting(here)):
        marks = [*lines(all_blocks), *(part.heading for part in parts)]
        _report_begun(page, marks, here, restricting)
    for part in parts:
        report_heading(page, part.heading, part.blocks)


def _restricting(here: SectionTable) -> list[Field]:
    return [f for f in here.fields if f.restricts or here.restricts]


def _report_bare(page: Page, item: Item) -> None:
    """Report a bullet such as `- Requires Confirmation` that nothing reads."""
    words = plain(item.mark.text).rstrip(".")
    for table, known in RESTRICTIONS.get(fold(words), ())[:1]:
        if known.kind == "boolean" and len(words.split()) > 1:
            _misplaced(page, item.mark, words, table, known)


def _report_begun(
    page: Page, marks: Iterable[Mark], here: SectionTable, restricting: list[Field]
) -> None:
    """Report lines that begin with a restriction's name but are not written as a field."""
    reported = {d.span.line for d in page.diagnostics if d.severity is Severity.ERROR}
    for mark in marks:
        if mark.line in reported:
            continue
        html = mark.text.startswith("<")
        named = next((f for f in restricting if _begins(mark.text, f, anywhere=html)), None)
        if named is not None or (html and here.restricts):
            _lost(page, mark, named.name if named else "HTML", here)
        elif (found := begun(mark.text)) is not None:
            _misplaced(page, mark, found[1].name, *found)
        else:
            continue
        reported.add(mark.line)


def _begins(text: str, field: Field, *, anywhere: bool) -> bool:
    """Return whether a text begins with a field's name; `anywhere` finds it inside HTML."""
    if anywhere:
        return fold(field.name) in fold(text)
    return any(start == fold(field.name) for start in starts(text))


def report_stray(page: Page, pair: Pair, *, field: bool = False) -> bool:
    """Report `key: value` outside its place if it would restrict a call or a step.

    Args:
        page: the page that is being read.
        pair: the key and the value.
        field: whether it is written among fields, where a step's key is not a word of a sentence.

    Returns:
        Whether it was reported.
    """
    if report_restriction(page, pair):
        return True
    key = guarding_key(pair, field=field)
    if key is None:
        return False
    page.error(
        Code.MISPLACED_FIELD,
        pair.key,
        f"'{plain(pair.key.text)}' restricts nothing here",
        f"in a skill, write `- **{key.name}**: …` below a step; in a tool, write a field of Safety "
        "or a rule; reword the key if it restricts nothing",
    )
    return True


def guarding_key(pair: Pair, *, field: bool = False) -> StepKey | None:
    """Return the key that would hold back a step if `key: value` stood below one."""
    key = STEP_KEYS.get(key_meant(pair.key.text) or "")
    found = key is not None and (_holds(pair.value.text) or (field and _is_key(pair, key.name)))
    return key if found and key is not None and key.guards else None


def report_unknown(page: Page, entry: Entry, table: SectionTable) -> bool:
    """Report a key that no field of a table has, if it would restrict.

    Returns:
        Whether it was reported; any other key may be kept as a note.
    """
    pair = Pair(entry.key, entry.value, marked=True)
    of_value = table.field("types") is not None
    meant = limiting(entry.key.text, of_value=of_value)
    about_caller = meant is not None and meant.field == AUTH
    # `Permission` is also a word for a step's Ask, but in the head of a file it means the caller.
    found = report_restriction if about_caller else partial(report_stray, field=True)
    if found(page, pair):
        return True
    if meant is None or (lifted(meant, entry.text) and not entry.blocks):
        return False
    # The name alone would turn `Roles: admin` into an unreadable value, and `Public: no` into
    # `Requires Auth: no`.
    fits = not about_caller or (scalars.boolean(entry.text) is True and not meant.inverted)
    known = table.field(meant.field) if meant.field and fits else None
    slip = table.field(nearest(entry.name, table.by_key) or "") if of_value else None
    known = slip or known
    key = page.mark(entry.name, entry.key.line, entry.key.column)
    if _OF_AN_IMPORT.fullmatch(entry.name):
        page.error(Code.UNKNOWN_FIELD, key, f"'{entry.name}' waits for a decision", _DECIDE)
        return True
    page.error(
        Code.UNKNOWN_FIELD,
        key,
        f"'{entry.name}' sounds like a restriction, but no field has this name: "
        "it would restrict nothing",
        f"did you mean '{slip.name}'?"
        if slip
        else meant.help
        if of_value or meant.switch
        else _ELSEWHERE,
        replace(key, known.name) if known else (),
    )
    return True


_OF_AN_IMPORT = re.compile(rf"{RESTRICTION} \d+")
_DECIDE = "write a field or a rule instead of this line, or delete the line"
_ELSEWHERE = (
    "write it as a field of a parameter, below `## Safety` or `## Limits`, or as a rule; "
    "reword the key if it restricts nothing"
)


def _is_key(pair: Pair, key: str) -> bool:
    return fold(pair.key.text) == fold(key) or key == "Ask"


def _holds(text: str) -> bool:
    """Return whether a value is a condition, a question with a value in it, or a jump."""
    text = text.strip()
    return text.startswith(("`", "stop ", "go to ")) or ("{" in text and text.endswith(("?", "}")))


def report_restriction(page: Page, pair: Pair) -> bool:
    """Report `key: value` outside its place if it names a restriction with a possible value."""
    found = restriction_of(pair)
    if found is None:
        return False
    _misplaced(page, pair.key, plain(pair.key.text), *found)
    return True


def _misplaced(page: Page, mark: Mark, words: str, table: SectionTable, known: Field) -> None:
    page.error(
        Code.MISPLACED_FIELD,
        mark,
        f"'{words}' restricts nothing here",
        f"write `- **{known.name}**: …` below `## {table.name}`, or reword it",
    )


def _reported_unread(page: Page, pair: Pair, here: SectionTable) -> bool:
    """Report a line in a section of restrictions that was meant as one but was not read."""
    restricting = _restricting(here)
    known = here.field(pair.key.text)
    if known is not None and known.attribute in {f.attribute for f in restricting}:
        _lost(page, pair.key, known.name, here)
        return True
    near = nearest(plain(pair.key.text), [f.name for f in restricting])
    if near is not None:
        key = page.mark(plain(pair.key.text), pair.key.line, pair.key.column)
        page.error(
            Code.UNKNOWN_FIELD,
            key,
            f"unknown field '{key.text}'; restrictions are never guessed",
            f"did you mean '{near}'?",
            replace(key, near),
        )
        return True
    if here.restricts and pair.marked and is_setting(pair.value.text):
        _lost(page, pair.key, plain(pair.key.text), here)
        return True
    return False


def _lost(page: Page, mark: Mark, name: str, here: SectionTable) -> None:
    page.error(
        Code.UNREADABLE_VALUE,
        mark,
        f"'{name}' is not read here, so what it restricts is lost",
        f"write `- **{name}**: …` as a bullet directly below `## {here.name}`",
    )


def is_setting(text: str) -> bool:
    """Return whether a text is a value that a field accepts, not a sentence."""
    readers = (scalars.boolean, scalars.number, scalars.duration, scalars.size, scalars.rate)
    return any(read(text) is not None for read in readers)


def report_heading(page: Page, heading: Mark, blocks: list[Block]) -> None:
    """Report a heading that names a restriction, with its value next to it or below it.

    Args:
        page: the page that is being read.
        heading: the heading of a section that no table describes, or of a part of prose.
        blocks: the blocks below it, up to the next heading.
    """
    text = heading_text(heading.text)
    mark = page.mark(text, heading.line, heading.column)
    pair = split(mark) or (_with_value_below(mark, blocks) if names_restriction(text) else None)
    if pair is not None:
        report_restriction(page, pair)


def _with_value_below(mark: Mark, blocks: list[Block]) -> Pair | None:
    """Pair a heading with the only words below it; without any, it stands for yes."""
    match [block for block in blocks if not isinstance(block, Comment)]:
        case []:
            pair = Pair(mark, mark._replace(text="yes"), marked=False)
            found = restriction_of(pair)
            return pair if found is not None and found[1].kind == "boolean" else None
        case [Paragraph() as only]:
            return Pair(mark, only.mark, marked=False)
        case _:
            return None
