"""Read a parameter in one line: `` `date` (string, required, 1..300): the day `` and similar."""

import re
from dataclasses import dataclass, field

from toolmd._parse.blocks import Block, Node
from toolmd._parse.fields.entries import imply
from toolmd._parse.fields.table import PARAMETER
from toolmd._parse.page import Mark
from toolmd._parse.parameters.types import is_type, known_type, nearest_type, read_type
from toolmd._parse.scalars import code_spans, listed, split_outside
from toolmd._parse.words import DASHES, MAX_KEY, SEPARATORS, fold, without_invisible

FLAGS = {
    "required": ("Required", "yes"),
    "mandatory": ("Required", "yes"),
    "optional": ("Required", "no"),
    "notrequired": ("Required", "no"),
    "sensitive": ("Sensitive", "yes"),
    "verbatim": ("Verbatim", "yes"),
    "unique": ("Unique", "yes"),
}
_WORD = r"(?:\w|\\_|\$|\[\]|[-.](?=\w))"
_NAME = re.compile(
    rf"[^\w`*$]*(?:(?P<open>(?:__(?=[^\W_].*__)|[*`]|_(?=\W))+)"
    rf"(?P<marked>{_WORD}(?:{_WORD}|[ ](?=\w))*)"
    rf"|(?P<bare>{_WORD}+))"
)
_STAR = re.compile(r" ?(\\?\*)(?=[\s:(：,]|$)")  # noqa: RUF001
_NEXT_NAME = re.compile(r"[,/&+]\s*[`*_\w]|(?:or|and)\s+[`*_]")
_BRACKETS = {"(": ")", "[": "]", "<": ">"}
_MARKS = re.compile(r"\s*(?:\*\*|__|[*_`])*\s*")
_SPAN = re.compile(r"\s*(\*\*|__|[*_`])(?!\s)(.+?)\1")
_FLAG = re.compile(r"[\s,]*(\*\*|__|[*_`])?([a-zA-Z]+)(?(1)\1|(?=\s*(?:$|[,.:=：\-–—‒―−‐‑])))")  # noqa: RUF001
_PART = re.compile(rf"\s*(?: (?:[{re.escape(DASHES)}]) |\. )\s*")
_NUMBER = r"[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?"
_BETWEEN = re.compile(
    rf"(?:(?:between |from )?(?P<low>{_NUMBER}) ?(?:\.\.\.?|…|[{DASHES}]| to | and ) ?"
    rf"(?P<high>{_NUMBER})"
    rf"|(?:\.\. ?|[<≤]=? ?|at most |up to |(?:no|not) more than |max(?:imum)? )(?P<most>{_NUMBER})"
    rf"|(?:[>≥]=? ?|at least |(?:no|not) less than |min(?:imum)? )(?P<least>{_NUMBER})"
    rf"|(?P<first>{_NUMBER}) ?(?:\.\.|\+| or more))(?: (?P<unit>[a-z]+))?"
)
_STRICT = re.compile(r"[<>] ?\d")
_UNITS = {
    "Length": "characters character chars char letters letter symbols",
    "Items": "items item entries entry elements element values",
}
_LISTS = {"enum", "oneof", "values", "allowed", "one", "choices", "options"}
_THEM = {"them", "these", "those", "us", "many", "several", "each"}
_CHOICE = re.compile(r"[\w-]+(?: ?\| ?[\w-]+)+")
_DEFAULT = re.compile(r"default(?:s to |s? (?:to |is |of )?|\s*[:=])", re.IGNORECASE)


@dataclass(slots=True)
class Draft:
    """A parameter as written: its name, its fields, the values within it, and other words."""

    name: Mark
    entries: list[Node] = field(default_factory=list)
    drafts: "list[Draft]" = field(default_factory=list)
    """The properties that are written below it like parameters."""
    notes: list[Mark] = field(default_factory=list)
    """Words next to the type that are not a field."""
    prose: list[Block] = field(default_factory=list)
    marked: bool = False
    """Whether the name was in bold or a code span."""
    typed: bool = False
    separated: bool = False
    """Whether a colon or a dash followed the name."""
    questioned: bool = False
    """Whether the name is marked as optional, as in `name?`."""
    doubled: bool = False
    """Whether another name follows, as in `` `from`, `to` ``."""
    siblings: "list[Draft]" = field(default_factory=list)
    """The parameters with deeper headings below it, if its own type has no properties."""
    is_empty: bool = False
    """Whether a section states that it has no parameters."""

    @property
    def flagged(self) -> bool:
        """Return whether only words such as `(required)` follow the name."""
        return bool(self.entries) and all(entry.implied for entry in self.entries)

    @property
    def kind(self) -> str:
        """The plain type that its Type names; empty without one."""
        text = next((e.text for e in self.entries if fold(e.key.text) == "type"), "")
        types = getattr(known_type(text), "types", ())
        return types[0] if types else ""

    def add(self, key: str, value: Mark) -> None:
        """Add a field with the given value."""
        self.typed = self.typed or key in {"Type", "Enum"}
        self.entries.append(Node(value._replace(text=key), value))


