"""Build parameters and schemas from drafts and sections; report what can't be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, Literal

from toolmd._parse import scalars
from toolmd._parse.blocks import Block, Bullets, Fence, Node, Paragraph, Table, mark_of, prose
from toolmd._parse.document.definition import Definition
from toolmd._parse.fields.entries import Fields, fences, imply, name_fields
from toolmd._parse.fields.table import PARAMETER
from toolmd._parse.fields.values import read_values
from toolmd._parse.page import Mark, Page
from toolmd._parse.parameters import checks
from toolmd._parse.parameters.checks import (
    report_nested,
    report_note,
    report_second_name,
    report_unmarked,
)
from toolmd._parse.parameters.drafts import (
    columns_of,
    fill,
    from_item,
    from_table,
    headings,
    is_stray,
    read_drafts,
)
from toolmd._parse.parameters.signature import Draft, read_details, read_signature
from toolmd._parse.parameters.types import TypeProblem, attributes, is_type, read_type
from toolmd._parse.unread import report_kept, report_unknown
from toolmd._parse.words import (
    SEPARATORS,
    code_text,
    flow,
    fold,
    parameter_name,
    plain,
    says_none,
    split,
)
from toolmd._types.code import Code
from toolmd._types.schema import JSON_TYPES, KEYWORDS, UPPER, Parameter, Schema

MAX_PARAMETERS = 128
_MAX_DRAFTS = 1024
"""The most headings, bullets and rows that are read as parameters or as their fields."""
_MAX_DEPTH = 16
_ATTRIBUTES = frozenset(field.name for field in fields_of(Schema))


def read_parameters(page: Page, drafts: list[Draft], depth: int = 0) -> tuple[Parameter, ...]:
    """Build the parameters of drafts in file order; report every error."""
    parameters: dict[str, Parameter] = {}
    lines: dict[str, int] = {}
    if len(drafts) > _MAX_DRAFTS:
        checks.too_many(page, drafts[_MAX_DRAFTS].name, "parameters and fields", _MAX_DRAFTS)
    marked = any(draft.questioned for draft in drafts)
    for draft in drafts[:_MAX_DRAFTS]:
        name = parameter_name(page, draft.name)
        if draft.doubled:
            report_second_name(page, draft.name)
        if (key := name.replace("-", "_")) in lines:
            what, help_ = f"there are two parameters '{name}'", "rename or remove one"
            help_ += f"; the first is in line {lines[key]}"
            page.error(Code.DUPLICATE_PARAMETER, draft.name, what, help_)
            continue
        if depth == 0:
            page.named("parameter", name, draft.name, declares=True)
        reader = SchemaReader(page, f"parameter '{name}'", depth, "part" if depth else "parameter")
        reader.required = marked  # if others are marked optional, as `name?`
        parameters[name] = Parameter(name, *reader.read(draft))
        lines[key] = draft.name.line
        if len(parameters) == MAX_PARAMETERS + 1:
            checks.too_many(page, draft.name, "parameters", MAX_PARAMETERS)
    return tuple(parameters.values())


@dataclass(slots=True)
class SchemaReader:
    """A reader of one schema: of a parameter, a part of it, a shape of One Of or a result."""

    page: Page
    where: str
    depth: int = 0
    role: Literal["parameter", "result", "part", "shape"] = "part"
    typed: Schema | None = None
    """The schema that applies without a Type of its own: `list[int]` types its items."""
    required: bool = False
    """Whether it is required by default."""

    def read(self, draft: Draft) -> tuple[Schema, bool]:
        """Return the schema, and whether the value is required."""
        page = self.page
        if self.depth > _MAX_DEPTH:
            what = f"{self.where} is deeper than {_MAX_DEPTH} levels"
            help_ = "make it flatter, or write `object` without its fields"
            page.error(Code.NESTED_TOO_DEEP, draft.name, what, help_)
            return Schema(), False
        self._move_blocks(draft)
        fields = name_fields(page, draft.entries, PARAMETER)
        keywords = self._type(fields, draft)
        is_read = keywords is not None
        keywords = keywords or {}
        if self.role == "shape":
            checks.report_foreign(page, self.where, fields)
        values = read_values(page, fields)
        checks.check_place(page, self.where, self.role, fields)
        for unknown in fields.unknown:
            report_unknown(page, unknown, PARAMETER)
        if (entry := fields.entry("one_of")) is not None:
            keywords["one_of"] = self._shapes(entry, draft)
        nested = self._read_nested(fields, draft, keywords)
        keywords |= nested if is_read else {}
        keywords |= {k: v for k, v in values.items() if k in _ATTRIBUTES and k != "types"}
        self._describe(keywords, draft)
        if "types" not in keywords:
            keywords["types"] = self._infer_types(keywords, fields, draft) if is_read else ()
        if keywords["types"] == () and _is_object(keywords):
            keywords["types"] = ("object",)
        shape = checks.check_shape(page, self.where, self.role, draft.name, fields, keywords)
        if values.get("required") is not None and values["required"] is values.get("optional"):
            what = f"Required and Optional of {self.where} contradict each other"
            page.error(Code.CONFLICT, fields.known["optional"][1].key, what, "keep one of the two")
        unsaid = not values["optional"] if "optional" in values else self.required
        return shape, bool(values.get("required", unsaid))

    def _move_blocks(self, draft: Draft) -> None:
        """Move blocks nested below a one-line field, such as Type, to the parameter itself."""
        known = [entry.known or PARAMETER.field(entry.key.text) for entry in draft.entries]
        tagged = any(field is not None and field.attribute == "discriminator" for field in known)
        for entry, field in zip(list(draft.entries), known, strict=True):
            attribute = field.attribute if field else ""
            if attribute == "one_of" and not (tagged or _holds_shapes(entry)):
                entry.known, attribute = PARAMETER.field("Enum"), "enum"  # `One Of: a, b`
            if attribute == "description":
                report_nested(self.page, entry)
            elif attribute == "types":
                fill(self.page, draft, entry.blocks)
                entry.blocks = []
            elif attribute == "enum":
                draft.prose += [b for b in entry.blocks if not isinstance(b, Bullets)]
                noted = [item for item in entry.items if prose(item.blocks)]
                draft.prose += [Bullets(noted, ordered=False)] if noted else []
                entry.blocks = [b for b in entry.blocks if isinstance(b, Bullets)]
            elif attribute in {"default", "example", "pattern"} and entry.text:
                draft.prose += entry.blocks
                entry.blocks = []

    def _type(self, fields: Fields, draft: Draft) -> dict[str, Any] | None:
        """Return the attributes that Type sets; None if it is unreadable, which is reported.

        Flags next to it (`string, required`) join `fields`.
        """
        entry = fields.entry("types")
        if entry is None:
            return attributes(self.typed) if self.typed is not None else {}
        mark = entry.value._replace(text=flow(entry.value.text))
        if mark.text in JSON_TYPES:
            return {"types": (mark.text,)}
        try:
            return attributes(read_type(mark.text))
        except TypeProblem as problem:
            line = _beside(mark)
            typed = next((e for e in line.entries if e.key.text == "Type"), None)
            if typed is None and not any(e.key.text == "Enum" for e in line.entries):
                checks.unknown_type(self.page, self.where, entry, problem)
                return None
        draft.notes += line.notes
        beside = [e for e in line.entries if e is not typed]
        named = name_fields(self.page, beside, PARAMETER)
        for attribute, found in named.known.items():
            if fields.known.setdefault(attribute, found) is not found:
                fields.twice.append(found)
        fields.twice += named.twice
        if typed is None:
            del fields.known["types"]  # these are the values of an enum
        return attributes(read_type(typed.value.text)) if typed is not None else {}

    def _read_nested(
        self, fields: Fields, draft: Draft, keywords: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Read the items, values and properties: below their fields, or like parameters."""
        nested: dict[str, Any] = {}
        below = draft.drafts
        if (entry := fields.entry("properties")) is not None:
            try:
                text = code_text(entry.text) if not entry.blocks else ""
                nested["properties"] = read_type(text).properties if text[:1] == "{" else None
            except TypeProblem:
                nested["properties"] = None
            if nested["properties"] is None:
                below = self._properties(entry, draft) + below
                nested["properties"] = (
                    () if self.role == "shape" and says_none(entry.text) else None
                )
        types = keywords.get("types", ())
        of_items = bool(below) and "array" in types and "object" not in types
        if below and not of_items:
            nested["properties"] = read_parameters(self.page, below, self.depth + 1)
        for name in ("items", "values"):
            entry = fields.entry(name)
            inner = self._item(entry) if entry is not None else Draft(draft.name)
            inner.drafts += below if of_items and name == "items" else []
            if entry is not None or (of_items and name == "items"):
                nested[name] = self._inner(inner, keywords.get(name))
        return {name: value for name, value in nested.items() if value is not None}

    def _item(self, entry: Node) -> Draft:
        """Read `Items: string` or `Items: (string): each of them`, and the blocks below."""
        draft, value, blocks = Draft(entry.key), entry.value, entry.blocks
        match blocks:
            case [Bullets(items=[item])] if not entry.text and is_type(item.mark.text):
                value, blocks = item.mark, item.blocks
            case _:
                pass
        if value.text.startswith("("):
            inside, _, behind = value.text[1:].partition(")")
            line = Draft(entry.key)
            read_details(line, self.page.mark(inside, value.line, value.column))
            draft.entries, draft.notes = line.entries, line.notes
            key, value = "Description", value._replace(text=behind.strip(" " + SEPARATORS))
        else:
            key = "Type"
        draft.entries += [Node(entry.key._replace(text=key), value)] if value.text else []
        fill(self.page, draft, blocks)
        return draft

    def _inner(self, item: Draft, typed: Schema | None) -> Schema:
        """Build the schema of items or values, with the part that Type defines."""
        where = f"an item of {self.where}"
        shape, _ = SchemaReader(self.page, where, self.depth + 1, typed=typed).read(item)
        if typed is not None and typed.types and {*typed.types} != {*shape.types}:
            what = f"Type and Items name different types for {where}"
            self.page.error(Code.DUPLICATE_FIELD, item.name, what, "keep one of the two")
        return shape

    def _properties(self, entry: Node, draft: Draft) -> list[Draft]:
        """Read nested bullets, a table or a list of names; other blocks go to the prose."""
        page, drafts = self.page, []
        for block in entry.blocks:
            if isinstance(block, Table) and (columns := columns_of(block)) is not None:
                drafts += from_table(page, block, columns)
            elif not isinstance(block, Bullets):
                draft.prose.append(block)
        for item in entry.items:
            line = read_signature(item.mark)
            if is_stray(page, item, line):
                continue
            pair = split(item.mark)
            if line is not None and line.marked and not (line.separated or line.typed) and pair:
                line = Draft(pair.key._replace(text=plain(pair.key.text)))  # `**a/b**:`
            if line is None:
                self._nameless(item.mark if item.mark.text else entry.key)
            else:
                drafts.append(from_item(page, item, line))
        words = scalars.listed(entry.text) if not says_none(entry.text) else []
        if not drafts and not words and (code := fences(entry.blocks)):
            what = f"a code fence is not read, so the fields of {self.where} are unknown"
            help_ = "write nested bullets, `- **name** (string, required): description`"
            page.error(Code.NO_PARAMETERS_READ, code[0].mark, what, help_)
        if drafts and not all(word.strip("*_` ?").isidentifier() for word in words):
            draft.prose.append(Paragraph(entry.value))
            return drafts
        for word in words:
            mark = page.mark(word, entry.value.line, entry.value.column)
            if (line := read_signature(mark)) is None:
                self._nameless(mark)
            else:
                drafts.append(line)
        return drafts

    def _nameless(self, mark: Mark) -> None:
        what, help_ = (
            f"a field of {self.where} has no name",
            "write `- **name**:` with its fields below",
        )
        self.page.error(Code.INVALID_NAME, mark, what, help_)

    def _shapes(self, entry: Node, draft: Draft) -> tuple[Parameter, ...]:
        """Read the shapes of a One Of."""
        if entry.text:
            draft.prose.append(Paragraph(entry.value))
        bare = Node(entry.key, entry.value._replace(text=""), entry.blocks)
        shapes: dict[str, Parameter] = {}
        drafts = self._properties(bare, draft)
        for each in checks.few_shapes(self.page, self.where, entry, drafts):
            name = parameter_name(self.page, each.name)
            where = f"the shape '{name}' of {self.where}"
            if name in shapes:
                what, help_ = f"{self.where} has two shapes '{name}'", "rename or remove one"
                self.page.error(Code.INVALID_ONE_OF, each.name, what, help_)
            else:
                reader = SchemaReader(self.page, where, self.depth, "shape")
                shapes[name] = Parameter(name, reader.read(each)[0])
        return tuple(shapes.values())

    def _describe(self, keywords: dict[str, Any], draft: Draft) -> None:
        """Keep prose and notes in the description; report that notes enforce nothing."""
        report_kept(self.page, draft.prose, (), PARAMETER)
        report_unmarked(self.page, self.where, draft.prose)
        parts = [keywords.get("description", ""), prose(draft.prose)]
        text = "\n\n".join(part for part in parts if part)
        for note in draft.notes:
            if report_note(self.page, self.where, note, keywords):
                text = f"{text} ({note.text})".strip()
        keywords |= {"description": text} if text else {}

    def _infer_types(
        self, keywords: Mapping[str, Any], fields: Fields, draft: Draft
    ) -> tuple[str, ...]:
        """Infer a missing type from the other fields."""
        if self.role == "shape" or _is_object(keywords):
            return ("object",)
        if "items" in keywords or _is_bounded(keywords, "array"):
            return ("array",)
        if (enum := fields.entry("enum")) is not None:
            words = scalars.listed(enum.text)
            whole = words and all(isinstance(scalars.number(word), int) for word in words)
            return ("integer",) if whole else ("string",)
        kind = "number" if _is_bounded(keywords, "number") else "string"
        what, help_ = (
            f"Type is missing for {self.where}; '{kind}' is used",
            f"add `- **Type**: {kind}`",
        )
        self.page.warn(Code.MISSING_TYPE, draft.name, what, help_)
        return (kind,)


