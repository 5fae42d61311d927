"""Drafts to parameters: types read, fields held against them, nothing dropped in silence."""

from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, ValidationError

from toolmark._model.code import Code
from toolmark._model.schema import JSON_TYPES, Parameter, Schema
from toolmark._parse import scalars
from toolmark._parse.drafts import Draft, fill, from_item, nest_dotted
from toolmark._parse.entries import Entry, Fields, flow, implied, name_fields
from toolmark._parse.fields import PARAMETER, SectionTable
from toolmark._parse.inline import Inline, read_details, read_inline
from toolmark._parse.keys import fold, plain, split
from toolmark._parse.outline import Bullets
from toolmark._parse.page import Mark, Page, replace
from toolmark._parse.prose import prose
from toolmark._parse.types import TypeProblem, read_type
from toolmark._parse.values import code_text, read_values
from toolmark._values import pattern_fault, problems

MAX_PARAMETERS = 128
MAX_ENUM = 256
_MAX_DRAFTS = 1024
"""The most headings, bullets and rows that are read as parameters or as fields of them."""
MAX_DEPTH = 16
_MAX_NAME = 64
_FORMATS = {
    "datetime": "date-time",
    "isodatetime": "date-time",
    "iso8601": "date-time",
    "timestamp": "date-time",
    "isodate": "date",
    "yyyymmdd": "date",
    "hhmm": "time",
    "url": "uri",
    "link": "uri",
}


def read_parameters(page: Page, drafts: list[Draft], depth: int = 0) -> tuple[Parameter, ...]:
    """Give the parameters of drafts in file order; every mistake is reported."""
    parameters: dict[str, Parameter] = {}
    lines: dict[str, int] = {}
    if len(drafts) > _MAX_DRAFTS:
        _too_many(page, drafts[_MAX_DRAFTS].name, "parameters and fields", _MAX_DRAFTS)
    for draft in nest_dotted(page, drafts[:_MAX_DRAFTS]):
        name = _name(page, draft.name)
        if name in parameters:
            page.error(
                Code.DUPLICATE_PARAMETER,
                draft.name,
                f"there are two parameters '{name}'",
                f"rename one or take it away; the first stands in line {lines[name]}",
            )
            continue
        parameters[name] = _parameter(page, name, draft, depth)
        lines[name] = draft.name.line
        if len(parameters) == MAX_PARAMETERS + 1:
            _too_many(page, draft.name, "parameters", MAX_PARAMETERS)
    return tuple(parameters.values())


def _parameter(page: Page, name: str, draft: Draft, depth: int) -> Parameter:
    reading = ShapeReader(page, f"parameter '{name}'", PARAMETER, depth)
    shape, required = reading.read(draft)
    return Parameter(name=name, shape=shape, required=required)


def _name(page: Page, mark: Mark) -> str:
    """Give a parameter's name; words with spaces are repaired, other signs refused."""
    name = plain(mark.text)
    bare = name.replace("-", "_").removeprefix("$")
    if bare.isidentifier() and bare.isascii() and len(name) <= _MAX_NAME and not bare[0].isdigit():
        return name
    mended = "_".join(
        "".join(c if c.isalnum() and c.isascii() else " " for c in name).lower().split()
    )[:_MAX_NAME]
    if " " in name and mended.isidentifier():
        page.warn(
            Code.INVALID_NAME,
            mark,
            f"'{name}' is no name for a parameter; read as '{mended}'",
            f"write '{mended}'",
            replace(mark, mended),
        )
        return mended
    page.error(
        Code.INVALID_NAME,
        mark,
        f"'{name}' is no name for a parameter",
        "use letters, digits and _, at most 64, a letter first",
    )
    return name