def read_signature(line: Mark) -> Draft | None:
    """Read a line as a parameter's head; return None if it does not begin with a name."""
    line = Mark(without_invisible(line.text), line.line, line.column)
    head = _NAME.match(line.text)
    if head is None:
        return None
    group = "marked" if head["marked"] else "bare"
    closing = 2 if "__" in (head["open"] or "") and head[group].endswith("__") else 0
    name = line.at(head.start(group), len(head[group]) - closing)
    found = Draft(name._replace(text=name.text.replace("\\", "")), marked=bool(head["marked"]))
    end = _question_mark(
        found,
        line,
        _within(found, line, _question_mark(found, line, head.end() - closing), head["open"]),
    )
    end = _groups(found, line, end)
    between = _MARKS.match(line.text, end)
    end = between.end() if between else end
    signs = SEPARATORS + ("." if found.flagged or found.typed else "")
    if line.text[end : end + 1] in [*signs]:
        found.separated = True
        end = _groups(found, line, end + 1)
        again = re.compile(rf"\s*[{re.escape(signs)}]").match(line.text, end)
        end = again.end() if again and found.entries else end
    rest = line.at(end).strip() if end < len(line.text) else Mark("", line.line, line.column)
    found.doubled = not found.separated and _NEXT_NAME.match(rest.text) is not None
    if not found.typed and found.separated:
        rest = _leading_type(found, rest)
    if rest.text:
        found.entries.append(Node(rest._replace(text="Description"), rest))
    return found


def _question_mark(found: Draft, line: Mark, at: int) -> int:
    """Read the sign of an optional value, as in `days?`."""
    if line.text[at : at + 1] != "?":
        return at
    found.questioned = True
    found.entries.append(imply("Required", "no", line.at(at, 1)))
    return at + 1


def _within(found: Draft, line: Mark, at: int, opened: str | None) -> int:
    """Read what follows a name within its bold or code span: `` `days: int = 3` ``."""
    close = (opened or "")[::-1]
    end = line.text.find(close, at)
    if end <= at or line.text[at] not in ": (":
        return at + len(close) if end == at else at
    inside = line.text[at:end].strip(" :(").removesuffix(")")
    read_details(found, line.at(line.text.index(inside, at), len(inside)))
    return end + len(close)


def _groups(found: Draft, line: Mark, at: int) -> int:
    """Read `(string, required)`, `` `string` `` and `*required*` from `at` on; return their end."""
    while True:
        if not found.separated and (star := _STAR.match(line.text, at)):
            found.entries.append(imply("Required", "yes", line.at(star.start(1), len(star[1]))))
            at = star.end(1)
        span, flag = _SPAN.match(line.text, at), _FLAG.match(line.text, at)
        start = _MARKS.match(line.text, at)
        opening = start.end() if start else at
        close = _BRACKETS.get(line.text[opening : opening + 1], "")
        if flag and fold(flag[2]) in FLAGS:
            found.entries.append(imply(*FLAGS[fold(flag[2])], line.at(flag.start(2), len(flag[2]))))
            at = flag.end() + (line.text[flag.end() : flag.end() + 1] == ",")
        elif close and (end := _closing(line.text, opening, close)) > 0:
            read_details(found, line.at(opening + 1, end - opening - 1))
            after = re.compile(r"(?!\*:)(?:\*\*|__|[*_`])*").match(line.text, end + 1)
            at = after.end() if after else end + 1
        elif span and not found.typed and _is_typed(span[2]):
            read_details(found, line.at(span.start(2), len(span[2])))
            at = span.end()
        else:
            return at


