"""A parameter in one line: `` `date` (string, required): the day `` and its kin."""

from dataclasses import dataclass, field

from toolmark._parse.fields.entries import Entry, implied
from toolmark._parse.fields.table import PARAMETER
from toolmark._parse.parameters.types import TypeProblem, read_type
from toolmark._parse.source.page import Mark
from toolmark._parse.words.keys import fold, visible
from toolmark._parse.words.scalars import number, split_outside

_WRAPPERS = ("**", "__", "`", "*", "_")
_DASHES = (" - ", " – ", " — ", ". ")  # noqa: RUF001
_SEPARATORS = ":：—–=-"  # noqa: RUF001
_BRACKETS = {"(": ")", "[": "]", "<": ">"}
_FLAGS = {
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


@dataclass(slots=True)
class _Line:
    """A line under the finger: what was opened and not yet closed, and how far it was read."""

    mark: Mark
    at: int = 0
    opened: list[str] = field(default_factory=list)

    def ahead(self) -> str:
        return self.mark.text[self.at :]

    def spaces(self) -> None:
        while self.ahead()[:1].isspace():
            self.at += 1

    def open(self) -> bool:
        before = self.at
        while wrapper := next((w for w in _WRAPPERS if self.ahead().startswith(w)), ""):
            self.opened.append(wrapper)
            self.at += len(wrapper)
        return self.at > before

    def close(self) -> None:
        while self.opened and self.ahead().startswith(self.opened[-1]):
            self.at += len(self.opened.pop())

    def piece(self, start: int, end: int) -> Mark:
        return Mark(self.mark.text[start:end], self.mark.line, self.mark.column + start)


def read_inline(mark: Mark) -> Inline | None:
    """Read a line as a parameter's head, or None where it begins with no name."""
    line = _Line(Mark(visible(mark.text), mark.line, mark.column))
    while line.ahead() and not (line.ahead()[0].isalnum() or line.ahead()[0] in "_`*$"):
        line.at += 1
    # A name may begin with an underscore of its own; `__` before a letter is bold.
    marked = not (line.ahead()[:1] == "_" and line.ahead()[1:2].isalnum()) and line.open()
    name = _name(line)
    if name is None:
        return None
    found = Inline(name, marked=marked)
    for _ in range(2):  # `**days?**` and `**days**?`
        if line.ahead().startswith("?"):
            found.entries.append(implied("Required", "no", line.piece(line.at, line.at + 1)))
            line.at += 1
        line.close()
    _group(found, line)
    _description(found, line)
    return found


def _name(line: _Line) -> Mark | None:
    start = line.at
    while (ahead := line.ahead()) and (ahead[0].isalnum() or ahead[0] in "_-.[\\$"):
        if any(ahead.startswith(w) and not ahead[len(w) :][:1].isalnum() for w in line.opened):
            break
        if ahead[0] == "[" and not ahead.startswith("[]"):
            break
        if ahead[0] in "-." and not ahead[1:2].isalnum():
            break
        line.at += 2 if ahead.startswith("[]") else 1
    if line.opened and line.ahead().startswith(" "):
        close = line.ahead().find(line.opened[-1])
        words = line.ahead()[: max(close, 0)].split("(")[0].rstrip("?: ")
        if words and words.replace(" ", "").isalnum():
            line.at += len(words)
    name = line.piece(start, line.at)
    return Mark(name.text.replace("\\", ""), name.line, name.column) if name.text else None


def _group(found: Inline, line: _Line) -> None:
    """Read `(string, required)`, in brackets of any kind or in a code span."""
    line.spaces()
    before, opened = line.at, list(line.opened)
    line.open()
    start = line.ahead()[:1]
    if start in _BRACKETS:
        end = _closing(line.ahead(), start, _BRACKETS[start])
        if end > 0:
            inside = line.piece(line.at + 1, line.at + end)
            line.at += end + 1
            line.close()
            read_details(found, inside)
            return
    elif line.opened[-1:] == ["`"] and (end := line.ahead().find("`")) > 0:
        inside = line.piece(line.at, line.at + end)
        if _is_type(inside.text):
            line.at += end
            line.close()
            read_details(found, inside)
            return
    line.at, line.opened = before, opened


def _description(found: Inline, line: _Line) -> None:
    line.spaces()
    if line.ahead()[:1] and line.ahead()[0] in _SEPARATORS:
        found.separated = True
        line.at += 1
        line.close()
        line.spaces()
        if not found.typed and line.ahead().startswith("("):
            _group(found, line)
            line.spaces()
    rest = line.piece(line.at, len(line.mark.text)).strip()
    if not found.typed and found.separated:
        rest = _leading_type(found, rest)
    if rest.text:
        found.entries.append(Entry(Mark("Description", rest.line, rest.column), rest))


def _leading_type(found: Inline, rest: Mark) -> Mark:
    """Read `string, required - the day`: a type in front of the description."""
    ends = [at for sign in _DASHES if (at := rest.text.find(sign)) > 0]
    end = min(ends, default=len(rest.text))
    head = rest.text[:end].rstrip(".")
    first = split_outside(head, ",")[0].partition("(")[0].strip()
    if not first or not _is_type(first):
        return rest
    group = head.find("(")
    if group > 0 and head.rstrip().endswith(")") and "{" not in head:
        read_details(found, rest.at(0, group).strip())
        read_details(found, rest.at(group + 1, len(head.rstrip()) - group - 2))
    else:
        read_details(found, rest.at(0, len(head)))
    after = rest.text[end:]
    skip = next((len(sign) for sign in _DASHES if after.startswith(sign)), 0)
    if end + skip >= len(rest.text):
        return Mark("", rest.line, rest.column)
    return rest.at(end + skip).strip()


def read_details(found: Inline, inside: Mark) -> None:
    """Read `string, required, default 5` into entries; what is no field becomes a note."""
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
    if folded in _FLAGS:
        found.entries.append(implied(*_FLAGS[folded], mark))
    elif not found.typed and _is_type(text):
        found.typed = True
        found.entries.append(Entry(Mark("Type", mark.line, mark.column), _inner(mark, text)))
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


def _is_type(text: str) -> bool:
    try:
        shape = read_type(text)
    except TypeProblem:
        return False
    # A number or a quoted word alone is a value; two or more are an enum.
    return shape.enum is None or len(shape.enum) > 1


def _closing(text: str, opening: str, closing: str) -> int:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == opening) - (char == closing)
        if depth == 0:
            return at
    return -1


def _inner(mark: Mark, text: str) -> Mark:
    at = max(mark.text.find(text), 0)
    return Mark(text, mark.line, mark.column + at)
