"""Read the brackets and bounds next to a parameter's name: `(string, required, 1..300)`."""

import re
from dataclasses import dataclass, field

from toolmd._parse.fields.entries import Entry, implied
from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.parameters.bounds import read_bounds
from toolmd._parse.parameters.types import TypeProblem, read_type
from toolmd._parse.source.page import Mark
from toolmd._parse.words.keys import MAX_KEY, fold
from toolmd._parse.words.scalars import code_spans, listed, split_outside

FLAGS = {
    "required": ("Required", "yes"),
    "mandatory": ("Required", "yes"),
    "optional": ("Required", "no"),
    "notrequired": ("Required", "no"),
    "sensitive": ("Sensitive", "yes"),
    "verbatim": ("Verbatim", "yes"),
    "unique": ("Unique", "yes"),
}

_LISTS = {"enum", "oneof", "values", "allowed", "one", "choices", "options"}
"""The words before a list of values, which may contain commas."""
_THEM = {"them", "these", "those", "us", "many", "several", "each"}
_GENERIC = re.compile(r"\w<")
_LONGEST = 1000
"""The most characters in which the commas of a type are looked for."""
_QUOTED = re.compile(r"""[\s=:](["'])(?:(?!\1).)*$""")
_ENUM = re.compile(r"enum\s*[=:]\s*", re.IGNORECASE)
_CHOICE = re.compile(r"[\w-]+(?: ?\| ?[\w-]+)+")
"""Values between bars, as in `(string, asc|desc)`."""


@dataclass(slots=True)
class Inline:
    """The name, fields and notes of a parameter in one line."""

    name: Mark
    entries: list[Entry] = field(default_factory=list)
    notes: list[Mark] = field(default_factory=list)
    """Words next to the type that are not a field."""
    marked: bool = False
    """Whether the name was in bold or a code span."""
    typed: bool = False
    """Whether a type was read next to the name."""
    separated: bool = False
    """Whether a colon or a dash followed the name."""
    questioned: bool = False
    """Whether the name is marked as optional, as in `name?`."""

    doubled: bool = False
    """Whether another name follows, as in `` `from`, `to` ``."""

    @property
    def flagged(self) -> bool:
        """Return whether only words such as `(required)` follow the name."""
        return bool(self.entries) and all(entry.implied for entry in self.entries)

    def say(self, key: str, value: Mark) -> None:
        """Add a field with the given value."""
        self.entries.append(Entry(value._replace(text=key), value))


def read_details(found: Inline, inside: Mark) -> None:
    """Read `string, required, default 5` into entries; other words become notes."""
    if code_spans(inside.text) and not any(map(names_type, code_spans(inside.text))):
        found.typed = True
        found.say("Enum", inside)
        return
    at = 0
    pieces = pieces_of(inside.text)
    if len(pieces) == 1:
        pieces = split_outside(inside.text, ";")
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        mark = inside.at(at, len(piece)).strip() if piece else Mark("", inside.line, inside.column)
        lead = fold(mark.text.split(" ", 1)[0].rstrip(":="))
        if lead in _LISTS and " " in mark.text:
            end = _end_of_list(pieces, index)
            length = sum(map(len, pieces[index:end])) + end - index - 1
            tail = inside.at(at, length).strip()
            value = tail.text.removeprefix("one of").strip(" :")
            if lead != "one" or _is_value(value):
                value = value if value != tail.text else tail.text.split(" ", 1)[1]
                found.say("Enum", _inner(tail, value))
                at, index = at + length + 1, end
                continue
        _detail(found, mark)
        at += len(piece) + 1
        index += 1


def _is_value(text: str) -> bool:
    """Return whether values follow `one of`: two or more, or a single word, but not `them`."""
    return len(listed(text)) > 1 or (" " not in text and fold(text) not in _THEM)


def pieces_of(text: str) -> list[str]:
    """Split at commas outside quotes, brackets and numbers such as `0,5`.

    Those of `Record<string, number>` count as brackets.
    """
    pieces = split_outside(text, ",")
    at = 0 if len(text) <= _LONGEST else len(pieces)
    while at < len(pieces) - 1:
        piece = pieces[at]
        is_open = _GENERIC.search(piece) and piece.count("<") > piece.count(">")
        is_open = (is_open and ">" in pieces[at + 1]) or _in_quotes(piece, pieces[at + 1 :])
        if is_open or _in_a_number(piece, pieces[at + 1]):
            pieces[at : at + 2] = [f"{piece},{pieces[at + 1]}"]
        else:
            at += 1
    return pieces


def _in_quotes(before: str, behind: list[str]) -> bool:
    """Return whether a comma is inside a quoted value that a key precedes: `default 'a, b'`."""
    opened = _QUOTED.search(before)
    return opened is not None and any(piece.rstrip().endswith(opened[1]) for piece in behind)


def _in_a_number(before: str, after: str) -> bool:
    """Return whether a comma between two texts is a part of a number, as in `0,5`."""
    return before[-1:].isdigit() and after[:1].isdigit()