def _is_typed(text: str) -> bool:
    first = pieces_of(text)[0].strip()
    return is_type(first) or bool(default_of(text))


def _leading_type(found: Draft, rest: Mark) -> Mark:
    """Read `string, required - the day`: a type before the description."""
    ends = [match for match in _PART.finditer(rest.text) if match.start() > 0]
    end = ends[0].start() if ends else len(rest.text)
    head = rest.text[:end].rstrip(".")
    kind, _, word = head.rpartition(" ")
    if fold(word) in FLAGS and is_type(kind):  # `integer **required** - how many`
        found.entries.append(imply(*FLAGS[fold(word)], rest.at(len(kind) + 1, len(word))))
        head = kind
    first, *others = (piece.partition("(")[0].strip() for piece in pieces_of(head))
    slipped = any(fold(word) in FLAGS for word in others) and nearest_type(first)
    if not first or not (_is_typed(first) or code_spans(head) or slipped):
        return rest
    group = head.find("(")
    if group > 0 and head.endswith(")") and "{" not in head and fold(head[:group]) != "enum":
        read_details(found, rest.at(0, group).strip())
        read_details(found, rest.at(group + 1, len(head) - group - 2))
    else:
        read_details(found, rest.at(0, len(head)))
    while end < len(rest.text):  # `required — the day`: flags between dashes
        rest = rest.at(ends[0].end() if ends else end).strip()
        ends = [match for match in _PART.finditer(rest.text) if match.start() > 0]
        end = ends[0].start() if ends else len(rest.text)
        if (flag := FLAGS.get(fold(rest.text[:end]))) is None:
            return rest
        found.entries.append(imply(*flag, rest.at(0, end)))
    return rest._replace(text="")


def read_details(found: Draft, inside: Mark) -> None:
    """Read `string, required, default 5` into entries; other words become notes."""
    spans = code_spans(inside.text)
    if spans and not any(map(is_type, spans)):
        found.add("Enum", inside)
        return
    pieces = pieces_of(inside.text)
    pieces = pieces if len(pieces) > 1 else split_outside(inside.text, ";")
    at = 0
    while pieces:
        many = _length_of_list(pieces)
        if not (many and _read_list(found, _join_pieces(inside, at, pieces[:many]))):
            many = 1
            _detail(found, _join_pieces(inside, at, pieces[:1]))
        at += sum(map(len, pieces[:many])) + many
        del pieces[:many]


def _join_pieces(inside: Mark, at: int, pieces: list[str]) -> Mark:
    width = sum(map(len, pieces)) + len(pieces) - 1
    return inside.at(at, width).strip() if width else inside._replace(text="")


def _read_list(found: Draft, mark: Mark) -> bool:
    """Read `one of a, b`; but not `one of them`."""
    lead, _, value = mark.text.partition(" ")
    value = value.removeprefix("of ") if lead.lower() == "one" else value
    one = len(listed(value)) == 1 and (" " in value or fold(value) in _THEM)
    if fold(lead) == "one" and one:
        return False
    found.add("Enum", _inner(mark, value.strip(" :")))
    return True


def _length_of_list(pieces: list[str]) -> int:
    """Return how many pieces a list such as `one of a, b` has; 0 if the first begins none."""
    lead, _, value = pieces[0].strip().partition(" ")
    if fold(lead.rstrip(":=")) not in _LISTS or not value:
        return 0
    end = len(pieces)
    while end > 1 and _follows(pieces[end - 1]):
        end -= 1
    # Of `one of required, optional`, both are values.
    return len(pieces) if end == 1 and fold(value.rpartition(" ")[2]) in FLAGS else end


def _follows(piece: str) -> bool:
    text = piece.strip().strip("`*_").lower()
    return fold(text) in FLAGS or _DEFAULT.match(text) is not None


