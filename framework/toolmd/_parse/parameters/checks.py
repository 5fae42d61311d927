"""Check the fields of a value against each other, and report words that are no field."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from toolmd._parse import scalars
from toolmd._parse.blocks import Block, Bullets, Comment, Fence, Node, prose
from toolmd._parse.fields.entries import Fields
from toolmd._parse.fields.table import PARAMETER, UNSUPPORTED
from toolmd._parse.fields.values import report_remark, without_remark
from toolmd._parse.page import Mark, Page
from toolmd._parse.page import replace as fix_of
from toolmd._parse.parameters.signature import FLAGS, Draft, read_details
from toolmd._parse.parameters.types import TypeProblem, nearest_type
from toolmd._parse.scalars import number
from toolmd._parse.words import code_text, flow, fold, nearest, plain, split
from toolmd._types.code import Code
from toolmd._types.model_view import unknown_fields
from toolmd._types.schema import UPPER, Parameter, Schema
from toolmd._validation import pattern_fault, problems
from toolmd._validation.keywords import identity

_BOUNDED = re.compile(r"\.\.|…|[<>≤≥=]|^\d+$|^[(\[][\d., ]+[)\]]$")


def report_second_name(page: Page, name: Mark) -> None:
    """Report `` `from`, `to` (date) ``, where the second name would begin a description."""
    what = "two parameters are on one line; the second would be read as the description of "
    page.error(Code.INVALID_NAME, name, f"{what}'{name.text}'", "write a line for each parameter")


def report_nested(page: Page, description: Node) -> None:
    """Report the parameter's fields that are nested below its Description: they would be prose."""
    for entry in [e for item in description.items if (e := item.entry) is not None]:
        known, text = PARAMETER.field(entry.name), plain(entry.text)
        is_marked = split(entry.key) or entry.key.text[:1] in "*_`"
        if (
            known is not None
            and text
            and (is_marked or known.restricts or number(text) is not None)
        ):
            what = f"'{known.name}' is nested below Description, where it would be prose"
            page.error(Code.MISPLACED_FIELD, entry.key, what, "unindent it")


def report_unmarked(page: Page, where: str, kept: Sequence[Block]) -> None:
    """Report bullets such as `- max length 5` that read as fields, but are none."""
    for item in [i for block in kept if isinstance(block, Bullets) for i in block.items]:
        found = Draft(item.mark, typed=True)
        read_details(found, item.mark)
        values = [e for e in found.entries if e.implied or number(e.text) is not None]
        if values and values == found.entries and not found.notes:
            what = f"'{plain(item.mark.text)}' is kept in the description of {where}, and would "
            fields = " and ".join(f"`- **{e.name.title()}**: {e.text}`" for e in values)
            page.error(
                Code.UNREADABLE_VALUE, item.mark, f"{what}restrict nothing", f"write {fields}"
            )


def report_note(page: Page, where: str, note: Mark, keywords: dict[str, Any]) -> bool:
    """Report words next to a type that no field reads; return whether they are kept as text."""
    word = note.text.strip("`*_ ")
    near, code, what = nearest(word, FLAGS), Code.UNKNOWN_FIELD, "unknown field"
    if "types" not in keywords and (kind := nearest_type(word)):
        near, code, what = kind, Code.UNKNOWN_TYPE, "unknown type"
        keywords["types"] = ()  # any, so that no second error follows from it
    first = word.split(" ")[0]
    if near is not None or (" " in word and nearest(first, [f.name for f in PARAMETER.fields])):
        mark = note.at(max(note.text.find(word), 0), len(word))
        fix = fix_of(mark, near) if near else ()
        help_ = f"did you mean '{near}'?" if near else "write it as a field below"
        page.error(code, mark, f"{what} '{word}' for {where}", help_, fix)
        return False
    if _BOUNDED.search(note.text) or fold(first) in UNSUPPORTED:
        what = f"'{note.text}' next to {where} is no field, and would restrict nothing"
        help_ = "write it as a field: Default, Minimum, Max Length, Pattern; or reword it"
        page.error(Code.UNKNOWN_FIELD, note, what, help_)
    else:
        what = f"'{note.text}' is kept in the description of {where} and enforces nothing"
        help_ = "if it restricts, write it as a field: Format, Minimum, Max Length, Pattern"
        page.warn(Code.UNREAD_DETAIL, note, what, help_)
    return True