def _end_of_list(pieces: list[str], first: int) -> int:
    """Return where a list of values ends: `one of a, b, default a, optional` has two."""
    end = len(pieces)
    while end - first > 1 and _follows(pieces[end - 1]):
        end -= 1
    # Of `one of required, optional`, both are values.
    flags = end - first == 1 and fold(pieces[first].rpartition(" ")[2]) in FLAGS
    return len(pieces) if flags else end


def _follows(piece: str) -> bool:
    text = piece.strip().strip("`*_").lower()
    return fold(text) in FLAGS or text.startswith(("default ", "default:", "default=", "defaults "))


def _detail(found: Inline, mark: Mark) -> None:
    text = mark.text.strip("`*_ ")
    folded = fold(text)
    if not text:
        return
    if folded in FLAGS:
        found.entries.append(implied(*FLAGS[folded], mark))
    elif not found.typed and names_type(text):
        found.typed = True
        found.say("Type", _inner(mark, text))
    elif not found.typed and (default := default_of(text)):
        found.typed = True
        found.say("Type", _inner(mark, text[: -len(default)].rstrip(" =")))
        found.say("Default", _inner(mark, default))
    elif not found.typed and code_spans(mark.text):
        found.typed = True
        found.say("Enum", mark)
    elif not found.typed and (kind := _before_brackets(text)):
        found.typed = True
        inside = _inner(mark, text.partition("(")[2][:-1])
        if fold(kind) == "enum":
            found.say("Enum", inside)
        else:
            found.say("Type", _inner(mark, kind))
            read_details(found, inside)
    elif found.typed and names_type(text):
        _second_type(found, _inner(mark, text))
    elif found.typed and _CHOICE.fullmatch(text):
        found.say("Enum", _inner(mark, text))
    elif (bounds := read_bounds(text)) is not None:
        found.entries += [_bound(mark, *bound) for bound in bounds]
    else:
        _keyed(found, mark)


def _bound(mark: Mark, key: str, value: str) -> Entry:
    """Build the entry of a bound at its place in the text: `5` of `1..5`."""
    at = (mark.text.rfind if key.startswith("Max") else mark.text.find)(value)
    return implied(key, value, mark._replace(column=mark.column + max(at, 0)))


def _before_brackets(text: str) -> str:
    """Return the type with details in brackets of its own: `int` of `int (1-3)`; else nothing."""
    kind, _, inside = text.partition("(")
    alone = inside.endswith(")") and "(" not in inside and ")" not in inside[:-1]
    return kind.rstrip() if alone and kind.strip() and names_type(kind.rstrip()) else ""


def _second_type(found: Inline, mark: Mark) -> None:
    """Read `array, string` as an array of strings, and `string, date` as a string with a format.

    Any other second type is kept as a second Type, which is reported when fields are named.
    """
    first = next((e for e in found.entries if e.key.text == "Type"), None)
    one, two = read_type(first.text if first else "any"), read_type(mark.text)
    if one.types == ["array"] and one.items is None:
        found.say("Items", mark)
    elif one.types == two.types and two.format is not None and one.format is None:
        found.say("Format", mark._replace(text=two.format))
    elif one.types == two.types and two.enum is not None and one.enum is None:
        found.say("Enum", _inner(mark, _ENUM.sub("", mark.text, count=1)))
    elif one.types == two.types:
        found.notes.append(mark)
    else:
        found.say("Type", mark)


def _keyed(found: Inline, mark: Mark) -> None:
    """Read `default 5`, `max length: 100` or `pattern=…`."""
    text = mark.text
    for signs in (":", "=", " "):
        # No key is longer, and folding each prefix of a long text takes quadratic time.
        # The longest key first: `max length 40` is no Maximum.
        for at in (i for i in range(min(len(text), MAX_KEY) - 1, 0, -1) if text[i] == signs):
            known = PARAMETER.field(text[:at])
            if fold(text[:at]) == "oneof" and len(listed(text[at:])) < 2:  # noqa: PLR2004
                continue  # `one of them`
            if known is not None:
                value = (
                    text[at + 1 :]
                    .strip()
                    .removeprefix("to ")
                    .removeprefix("is ")
                    .removeprefix("of ")
                )
                found.entries.append(Entry(_inner(mark, text[:at]), _inner(mark, value)))
                return
    if text.lower().startswith("defaults to "):
        found.say("Default", _inner(mark, text[12:]))
        return
    found.notes.append(mark)


def names_type(text: str) -> bool:
    """Return whether a text is a type, not a single value."""
    try:
        shape = read_type(text)
    except TypeProblem:
        return False
    # A number or a quoted word alone is a value; two or more are an enum.
    return shape.enum is None or len(shape.enum) > 1


def default_of(text: str) -> str:
    """Return the default after a type and `=`, as in `int = 5`, or an empty text."""
    kind, _, default = text.rpartition("=")
    return default.strip("` ") if kind and names_type(kind.rstrip()) else ""


def _inner(mark: Mark, text: str) -> Mark:
    at = max(mark.text.find(text), 0)
    return Mark(text, mark.line, mark.column + at)


def meant_type(word: str) -> str | None:
    """Return the type that a whole text misspells; None for any other text."""
    try:
        read_type(word)
    except TypeProblem as problem:
        return problem.suggestion if problem.word == word else None
    return None