def _detail(found: Draft, mark: Mark) -> None:
    text = mark.text.strip("`*_ ")
    kind, _, inside = text.partition("(")
    if not text:
        return
    if fold(text) in FLAGS:
        found.entries.append(imply(*FLAGS[fold(text)], mark))
    elif is_type(text):
        (_second_type if found.typed else Draft.add)(found, "Type", _inner(mark, text))
    elif not found.typed and (default := default_of(text)):
        found.add("Type", _inner(mark, text[: -len(default)].rstrip(" =")))
        found.add("Default", _inner(mark, default))
    elif (not found.typed and code_spans(mark.text)) or (found.typed and _CHOICE.fullmatch(text)):
        found.add("Enum", _inner(mark, text if found.typed else mark.text))
    elif not found.typed and inside.endswith(")") and inside.count(")") == 1 and is_type(kind):
        if fold(kind) == "enum":
            found.add("Enum", _inner(mark, inside[:-1]))
        else:
            found.add("Type", _inner(mark, kind.rstrip()))
            read_details(found, _inner(mark, inside[:-1]))
    elif bounds := read_bounds(text):
        for key, value in bounds:
            at = (mark.text.rfind if key.startswith("Max") else mark.text.find)(value)
            found.entries.append(imply(key, value, mark._replace(column=mark.column + max(at, 0))))
    elif not _keyed(found, mark):
        found.notes.append(mark)


def _second_type(found: Draft, key: str, mark: Mark) -> None:
    """Read `array, string` as an array of strings, and `string, date` as a string with a format."""
    first = next((e.text for e in found.entries if e.key.text == key), "any")
    one, two = read_type(first), read_type(mark.text)
    if one.types == ("array",) and one.items is None:
        found.add("Items", mark)
    elif one.types != two.types:
        found.add(key, mark)  # reported when fields are named
    elif two.format is not None and one.format is None:
        found.add("Format", mark._replace(text=two.format))
    elif two.enum is not None and one.enum is None:
        found.add("Enum", _inner(mark, re.sub(r"(?i)^enum\s*[=:]\s*", "", mark.text)))
    else:
        found.notes.append(mark)


def _keyed(found: Draft, mark: Mark) -> bool:
    """Read `default 5`, `max length: 100` or `pattern=…`, the longest key first."""
    text = mark.text
    for sign in (":", "=", " "):
        for at in (i for i in range(min(len(text), MAX_KEY) - 1, 0, -1) if text[i] == sign):
            known = PARAMETER.field(text[:at])
            if known is None or (known.attribute == "one_of" and len(listed(text[at:])) < 2):  # noqa: PLR2004
                continue
            value = re.sub(r"^(?:to|is|of) ", "", text[at + 1 :].strip())
            found.entries.append(Node(_inner(mark, text[:at]), _inner(mark, value)))
            return True
    return False


def read_bounds(text: str) -> list[tuple[str, str]]:
    """Return the fields that a text such as `1..300` stands for, by name."""
    text = " ".join(text.lower().split())
    if (found := _BETWEEN.fullmatch(text)) is None or _STRICT.match(text):
        return []
    low = found["low"] or found["least"] or found["first"]
    names = ["Minimum", "Maximum"]
    if unit := found["unit"]:
        kind = next((kind for kind, words in _UNITS.items() if unit in words.split()), "")
        names = [f"Min {kind}", f"Max {kind}"] if kind else []
    pairs = zip(names, (low, found["high"] or found["most"]), strict=False)
    return [(name, value) for name, value in pairs if value]


def default_of(text: str) -> str:
    """Return the default after a type and `=`, as in `int = 5`, or an empty text."""
    kind, _, default = text.rpartition("=")
    return default.strip("` ") if kind and is_type(kind.rstrip()) else ""


_LONGEST = 1000
_OPEN_QUOTE = re.compile(r"""[\s=:](["'])(?:(?!\1).)*$""")


def pieces_of(text: str) -> list[str]:
    """Split at commas outside quotes, brackets, `Record<…>` and numbers such as `0,5`."""
    pieces: list[str] = []
    for piece in split_outside(text, ","):
        before = pieces[-1] if pieces else ""
        quote = _OPEN_QUOTE.search(before)
        is_open = (quote and quote[1] in piece) or before.count("<") > before.count(">")
        if (
            pieces
            and len(text) <= _LONGEST
            and (
                (is_open and ("<" not in before or ">" in piece))
                or (before[-1:].isdigit() and piece[:1].isdigit())
            )
        ):
            pieces[-1] = f"{before},{piece}"
        else:
            pieces.append(piece)
    return pieces


def _inner(mark: Mark, text: str) -> Mark:
    return Mark(text, mark.line, mark.column + max(mark.text.find(text), 0))


def _closing(text: str, start: int, closing: str) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == text[start]) - (text[at] == closing)
        if depth == 0:
            return at
    return -1