MAX_ENUM = 256
_MAX_SHAPES = 128
_NOWHERE = Mark("", 1, 1)
FROM_CALLER = re.compile(r"`\s*caller\.([A-Za-z_]\w*)\s*`")
_NO_DEFAULT = frozenset(("none", "null", "-", "n/a", ""))
_OF_SHAPES = frozenset(("types", "description", "properties"))
_PLACES = {
    "accepts_handle": ("parameter", "is for a whole parameter, below `## Parameters`"),
    "sent_in": ("parameter", "is for a whole parameter, below `## Parameters`"),
    "to_model": ("result", "is for a whole result, directly below `## Returns`"),
}
"""The role of the only values that these fields are for."""
_WRITTEN = "write each shape as `- **name**:` with its fields below `- **Properties**:`"


def too_many(page: Page, mark: Mark, what: str, most: int) -> None:
    """Report that a definition exceeds the limit for a kind of item."""
    page.error(Code.TOO_MANY, mark, f"more than {most} {what}", "split the tool in two")


def check_place(page: Page, where: str, role: str, fields: Fields) -> None:
    """Report fields that mean nothing for this value, and that nothing would follow."""
    for attribute, (known, entry) in fields.known.items():
        needed, place = _PLACES.get(attribute, (role, ""))
        if needed != role:
            what = f"{known.name} has no effect on {where}"
            help_ = f"{known.name} {place}: move or remove it"
            page.error(Code.FIELD_MISMATCH, entry.key, what, help_)
        elif role == "result" and attribute in {"required", "optional", "verbatim"}:
            report = page.error if known.restricts else page.warn
            what = f"{known.name} has no effect on {where}"
            report(Code.MISPLACED_FIELD, entry.key, what, "only a parameter has it: remove it")


def check_shape(
    page: Page, where: str, role: str, name: Mark, fields: Fields, keywords: dict[str, Any]
) -> Schema:
    """Check the attributes of a value against each other, and build its schema."""
    check = _Checks(page, where, role, fields, keywords)
    if "one_of" in keywords or "discriminator" in fields.known:
        check.one_of(name)
    if role == "shape":
        check.shape(name)
    check.enum()
    check.fit()
    shape = check.from_caller(check.pattern(Schema(**keywords)))
    for attribute in ("default", "example"):
        entry = fields.entry(attribute)
        if shape.from_caller is not None and attribute == "default":
            continue
        if entry is None:
            continue
        if attribute != "default" or not _says_none(entry, shape):
            shape = check.value(attribute, entry, shape)
        elif plain(entry.text).lower() == "null":
            what = f"the default of {where} is null, which is not of type "
            what += " or ".join(shape.types)
            help_ = "remove Default, or write `null` in its Type, too"
            check.wrong(Code.INVALID_DEFAULT, entry.value, what, help_)
    return shape


