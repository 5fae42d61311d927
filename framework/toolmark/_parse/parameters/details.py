"""What stands in brackets beside a parameter's name: `(string, required, default 5)`."""

from dataclasses import dataclass, field

from toolmark._parse.fields.entries import Entry, implied
from toolmark._parse.fields.table import PARAMETER
from toolmark._parse.parameters.types import TypeProblem, read_type
from toolmark._parse.source.page import Mark
from toolmark._parse.words.keys import fold
from toolmark._parse.words.scalars import code_spans, number, split_outside

FLAGS = {
    "required": ("Required", "yes"),
    "mandatory": ("Required", "yes"),
    "optional": ("Required", "no"),
    "notrequired": ("Required", "no"),
    "sensitive": ("Sensitive", "yes"),
    "verbatim": ("Verbatim", "yes"),
    "unique": ("Unique", "yes"),
}


@dataclass(slots=True)
class Inline:
    """What one line says of a parameter."""

    name: Mark
    entries: list[Entry] = field(default_factory=list)
    notes: list[Mark] = field(default_factory=list)
    """Words beside the type that are no field."""
    marked: bool = False
    """Whether the name stood in bold or a code span."""
    typed: bool = False
    """Whether a type was read beside the name."""
    separated: bool = False
    """Whether a colon or a dash followed the name."""


def read_details(found: Inline, inside: Mark) -> None:
    """Read `string, required, default 5` into entries; what is no field becomes a note."""
    if code_spans(inside.text) and not any(map(is_type, code_spans(inside.text))):
        found.typed = True
        found.entries.append(Entry(Mark("Enum", inside.line, inside.column), inside))
        return
    at = 0
    pieces = split_outside(inside.text, ",")
    if len(pieces) == 1:
        pieces = split_outside(inside.text, ";")
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        mark = inside.at(at, len(piece)).strip() if piece else Mark("", inside.line, inside.column)
        lead = fold(mark.text.split(" ", 1)[0].rstrip(":="))
        if lead in {"enum", "oneof", "values", "allowed", "one"} and " " in mark.text:
            tail = inside.at(at).strip()
            value = tail.text.removeprefix("one of").strip()
            value = value if value != tail.text else tail.text.split(" ", 1)[1]
            found.entries.append(Entry(Mark("Enum", tail.line, tail.column), _inner(tail, value)))
            return
        _detail(found, mark)
        at += len(piece) + 1
        index += 1


def _detail(found: Inline, mark: Mark) -> None:
    text = mark.text.strip("`*_ ")
    folded = fold(text)
    if not text:
        return
    if folded in FLAGS:
        found.entries.append(implied(*FLAGS[folded], mark))
    elif not found.typed and is_type(text):
        found.typed = True
        found.entries.append(Entry(Mark("Type", mark.line, mark.column), _inner(mark, text)))
    elif not found.typed and (default := default_of(text)):
        found.typed = True
        kind = text[: -len(default)].rstrip(" =")
        found.entries.append(Entry(Mark("Type", mark.line, mark.column), _inner(mark, kind)))
        found.entries.append(Entry(Mark("Default", mark.line, mark.column), _inner(mark, default)))
    elif not found.typed and code_spans(mark.text):
        found.typed = True
        found.entries.append(Entry(Mark("Enum", mark.line, mark.column), mark))
    elif (bounds := _range(text)) is not None:
        found.entries += [implied(key, value, mark) for key, value in bounds]
    else:
        _keyed(found, mark)


def _keyed(found: Inline, mark: Mark) -> None:
    """Read `default 5`, `max length: 100` or `pattern=…`."""
    text = mark.text
    for signs in (":", "=", " "):
        for at in (i for i, c in enumerate(text) if c == signs):
            known = PARAMETER.field(text[:at])
            if known is not None:
                value = text[at + 1 :].strip().removeprefix("to ").removeprefix("is ")
                found.entries.append(Entry(_inner(mark, text[:at]), _inner(mark, value)))
                return
    if text.lower().startswith("defaults to "):
        found.entries.append(
            Entry(Mark("Default", mark.line, mark.column), _inner(mark, text[12:]))
        )
        return
    found.notes.append(mark)


def _range(text: str) -> list[tuple[str, str]] | None:
    """Read `1-300`, `1..300`, `>= 1` or `≤ 5` as bounds of a number."""
    for sign, key in ((">=", "Minimum"), ("≥", "Minimum"), ("<=", "Maximum"), ("≤", "Maximum")):
        if text.startswith(sign) and number(text[len(sign) :].strip()) is not None:
            return [(key, text[len(sign) :].strip())]
    for sign in ("..", "–", "-", " to "):  # noqa: RUF001
        low, found, high = text.partition(sign)
        if found and number(low.strip()) is not None and number(high.strip()) is not None:
            return [("Minimum", low.strip()), ("Maximum", high.strip())]
    return None


def is_type(text: str) -> bool:
    """Whether a text is a type, and no single value."""
    try:
        shape = read_type(text)
    except TypeProblem:
        return False
    # A number or a quoted word alone is a value; two or more are an enum.
    return shape.enum is None or len(shape.enum) > 1


def default_of(text: str) -> str:
    """Give what stands behind a type and `=`, as in `int = 5`; else nothing."""
    kind, _, default = text.rpartition("=")
    return default.strip("` ") if kind and is_type(kind.rstrip()) else ""


def _inner(mark: Mark, text: str) -> Mark:
    at = max(mark.text.find(text), 0)
    return Mark(text, mark.line, mark.column + at)