@dataclass(slots=True)
class ShapeReader:
    """Reads one shape: of a parameter, of an item, of a result."""

    page: Page
    where: str
    table: SectionTable
    depth: int = 0

    def read(self, draft: Draft) -> tuple[Schema, bool]:
        """Give the shape and whether it is required."""
        if self.depth > MAX_DEPTH:
            self.page.error(
                Code.NESTED_TOO_DEEP,
                draft.name,
                f"{self.where} lies deeper than {MAX_DEPTH} levels",
                "make it flatter, or say `object` without its fields",
            )
            return Schema(), False
        _spread(self.page, draft)
        fields = name_fields(self.page, draft.entries, self.table)
        said, extra = self._type(fields, draft)
        for key, entry in extra.items():
            fields.known.setdefault(key, entry)
        values = read_values(self.page, fields)
        self._unknown(fields)
        said |= self._nested(fields, draft, said)
        said |= {k: v for k, v in values.items() if k in Schema.model_fields and k != "types"}
        self._describe(said, fields, draft)
        if "format" in said:
            said["format"] = _FORMATS.get(fold(str(said["format"])), said["format"])
        self._infer(said, fields, draft)
        self._enum(said, fields)
        self._fits(said, fields)
        shape = self._finish(said, fields)
        required = bool(values.get("required", "optional" in values and not values["optional"]))
        return shape, required

    def _type(self, fields: Fields, draft: Draft) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read Type; flags beside it (`string, required`) count as fields of their own."""
        entry = fields.entry("types")
        if entry is None:
            return {}, {}
        mark = Mark(flow(entry.value.text), entry.value.line, entry.value.column)
        if mark.text in JSON_TYPES:
            return {"types": (mark.text,)}, {}
        try:
            return read_type(mark.text).fields(), {}
        except TypeProblem as problem:
            inline = Inline(mark)
            group = mark.text.find("(")
            if group > 0 and mark.text.endswith(")"):
                read_details(inline, mark.at(0, group).strip())
                if inline.typed:
                    read_details(inline, mark.at(group + 1, len(mark.text) - group - 2))
            else:
                read_details(inline, mark)
            typed = next((e for e in inline.entries if e.key.text == "Type"), None)
            if typed is None:
                self._unknown_type(entry, mark, problem)
                return {"types": ("string",)}, {}
            draft.notes += inline.notes
            beside = [e for e in inline.entries if e is not typed]
            more = name_fields(self.page, beside, self.table)
            return read_type(typed.value.text).fields(), more.known

    def _unknown_type(self, entry: Entry, mark: Mark, problem: TypeProblem) -> None:
        word = problem.word or mark.text
        place = self.page.mark(word, entry.value.line, entry.value.column + problem.offset)
        if not word:
            self.page.error(
                Code.UNKNOWN_TYPE, entry.key, f"no type for {self.where}", "write `string`"
            )
            return
        what = "unknown type" if str(problem) == "is no type" else "unreadable type"
        near = problem.suggestion
        self.page.error(
            Code.UNKNOWN_TYPE,
            place,
            f"{what} '{word}' for {self.where}",
            f"did you mean '{near}'?"
            if near
            else "write string, number, integer, boolean, object or array",
            replace(place, near) if near else (),
        )

    def _unknown(self, fields: Fields) -> None:
        for entry in fields.unknown:
            self.page.warn(
                Code.UNKNOWN_FIELD,
                entry.key,
                f"unknown field '{entry.name}' for {self.where}; it is not kept",
                f"take it away, or use one of {', '.join(f.name for f in self.table.fields)}",
            )

    def _nested(self, fields: Fields, draft: Draft, said: dict[str, Any]) -> dict[str, Any]:
        nested: dict[str, Any] = {}
        items = [d for d in draft.drafts if d.name.text == "[]"]
        properties = [d for d in draft.drafts if d.name.text != "[]"]
        if (entry := fields.entry("items")) is not None:
            nested["items"] = self._items(entry)
        elif items:
            nested["items"], _ = self._deeper("an item", PARAMETER).read(items[0])
        if (entry := fields.entry("properties")) is not None:
            properties = self._property_drafts(entry) + properties
        if properties and "array" in said.get("types", ()) and "object" not in said["types"]:
            item = Draft(draft.name, [implied("Type", "object", draft.name)], properties)
            nested["items"], _ = self._deeper("an item", PARAMETER).read(item)
        elif properties:
            found = read_parameters(self.page, properties, self.depth + 1)
            nested["properties"] = found
        return nested

    def _items(self, entry: Entry) -> Schema:
        draft = Draft(entry.key)
        if entry.text and not entry.text.startswith("("):
            draft.entries.append(Entry(Mark("Type", entry.key.line, entry.key.column), entry.value))
        fill(self.page, draft, entry.blocks)
        shape, _ = self._deeper("an item", PARAMETER).read(draft)
        return shape

    def _property_drafts(self, entry: Entry) -> list[Draft]:
        drafts = []
        for item in entry.items:
            inline = read_inline(item.mark)
            if inline is None:
                self.page.error(
                    Code.INVALID_NAME,
                    item.mark if item.mark.text else entry.key,
                    f"a field of {self.where} has no name",
                    "write `- **name**:` with its fields below",
                )
                continue
            drafts.append(from_item(self.page, item, inline))
        if entry.text:
            for name in scalars.listed(entry.text):
                mark = self.page.mark(name, entry.value.line, entry.value.column)
                inline = read_inline(mark)
                if inline is not None:
                    drafts.append(Draft.of(inline))
        return drafts

    def _deeper(self, what: str, table: SectionTable) -> "ShapeReader":
        return ShapeReader(self.page, f"{what} of {self.where}", table, self.depth + 1)

    def _describe(self, said: dict[str, Any], fields: Fields, draft: Draft) -> None:
        """Keep prose and notes in the description, and say of notes that they enforce nothing."""
        del fields
        parts = [said.get("description", ""), prose(draft.prose)]
        text = "\n\n".join(part for part in parts if part)
        for note in draft.notes:
            text = f"{text} ({note.text})".strip()
            self.page.hint(
                Code.UNREAD_DETAIL,
                note,
                f"'{note.text}' is kept in the description of {self.where} and enforces nothing",
                "if it restricts, write it as a field: Format, Minimum, Max Length, Pattern",
            )
        if text:
            said["description"] = text

    def _infer(self, said: dict[str, Any], fields: Fields, draft: Draft) -> None:
        """Take a type from the other fields where none is written."""
        if "types" in said or fields.entry("types") is not None:
            if said.get("properties") is not None and said.get("types") == ():
                said["types"] = ("object",)
            return
        if "properties" in said:
            said["types"] = ("object",)
        elif "items" in said or "min_items" in said or "max_items" in said:
            said["types"] = ("array",)
        else:
            numeric = "minimum" in said or "maximum" in said
            said["types"] = ("number",) if numeric else ("string",)
            self.page.warn(
                Code.MISSING_TYPE,
                draft.name,
                f"no Type for {self.where}; '{said['types'][0]}' was taken",
                f"add `- **Type**: {said['types'][0]}`",
            )

    def _enum(self, said: dict[str, Any], fields: Fields) -> None:
        entry = fields.entry("enum")
        if entry is None:
            return
        shape = Schema(types=_of_items(said))
        values: list[JsonValue] = []
        notes: list[str] = []
        words = _enum_words(self.page, entry)
        if len(words) > MAX_ENUM:
            _too_many(self.page, entry.key, "values in an enum", MAX_ENUM)
        for word, note in words[:MAX_ENUM]:
            value, fits = scalars.literal(word.text, shape)
            if not fits:
                self.page.error(
                    Code.INVALID_ENUM,
                    word,
                    f"'{word.text}' in the enum of {self.where} is no "
                    f"{' or '.join(shape.types)}",
                    "write a value of the type, or change the type",
                )
            elif not any(value == v and type(value) is type(v) for v in values):
                values.append(value)
            notes += [f"{value}: {note}"] if note else []
        if not values and not self.page.refused:
            self.page.error(
                Code.EMPTY_ENUM,
                entry.key,
                f"the enum of {self.where} names no value, so nothing could pass",
                "write the values separated by commas, or take Enum away",
            )
        if notes:
            said["description"] = f"{said.get('description', '')} ({'; '.join(notes)})".strip()
        if "array" in said["types"] and len(said["types"]) == 1:
            items: Schema = said.get("items") or Schema(types=("string",))
            said["items"] = items.model_copy(update={"enum": tuple(values)})
        else:
            said["enum"] = tuple(values)

    def _fits(self, said: dict[str, Any], fields: Fields) -> None:
        """Refuse a field that speaks of another type, and bounds that nothing could meet."""
        types = said["types"]
        for known, entry in fields.known.values():
            if types and known.fits and not set(known.fits) & set(types):
                if known.attribute == "properties" and "array" in types:
                    continue
                self.page.error(
                    Code.FIELD_MISFIT,
                    entry.key,
                    f"{known.name} does not fit {self.where}, which is {' or '.join(said['types'])}",
                    f"{known.name} is for {' and '.join(known.fits)}",
                )
        for low, high in _BOUNDS:
            if low in said and high in said and said[low] > said[high]:
                entry = fields.entry(low)
                self.page.error(
                    Code.INVALID_RANGE,
                    entry.value if entry else Mark("", 1, 1),
                    f"the bounds of {self.where} leave nothing between {said[low]} and {said[high]}",
                    "swap them, or mend one",
                )
        if said["types"] == ("array",) and said.get("items") is None:
            entry = fields.entry("types")
            self.page.hint(
                Code.ARRAY_WITHOUT_ITEMS,
                entry.value if entry else Mark("", 1, 1),
                f"{self.where} is an array of anything",
                "say what its items are with `- **Items**:`",
            )

    def _finish(self, said: dict[str, Any], fields: Fields) -> Schema:
        """Make the noun; then read Default and Example by it and hold them against it."""
        try:
            shape = Schema(**said)
        except ValidationError as error:
            first = error.errors()[0]
            self.page.error(
                Code.UNREADABLE_VALUE, Mark("", 1, 1), f"{self.where}: {first['msg']}"
            )
            return Schema()
        if (pattern := fields.entry("pattern")) is not None:
            shape = self._pattern(shape, pattern)
        for attribute, code in (("default", Code.INVALID_DEFAULT), ("example", Code.INVALID_EXAMPLE)):
            entry = fields.entry(attribute)
            if entry is None:
                continue
            if attribute == "default" and _no_default(entry, shape):
                continue
            text = entry.text or "\n".join(i.mark.text for i in entry.items)
            fences = prose(entry.blocks) if not text else ""
            value, fits = scalars.literal(text or _fenced(fences), shape)
            wrong = problems(value, shape) if fits else ()
            if not fits or wrong:
                reason = wrong[0].message if wrong else f"it is no {' or '.join(shape.types)}"
                report = self.page.error if attribute == "default" else self.page.warn
                report(
                    code,
                    entry.value if entry.value.text else entry.key,
                    f"the {attribute} of {self.where} is outside its own schema: {reason}",
                    "write a value that a call could give",
                )
                continue
            shape = shape.model_copy(update={attribute: value, f"has_{attribute}": True})
        return shape

    def _pattern(self, shape: Schema, entry: Entry) -> Schema:
        fault = pattern_fault(shape.pattern or "")
        if fault is not None:
            self.page.error(
                Code.INVALID_PATTERN,
                entry.value,
                f"{fault} ({self.where})",
                "RE2 has no look-around and no back-references",
            )
            return shape.model_copy(update={"pattern": None})
        return shape


_BOUNDS = (("minimum", "maximum"), ("min_length", "max_length"), ("min_items", "max_items"))
_OWN_BLOCKS = {"description", "items", "properties", "unit"}
"""Fields whose readers take what is nested below them whole."""


def _spread(page: Page, draft: Draft) -> None:
    """Give what is nested below a one-line field, such as Type, to the parameter itself."""
    for entry in [e for e in draft.entries if e.blocks]:
        known = PARAMETER.field(entry.key.text)
        if known is None or known.attribute in _OWN_BLOCKS:
            continue
        if known.attribute == "types":
            fill(page, draft, entry.blocks)
            entry.blocks = []
        elif known.attribute in {"enum", "default", "example", "pattern"} and entry.text:
            lists = known.attribute == "enum"
            draft.prose += [b for b in entry.blocks if not (lists and isinstance(b, Bullets))]
            entry.blocks = [b for b in entry.blocks if lists and isinstance(b, Bullets)]
        elif known.attribute == "enum":
            draft.prose += [b for b in entry.blocks if not isinstance(b, Bullets)]


def _of_items(said: dict[str, Any]) -> tuple[Any, ...]:
    """Give the types of an enum's values: an array's enum speaks of its items."""
    if said["types"] == ("array",):
        items: Schema | None = said.get("items")
        return items.types if items else ("string",)
    types: tuple[Any, ...] = said["types"]
    return types


def _enum_words(page: Page, entry: Entry) -> list[tuple[Mark, str]]:
    words: list[tuple[Mark, str]] = []
    column = entry.value.column
    for word in scalars.listed(entry.text):
        mark = page.mark(word, entry.value.line, column)
        column = mark.column + len(word) if mark.column >= column else column
        words.append((mark, ""))
    for item in entry.items:
        pair = split(item.mark)
        if pair is not None and (pair.marked or pair.value.text and " " in item.mark.text):
            words.append((pair.key, flow(pair.value.text)))
        else:
            words.append((item.mark, ""))
    return words


def _no_default(entry: Entry, shape: Schema) -> bool:
    """Whether `None` stands for no default: it does where the type has no null."""
    return entry.text.strip("`_ ").lower() in {"none", "null", "-", "n/a", ""} and (
        "null" not in shape.types and not entry.blocks
    )


def _fenced(text: str) -> str:
    return code_text(text.split("\n", 1)[1].rsplit("\n", 1)[0]) if "\n" in text else text


def _too_many(page: Page, mark: Mark, what: str, most: int) -> None:
    page.error(Code.TOO_MANY, mark, f"more than {most} {what}", "split the tool in two")