class _Checks:
    def __init__(
        self, page: Page, where: str, role: str, fields: Fields, keywords: dict[str, Any]
    ) -> None:
        self.page, self.where, self.role = page, where, role
        self.fields, self.keywords = fields, keywords

    def wrong(self, code: Code, at: Mark | str, message: str, help_: str) -> None:
        """Report an error at a mark, or at the value of a field."""
        if isinstance(at, str):
            entry = self.fields.entry(at)
            at = entry.value if entry is not None else _NOWHERE
        self.page.error(code, at, message, help_)

    def fit(self) -> None:
        """Report fields of another type, and bounds that no value can meet."""
        where, keywords, types = self.where, self.keywords, self.keywords["types"]
        kinds = " or ".join(types)
        for known, entry in self.fields.known.values():
            of_items = known.attribute == "properties" and "array" in types
            if types and known.fits and not {*known.fits} & {*types} and not of_items:
                help_ = f"{known.name} is for {' and '.join(known.fits)}"
                what = f"{known.name} does not fit {where}, which is {kinds}"
                self.wrong(Code.FIELD_MISMATCH, entry.key, what, help_)
        for attribute, kind, what, remedy in (
            (
                "properties",
                "object",
                "fields",
                "write all parameters as headings of the same level",
            ),
            ("items", "array", "items", "remove the items"),
        ):
            named = self.fields.entry(attribute)
            if types and attribute in keywords and kind not in types and not named:
                nested = f"{what} are nested below {where}, which is {kinds}"
                help_ = f"change its type to {kind}, or {remedy}"
                self.wrong(Code.FIELD_MISMATCH, "types", nested, help_)
        each = self.fields.entry("values")
        if each is not None and {"properties", "one_of"} & {*keywords}:
            what = f"{where} has fields of its own, and no others: Each Value has no effect"
            self.wrong(Code.FIELD_MISMATCH, each.key, what, "remove Each Value, or the fields")
        for low, high in UPPER.items():
            if low in keywords and high in keywords and keywords[low] > keywords[high]:
                what = f"the bounds of {where} exclude every value: "
                what += f"{keywords[low]} is above {keywords[high]}"
                self.wrong(Code.INVALID_RANGE, low, what, "swap them, or change one")
        if types == ("array",) and keywords.get("items") is None:
            at = self.fields.entry("types")
            what = f"{where} is an array of anything"
            help_ = "declare its items with `- **Items**:`"
            self.page.hint(Code.ARRAY_WITHOUT_ITEMS, at.value if at else _NOWHERE, what, help_)

    def pattern(self, shape: Schema) -> Schema:
        """Check the Pattern, and the names in To Model."""
        if shape.pattern is not None and (fault := pattern_fault(shape.pattern)) is not None:
            help_ = "RE2 has no look-around and no back-references"
            self.wrong(Code.INVALID_PATTERN, "pattern", f"{fault} ({self.where})", help_)
            shape = replace(shape, pattern=None)
        unknown = () if shape.to_model is None else unknown_fields(shape)
        if unknown or shape.to_model == ():
            what = f"To Model names {', '.join(unknown) or 'no field'}"
            what += f", which {self.where} does not have" if unknown else ""
            help_ = "name properties of the result, or of the rows of its arrays"
            self.wrong(Code.FIELD_MISMATCH, "to_model", what, help_)
        return shape

    def from_caller(self, shape: Schema) -> Schema:
        """Read a Default that is a fact of the caller."""
        entry = self.fields.entry("default")
        found = None if entry is None else FROM_CALLER.fullmatch(_value_text(entry).strip())
        if found is None or entry is None:
            return shape
        if self.role != "parameter":
            what = f"the Default of {self.where} can't be a fact of the caller"
            help_ = "only a whole parameter of a tool can be filled from the caller"
            self.wrong(Code.INVALID_DEFAULT, entry.value, what, help_)
        return replace(shape, from_caller=found[1])

    def value(self, attribute: str, entry: Node, shape: Schema) -> Schema:
        """Read the Default or the Example by the type, and check it."""
        value, fits = scalars.literal(_value_text(entry), shape)
        bare, remark = without_remark(entry.value)
        if remark.text and value not in (shape.enum or ()):
            alone = scalars.literal(flow(bare.text), shape)
            if alone[1]:
                report_remark(self.page, remark)
                value, fits = alone
        wrong = problems(value, shape) if fits else ()
        given: dict[str, Any] = {attribute: value, f"has_{attribute}": True}
        if fits and not wrong:
            return replace(shape, **given)
        reason = wrong[0].message if wrong else f"it is not of type {' or '.join(shape.types)}"
        message = f"the {attribute} of {self.where} does not fit its schema: {reason}"
        help_ = "write a value that a call could supply"
        if attribute == "default":
            self.page.error(Code.INVALID_DEFAULT, entry.written, message, help_)
            return shape
        self.page.warn(Code.INVALID_EXAMPLE, entry.written, message, help_)
        return replace(shape, **given)

    def enum(self) -> None:
        """Read the values; an array's enum applies to its items."""
        entry, keywords = self.fields.entry("enum"), self.keywords
        if entry is None:
            self.bare_enum()
            return
        of_items = keywords["types"] == ("array",)
        items: Schema = keywords.get("items") or Schema(types=("string",))
        words = _words(self.page, entry)
        if len(words) > MAX_ENUM:
            too_many(self.page, entry.key, "values in an enum", MAX_ENUM)
        if not words:
            what = f"the enum of {self.where} has no values, so no value is allowed"
            help_ = "write the values separated by commas, or remove Enum"
            self.wrong(Code.EMPTY_ENUM, entry.key, what, help_)
        shape = Schema(types=items.types if of_items else keywords["types"])
        values: list[JsonValue] = []
        for word, _ in words[:MAX_ENUM]:
            value, fits = scalars.enum_value(word.text, shape)
            if not fits:
                what = f"'{word.text}' in the enum of {self.where} is not of type "
                help_ = "write a value of the type, or change the type"
                if ";" in word.text and "number" in shape.types:
                    help_ = "write a decimal point, and commas between the values: `0.5, 1.5`"
                self.wrong(Code.INVALID_ENUM, word, what + " or ".join(shape.types), help_)
            elif identity(value) not in map(identity, values):
                values.append(value)
        if notes := [f"{word.text}: {note}" for word, note in words if note]:
            keywords["description"] = (
                f"{keywords.get('description', '')} ({'; '.join(notes)})".strip()
            )
        if of_items:
            keywords["items"] = replace(items, enum=tuple(values))
        else:
            keywords["enum"] = tuple(values)

    def bare_enum(self) -> None:
        """Report the Type enum of a value without an Enum."""
        entry, items = self.fields.entry("types"), self.keywords.get("items") or Schema()
        named = entry is not None and re.search(r"(?i)\benum\b", entry.text)
        if named and self.keywords.get("enum", items.enum) is None:
            what = f"the type of {self.where} is enum, and it has no values"
            self.wrong(Code.EMPTY_ENUM, "types", what, "add `- **Enum**: a, b`")

    def one_of(self, name: Mark) -> None:
        """Report what can't stand beside One Of; give each shape the Discriminator's value."""
        keywords, fields, where = self.keywords, self.fields, self.where
        entry = fields.entry("discriminator")
        if "one_of" not in keywords:
            if entry is not None:
                what = f"{where} has a Discriminator, but no One Of with shapes to tell apart"
                help_ = "add `- **One Of**:` with its shapes below, or remove Discriminator"
                self.wrong(Code.INVALID_ONE_OF, entry.key, what, help_)
            return
        beside = [attribute for attribute in fields.known if attribute in {"properties", "enum"}]
        for known, other in [fields.known.pop(attribute) for attribute in beside]:
            help_ = f"move it into the shapes, or remove One Of or {known.name}"
            what = f"{where} has One Of and {known.name}"
            self.wrong(Code.INVALID_ONE_OF, other.key, what, help_)
        own = [keywords.pop(attribute, None) for attribute in ("properties", "values")]
        if own != [None, None] and not beside:
            help_ = "move the fields into the shapes, and write the Type as `object`"
            what = f"{where} has One Of and fields of its own"
            self.wrong(Code.INVALID_ONE_OF, name, what, help_)
        if keywords["types"] and "object" not in keywords["types"]:
            help_ = "write `- **Type**: object`; for an array, write One Of below its Items"
            what = f"One Of does not fit {where}, which is {' or '.join(keywords['types'])}"
            self.wrong(Code.INVALID_ONE_OF, name, what, help_)
        if entry is not None and keywords.get("discriminator"):
            keywords["one_of"] = tuple(
                self.tagged(entry, keywords["discriminator"], keywords["one_of"])
            )

    def tagged(self, entry: Node, field: str, shapes: tuple[Parameter, ...]) -> Iterator[Parameter]:
        """Yield the shapes, each with one fixed value of the Discriminator's field."""
        seen: dict[Any, str] = {}
        for each in shapes:
            properties = each.shape.properties
            found = next((p for p in properties or () if p.name == field), None)
            problem, help_ = _tag_problem(field, each, found)
            if found is None or problem:
                if properties is not None:
                    shape = f"the shape '{each.name}' of {self.where}"
                    what = f"Discriminator '{field}': {shape} {problem}"
                    self.wrong(Code.INVALID_ONE_OF, entry.key, what, help_)
                yield each
                continue
            tag = found.shape.enum or (each.name,)
            if (before := seen.setdefault(identity(tag[0]), each.name)) != each.name:
                what = f"the shapes '{before}' and '{each.name}' of {self.where} have one value of"
                help_ = f"give '{field}' of each shape an Enum with a value of its own"
                self.wrong(Code.INVALID_ONE_OF, entry.key, f"{what} '{field}': {tag[0]!r}", help_)
            types = found.shape.types or ("string",)
            fixed = replace(found, shape=replace(found.shape, types=types, enum=tag))
            rest = tuple(fixed if p is found else p for p in properties or ())
            yield replace(each, shape=replace(each.shape, properties=rest))

    def shape(self, mark: Mark) -> None:
        """Report a shape that is not an object with Properties."""
        types = " or ".join(self.keywords["types"]) or "any value"
        if self.keywords["types"] != ("object",):
            what, help_ = f"{self.where} is {types}, not an object", "write `- **Type**: object`"
            self.wrong(Code.INVALID_ONE_OF, mark, what, help_)
        elif self.keywords.get("properties") is None:
            self.wrong(Code.INVALID_ONE_OF, mark, f"{self.where} has no Properties", _WRITTEN)