def _beside(mark: Mark) -> Draft:
    """Read `string (optional)`, `enum(a, b)` or `string, required`."""
    line = Draft(mark)
    group = mark.text.find("(")
    if group <= 0 or not mark.text.endswith(")"):
        read_details(line, mark)
        return line
    inside = mark.at(group + 1, len(mark.text) - group - 2)
    if fold(mark.text[:group]) in {"enum", "oneof"}:
        line.add("Enum", inside)
        return line
    read_details(line, mark.at(0, group).strip())
    if line.typed:
        read_details(line, inside)
    return line


def _holds_shapes(entry: Node) -> bool:
    """Return whether the bullets below a One Of are objects, not values."""
    inner = [one for item in entry.items for one in item.items]
    fields = any(PARAMETER.field(e.key.text) for e in inner if e.keyed)
    lines = (read_signature(one.mark) for one in (*entry.items, *inner))
    return fields or any(line is not None and line.typed for line in lines)


def _is_object(keywords: Mapping[str, Any]) -> bool:
    return keywords.get("properties") is not None or "one_of" in keywords or "values" in keywords


def _is_bounded(keywords: Mapping[str, Any], kind: Any) -> bool:
    """Return whether a field is a bound of values of a type."""
    bounds = (*UPPER, *UPPER.values())
    return any(name in keywords and kind in KEYWORDS[name].fits for name in bounds)


