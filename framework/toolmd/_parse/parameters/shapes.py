"""Build parameters from drafts: read their types, check their fields, report the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, Literal

from toolmd._parse.blocks.block import Bullets, Item
from toolmd._parse.blocks.prose import prose
from toolmd._parse.document.strays import report_strays, report_unknown
from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.naming import Fields, name_fields
from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.fields.values import read_values
from toolmd._parse.parameters.constraints import (
    check_fit,
    check_place,
    finished,
    has_place,
    read_enum,
    too_many,
)
from toolmd._parse.parameters.drafts import ParameterDraft, nest_dotted, spread
from toolmd._parse.parameters.misplaced import report_second_name, report_unmarked
from toolmd._parse.parameters.nested import item_draft, literal_properties, property_drafts
from toolmd._parse.parameters.notes import report_misspelt, sounds_restrictive
from toolmd._parse.parameters.one_of import (
    check_one_of,
    check_shape,
    read_one_of,
    report_foreign,
)
from toolmd._parse.parameters.type_field import UNREADABLE, read_type_field
from toolmd._parse.source.page import Page
from toolmd._parse.words import scalars
from toolmd._parse.words.keys import fold, says_none
from toolmd._parse.words.names import parameter_name
from toolmd._types.code import Code
from toolmd._types.schema import KEYWORDS, UPPER, JsonType, Parameter, Schema

MAX_PARAMETERS = 128
_MAX_DRAFTS = 1024
"""The most headings, bullets and rows that are read as parameters or as their fields."""
MAX_DEPTH = 16
_ANY = Schema()
_ATTRIBUTES = frozenset(field.name for field in fields_of(Schema))
_FORMATS = {
    **{fold(name): name for name in ("date", "time", "email", "uri", "uuid")},
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


def read_parameters(
    page: Page, drafts: list[ParameterDraft], depth: int = 0
) -> tuple[Parameter, ...]:
    """Build the parameters of drafts in file order; report every error."""
    parameters: dict[str, Parameter] = {}
    lines: dict[str, int] = {}
    if len(drafts) > _MAX_DRAFTS:
        too_many(page, drafts[_MAX_DRAFTS].name, "parameters and fields", _MAX_DRAFTS)
    for draft in drafts[:_MAX_DRAFTS] if depth == 0 else ():
        if (root := draft.name.text.replace("[", ".").partition(".")[0]) != draft.name.text:
            page.named("parameter", root, draft.name)  # `range.start` names `range`
    nested = nest_dotted(page, drafts[:_MAX_DRAFTS])
    marked = any(draft.questioned for draft in nested)
    for draft in nested:
        name = parameter_name(page, draft.name)
        if draft.doubled:
            report_second_name(page, draft.name)
        if (key := name.replace("-", "_")) in lines:
            page.error(
                Code.DUPLICATE_PARAMETER,
                draft.name,
                f"there are two parameters '{name}'",
                f"rename or remove one; the first is in line {lines[key]}",
            )
            continue
        if depth == 0 and draft.written:
            page.named("parameter", name, draft.name, declares=True)
        reader = ShapeReader(page, f"parameter '{name}'", depth)
        reader.required = marked and draft.written  # if others are marked optional, as `name?`
        reader.role = "part" if depth else "parameter"
        parameters[name] = Parameter(name, *reader.read(draft))
        lines[key] = draft.name.line
        if len(parameters) == MAX_PARAMETERS + 1:
            too_many(page, draft.name, "parameters", MAX_PARAMETERS)
    return tuple(parameters.values())


@dataclass(slots=True)
class ShapeReader:
    """A reader of one schema: of a parameter, an item or a result."""

    page: Page
    where: str
    depth: int = 0
    typed: Schema | None = None
    """The schema that applies without a Type of its own: `list[int]` types its items."""
    required: bool = False
    """Whether it is required by default."""
    is_shape: bool = False
    """Whether it is a shape of a One Of, which has fewer fields."""
    role: Literal["parameter", "result", "part"] = "part"

    def read(self, draft: ParameterDraft) -> tuple[Schema, bool]:
        """Return the schema, and whether the value is required."""
        if self.depth > MAX_DEPTH:
            self.page.error(
                Code.NESTED_TOO_DEEP,
                draft.name,
                f"{self.where} is deeper than {MAX_DEPTH} levels",
                "make it flatter, or write `object` without its fields",
            )
            return Schema(), False
        spread(self.page, draft)
        fields = name_fields(self.page, draft.entries, PARAMETER)
        typed = read_type_field(self.page, self.where, fields, draft)
        if self.is_shape:
            report_foreign(self.page, self.where, fields)
        said = dict(typed)
        if self.typed is not None and fields.entry("types") is None:
            said |= {name: getattr(self.typed, name) for name in _ATTRIBUTES}
            said = {name: value for name, value in said.items() if value != getattr(_ANY, name)}
        values = read_values(self.page, fields)
        check_place(self.page, self.where, self.role, fields)
        self._unknown(fields, draft)
        if "one_of" in fields.known or draft.shapes:
            said["one_of"] = read_one_of(self.page, self.where, fields, draft, self._shape)
        nested = self._nested(fields, draft, said)
        said |= {} if typed is UNREADABLE else nested
        said |= {k: v for k, v in values.items() if k in _ATTRIBUTES and k != "types"}
        self._describe(said, draft)
        if "format" in said:
            said["format"] = _FORMATS.get(fold(str(said["format"])), said["format"])
        self._infer(said, fields, draft)
        if "one_of" in said or "discriminator" in fields.known:
            check_one_of(self.page, self.where, draft.name, fields, said)
        if self.is_shape:
            check_shape(self.page, self.where, draft.name, said)
        read_enum(self.page, self.where, fields, said)
        check_fit(self.page, self.where, fields, said)
        if values.get("required") is not None and values["required"] is values.get("optional"):
            self.page.error(
                Code.CONFLICT,
                fields.known["optional"][1].key,
                f"Required and Optional of {self.where} contradict each other",
                "keep one of the two",
            )
        shape = finished(self.page, self.where, fields, said)
        unsaid = not values["optional"] if "optional" in values else self.required
        required = bool(values.get("required", unsaid))
        return shape, required

    def _unknown(self, fields: Fields, draft: ParameterDraft) -> None:
        """Keep unknown fields in the description, unless they were meant to restrict."""
        for entry in fields.unknown:
            if report_unknown(self.page, entry, PARAMETER):
                continue
            draft.prose.append(Bullets([_as_written(entry)], ordered=False))
            known = [f.name for f in PARAMETER.fields if has_place(f.attribute, self.role)]
            self.page.warn(
                Code.UNKNOWN_FIELD,
                entry.key,
                f"unknown field '{entry.name}' for {self.where}; it is kept in the description",
                f"remove it, or use one of {', '.join(known)}",
            )

    def _nested(
        self, fields: Fields, draft: ParameterDraft, said: dict[str, Any]
    ) -> dict[str, Any]:
        nested: dict[str, Any] = {}
        items = [d for d in draft.drafts if d.name.text == "[]"]
        values = [d for d in draft.drafts if d.name.text == "{}"]
        properties = [d for d in draft.drafts if d.name.text not in {"[]", "{}"}]
        literal: tuple[Parameter, ...] = ()
        if (entry := fields.entry("properties")) is not None and not (
            literal := literal_properties(entry)
        ):
            properties = property_drafts(self.page, self.where, entry, draft) + properties
        if literal or (self.is_shape and entry is not None and says_none(entry.text)):
            nested["properties"] = literal
        if properties and "array" in said.get("types", ()) and "object" not in said["types"]:
            items.append(ParameterDraft(draft.name, drafts=properties))
            properties = []
        if (entry := fields.entry("items")) is not None:
            items.insert(0, item_draft(self.page, entry))
        if items:
            nested["items"] = self._items(items, said.get("items"))
        if (entry := fields.entry("values")) is not None:
            values.insert(0, item_draft(self.page, entry))
        if values:
            nested["values"] = self._items(values, said.get("values"))
        if properties:
            nested["properties"] = read_parameters(self.page, properties, self.depth + 1)
        return nested

    def _items(self, drafts: list[ParameterDraft], typed: Schema | None) -> Schema:
        """Join all entries about the items into one schema, with the part that Type defines."""
        item = drafts[0]
        for more in drafts[1:]:
            item.entries += more.entries
            item.drafts += more.drafts
            item.notes += more.notes
            item.prose += more.prose
        reading = ShapeReader(self.page, f"an item of {self.where}", self.depth + 1)
        reading.typed = typed
        shape, _ = reading.read(item)
        if typed is not None and typed.types and set(typed.types) != set(shape.types):
            self.page.error(
                Code.DUPLICATE_FIELD,
                item.name,
                f"Type and Items name different types for an item of {self.where}",
                "keep one of the two",
            )
        return shape

    def _shape(self, name: str, draft: ParameterDraft) -> Schema:
        where = f"the shape '{name}' of {self.where}"
        return ShapeReader(self.page, where, self.depth, is_shape=True).read(draft)[0]

    def _describe(self, said: dict[str, Any], draft: ParameterDraft) -> None:
        """Keep prose and notes in the description; report that notes enforce nothing."""
        report_strays(self.page, draft.prose, (), PARAMETER)
        report_unmarked(self.page, self.where, draft.prose)
        parts = [said.get("description", ""), prose(draft.prose)]
        text = "\n\n".join(part for part in parts if part)
        for note in draft.notes:
            if report_misspelt(self.page, self.where, note, said):
                continue
            text = f"{text} ({note.text})".strip()
            if sounds_restrictive(note.text):
                self.page.error(
                    Code.UNKNOWN_FIELD,
                    note,
                    f"'{note.text}' next to {self.where} sounds like a restriction, and is none "
                    "that can be read: it would restrict nothing",
                    "write it as a field: Default, Minimum, Max Length, Pattern; reword it if it "
                    "restricts nothing",
                )
                continue
            self.page.hint(
                Code.UNREAD_DETAIL,
                note,
                f"'{note.text}' is kept in the description of {self.where} and enforces nothing",
                "if it restricts, write it as a field: Format, Minimum, Max Length, Pattern",
            )
        if text:
            said["description"] = text

    def _infer(self, said: dict[str, Any], fields: Fields, draft: ParameterDraft) -> None:
        """Infer a missing type from the other fields."""
        if "types" in said or fields.entry("types") is not None:
            if _is_object(said) and said.get("types") == ():
                said["types"] = ("object",)
            return
        if self.is_shape or _is_object(said):
            said["types"] = ("object",)
        elif "items" in said or _is_bounded(said, "array"):
            said["types"] = ("array",)
        elif (enum := fields.entry("enum")) is not None:
            words = scalars.listed(enum.text)
            whole = words and all(isinstance(scalars.number(word), int) for word in words)
            said["types"] = ("integer",) if whole else ("string",)
        else:
            said["types"] = ("number",) if _is_bounded(said, "number") else ("string",)
            self.page.warn(
                Code.MISSING_TYPE,
                draft.name,
                f"Type is missing for {self.where}; '{said['types'][0]}' is used",
                f"add `- **Type**: {said['types'][0]}`",
            )


def _is_object(said: Mapping[str, Any]) -> bool:
    return said.get("properties") is not None or "one_of" in said or "values" in said


def _is_bounded(said: Mapping[str, Any], kind: JsonType) -> bool:
    """Return whether a field is a bound of values of a type."""
    bounds = (*UPPER, *UPPER.values())
    return any(name in said and kind in KEYWORDS[name].fits for name in bounds)


def _as_written(entry: Entry) -> Item:
    text = f"**{entry.name}**: {entry.text}".rstrip()
    return Item(entry.key._replace(text=text), entry.key.line, entry.key.column, entry.blocks)