def few_shapes(page: Page, where: str, entry: Node, drafts: list[Draft]) -> list[Draft]:
    """Report too few or too many shapes; return those that are read."""
    if len(drafts) > _MAX_SHAPES:
        too_many(page, drafts[_MAX_SHAPES].name, "shapes in a One Of", _MAX_SHAPES)
    if len(drafts) < 2:  # noqa: PLR2004 - a choice
        what = f"One Of of {where} has {'one shape' if drafts else 'no shapes'}"
        help_ = "add a second one, or write its fields as Properties" if drafts else _WRITTEN
        page.error(Code.INVALID_ONE_OF, entry.key, f"{what}; it needs at least two", help_)
    return drafts[:_MAX_SHAPES]


def report_foreign(page: Page, where: str, fields: Fields) -> None:
    """Report the fields of a shape that only a parameter has, and those that nothing has."""
    foreign = [name for name in fields.known if name not in _OF_SHAPES]
    for entry in (*(fields.known.pop(name)[1] for name in foreign), *fields.unknown):
        what = f"'{entry.name}' is not a field of {where}"
        help_ = "a shape has Type, Description and Properties; write it at the parameter, or below "
        help_ += "Properties for a field of the object"
        page.error(Code.INVALID_ONE_OF, entry.key, what, help_)
    fields.unknown.clear()