def read_section(definition: Definition, name: str) -> tuple[Parameter, ...]:
    """Read a section of parameters; an empty section or `None` means that there are none."""
    section = definition.section(name)
    if section is None:
        return ()
    page = definition.page
    found = read_drafts(page, section.blocks, section.parts)
    if found.prose and not (found.drafts or found.is_empty):
        unread = next((b for b in found.prose if not _is_sentence(b)), None)
        report = page.warn if unread is None else page.error
        what = f"no parameter could be read in '{section.title}'"
        help_ = "write `### name` for each, or `` - `name` (string, required): description ``; "
        help_ += "or `None` above text that is not a parameter"
        if isinstance(unread, Table):
            columns = "`Name`, `Type`, `Required`, `Default` and `Description`"
            help_ = f"a table's columns are {columns}; {help_}"
        report(Code.NO_PARAMETERS_READ, mark_of(unread or found.prose[0]), what, help_)
    definition.document.keep(section, found.prose, [])
    page.places.parameters = read_parameters(page, found.drafts)
    return page.places.parameters


def _is_sentence(block: Block) -> bool:
    """Return whether a block is a paragraph that defines no parameter: `name (str): …` does."""
    if isinstance(block, Fence) and block.content.strip() in {"", "{}", "[]"}:
        return True
    if not isinstance(block, Paragraph) or block.mark.text.startswith((":", "@")):
        return False
    lines = (read_signature(Mark(line.strip(), 1, 1)) for line in block.mark.text.split("\n"))
    return not any(line is not None and line.typed for line in lines)


def read_returns(definition: Definition) -> Schema:
    """Read a tool's result: fields, parameters as its fields, or only prose."""
    section = definition.section("Returns")
    if section is None or section.table is None:
        return Schema()
    page, draft = definition.page, Draft(section.mark)
    fill(page, draft, section.blocks)
    prose, draft.prose = draft.prose, []
    if not (draft.entries or draft.drafts or section.parts):
        # Only prose: its text is the description; any type is allowed.
        draft.prose, prose = prose, []
        draft.entries = [imply("Type", "any", section.mark)]
        if not draft.prose:
            help_ = "add `- **Type**: object` and `- **Description**: …`"
            page.error(Code.MISSING_FIELD, section.mark, "'Returns' is empty", help_)
    for item in headings(page, section.parts):
        fill(page, draft, [Bullets([item], ordered=False)])
    draft.drafts += draft.siblings
    definition.document.keep(section, prose, [])
    return SchemaReader(page, "the result", role="result").read(draft)[0]