def unknown_type(page: Page, where: str, entry: Node, problem: TypeProblem) -> None:
    """Report a Type that can't be read."""
    word, near = problem.word or entry.text, problem.suggestion
    if not word:
        page.error(Code.UNKNOWN_TYPE, entry.key, f"no type for {where}", "write `string`")
        return
    mark = page.mark(word, entry.value.line, entry.value.column + problem.offset)
    what = "unknown type" if str(problem) == "is not a type" else "unreadable type"
    help_ = "write string, number, integer, boolean, object or array"
    help_ = f"did you mean '{near}'?" if near else help_
    fix = fix_of(mark, near) if near else ()
    page.error(Code.UNKNOWN_TYPE, mark, f"{what} '{word}' for {where}", help_, fix)


def _tag_problem(field: str, each: Parameter, found: Parameter | None) -> tuple[str, str]:
    """Return why a shape's field can't tell it apart, and the remedy; empty if it can."""
    if found is None:
        near = nearest(field, [p.name for p in each.shape.properties or ()])
        hint = f"did you mean '{near}'?" if near else f"add `- **{field}** (string, required)`"
        return "has no such field", f"{hint}; each shape needs it"
    if not found.required:
        return "does not require it", f"add `- **Required**: true` to '{field}'"
    values = found.shape.enum
    if (values is None and {*found.shape.types} <= {"string"}) or (values and len(values) == 1):
        return "", ""
    many = "has no fixed value of it" if values is None else "has several values of it"
    return many, f"write `- **Enum**:` with one value for '{field}'"


def _value_text(entry: Node) -> str:
    """Return a value's text: after the key, in nested bullets, or in a fence."""
    match [block for block in entry.blocks if not isinstance(block, Comment)]:
        case _ if entry.text:
            return entry.text
        case [Bullets(items=items)] if not any(prose(item.blocks) for item in items):
            return "\n".join(item.mark.text for item in items)
        case [Fence(content=content)]:
            return code_text(content)
        case blocks:
            return prose(blocks)


def _says_none(entry: Node, shape: Schema) -> bool:
    """Return whether `None` means no default: it does if neither the type nor Enum has it."""
    word = entry.text.strip("`_ ").lower()
    enum = (shape.items if shape.items is not None else shape).enum or shape.enum or ()
    free = "null" in shape.types or (not shape.types and word == "null")
    free = free or word in (str(value).lower() for value in enum)
    return word in _NO_DEFAULT and not free and not entry.blocks


_QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|(?<!\w)'[^']*'""")
_SLASH = re.compile(r"\s/|/\s")


def _words(page: Page, entry: Node) -> list[tuple[Mark, str]]:
    """Return each value of an enum with the note next to it."""
    words: list[tuple[Mark, str]] = []
    column = entry.value.column
    text = flow(entry.value.text)
    if text.lower().startswith(("one of:", "one of ")):
        text = text[len("one of ") :]
    listed = scalars.listed(text)
    bare = _QUOTED.sub("x", text)
    if _SLASH.search(bare) or (len(scalars.listed(bare)) == 1 and "/" in bare):
        what = f"'{text}' may be one value or several"
        help_ = f'write `{text.replace(" / ", "/").replace("/", ", ")}`, or `"{text}"` for one'
        if len(listed) > 1 or bare != text:
            help_ = "write commas between the values, and quotes around one that has a slash"
        page.error(Code.INVALID_ENUM, entry.value, what, help_)
    for word in listed:
        mark = page.mark(word, entry.value.line, column)
        column = mark.column + len(word) if mark.column >= column else column
        words.append(_split_note(page, mark))
    for item in entry.items:
        pair = split(item.mark)
        is_pair = pair is not None and (pair.marked or (pair.value.text and " " in item.mark.text))
        words.append(
            (pair.key, flow(pair.value.text)) if is_pair and pair else _split_note(page, item.mark)
        )
    return words


def _split_note(page: Page, mark: Mark) -> tuple[Mark, str]:
    """Split `` `full` (with dinner) `` into the value and its note.

    A remark behind a value without backticks is reported and dropped, as in other lists.
    """
    end = mark.text.find("`", 1)
    behind = mark.text[end + 1 :].strip()
    if not mark.text.startswith("`") or not (behind.startswith("(") and behind.endswith(")")):
        bare, remark = without_remark(mark)
        if remark.text:
            report_remark(page, remark)
        return bare, ""
    return mark.at(0, end + 1), behind[1:-1].strip()
