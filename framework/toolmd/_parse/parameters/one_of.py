"""Read the One Of field: named object shapes, and the Discriminator that tells them apart."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolmd._parse.blocks.block import Paragraph
from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.naming import Fields
from toolmd._parse.parameters.constraints import too_many
from toolmd._parse.parameters.drafts import ParameterDraft
from toolmd._parse.parameters.nested import property_drafts
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.names import parameter_name
from toolmd._parse.words.slips import nearest
from toolmd._types.code import Code
from toolmd._types.schema import Parameter, Schema
from toolmd._validation.identity import identity

MAX_SHAPES = 128
_OWN = frozenset({"types", "description", "properties"})
_BESIDE = frozenset({"properties", "enum"})
_WRITTEN = "write each shape as `- **name**:` with its fields below `- **Properties**:`"

ReadShape = Callable[[str, ParameterDraft], Schema]


def read_one_of(
    page: Page, where: str, fields: Fields, draft: ParameterDraft, read: ReadShape
) -> tuple[Parameter, ...]:
    """Return the shapes of a One Of, from its entry and from headings."""
    drafts = list(draft.shapes)
    if (entry := fields.entry("one_of")) is not None:
        if entry.text:
            draft.prose.append(Paragraph(entry.value))
        bare = Entry(entry.key, entry.value._replace(text=""), entry.blocks)
        drafts = property_drafts(page, where, bare, draft) + drafts
    if len(drafts) > MAX_SHAPES:
        too_many(page, drafts[MAX_SHAPES].name, "shapes in a One Of", MAX_SHAPES)
    shapes: dict[str, Parameter] = {}
    for each in drafts[:MAX_SHAPES]:
        name = parameter_name(page, each.name)
        if name in shapes:
            _wrong(page, each.name, f"{where} has two shapes '{name}'", "rename or remove one")
            continue
        shapes[name] = Parameter(name, read(name, each))
    if len(drafts) < 2:  # noqa: PLR2004 - a choice
        mark = entry.key if entry is not None else draft.name
        single = "one shape" if drafts else "no shapes"
        help_ = "add a second one, or write its fields as Properties" if drafts else _WRITTEN
        _wrong(page, mark, f"One Of of {where} has {single}; it needs at least two", help_)
    return tuple(shapes.values())


def check_one_of(page: Page, where: str, place: Mark, fields: Fields, said: dict[str, Any]) -> None:
    """Report what can't stand beside One Of; give each shape the Discriminator's value."""
    if "one_of" not in said:
        if (entry := fields.entry("discriminator")) is not None:
            _wrong(
                page,
                entry.key,
                f"{where} has a Discriminator, but no One Of with shapes to tell apart",
                "add `- **One Of**:` with its shapes below, or remove Discriminator",
            )
        return
    beside = [name for name in fields.known if name in _BESIDE]
    for attribute in beside:
        known, entry = fields.known.pop(attribute)
        help_ = f"move it into the shapes, or remove One Of or {known.name}"
        _wrong(page, entry.key, f"{where} has One Of and {known.name}", help_)
    if _own_fields(said) and not beside:
        help_ = "move the fields into the shapes, and write the Type as `object`"
        _wrong(page, place, f"{where} has One Of and fields of its own", help_)
    if said["types"] and "object" not in said["types"]:
        types = " or ".join(said["types"])
        help_ = "write `- **Type**: object`; for an array, write One Of below its Items"
        _wrong(page, place, f"One Of does not fit {where}, which is {types}", help_)
    if (entry := fields.entry("discriminator")) is not None and said.get("discriminator"):
        said["one_of"] = tuple(_tagged(page, where, entry, said["discriminator"], said["one_of"]))


def _own_fields(said: dict[str, Any]) -> bool:
    """Remove the fields that an object has next to its shapes; return whether there are any."""
    return [said.pop(name, None) for name in ("properties", "values")] != [None, None]


def report_foreign(page: Page, where: str, fields: Fields) -> None:
    """Report the fields of a shape that only a parameter has, and those that nothing has."""
    foreign = [entry for attribute, (_, entry) in fields.known.items() if attribute not in _OWN]
    for entry in (*foreign, *fields.unknown):
        _wrong(
            page,
            entry.key,
            f"'{entry.name}' is not a field of {where}",
            "a shape has Type, Description and Properties; write it at the parameter, or below "
            "Properties for a field of the object",
        )
    for attribute in [name for name in fields.known if name not in _OWN]:
        del fields.known[attribute]
    fields.unknown.clear()


def check_shape(page: Page, where: str, mark: Mark, said: Mapping[str, Any]) -> None:
    """Report a shape that is not an object with Properties."""
    if said["types"] != ("object",):
        types = " or ".join(said["types"]) or "any value"
        _wrong(page, mark, f"{where} is {types}, not an object", "write `- **Type**: object`")
    elif said.get("properties") is None:
        _wrong(page, mark, f"{where} has no Properties", _WRITTEN)


def _tagged(
    page: Page, where: str, entry: Entry, field: str, shapes: tuple[Parameter, ...]
) -> Iterator[Parameter]:
    """Yield the shapes, each with one fixed value of the Discriminator's field."""
    seen: list[tuple[Any, str]] = []
    for each in shapes:
        found = next((p for p in each.shape.properties or () if p.name == field), None)
        problem, help_ = _problem(field, each, found)
        if found is None or problem:
            if each.shape.properties is not None:
                of = f"the shape '{each.name}' of {where}"
                _wrong(page, entry.key, f"Discriminator '{field}': {of} {problem}", help_)
            yield each
            continue
        tag = found.shape.enum or (each.name,)
        before = next((name for value, name in seen if identity(value) == identity(tag[0])), None)
        if before is not None:
            message = f"the shapes '{before}' and '{each.name}' of {where} have one value of"
            help_ = f"give '{field}' of each shape an Enum with a value of its own"
            _wrong(page, entry.key, f"{message} '{field}': {tag[0]!r}", help_)
        seen.append((tag[0], each.name))
        types = found.shape.types or ("string",)
        told = replace(found, shape=replace(found.shape, types=types, enum=tag))
        rest = tuple(told if p is found else p for p in each.shape.properties or ())
        yield replace(each, shape=replace(each.shape, properties=rest))


def _problem(field: str, each: Parameter, found: Parameter | None) -> tuple[str, str]:
    """Return why a shape's field can't tell it apart, and the remedy; empty if it can."""
    if found is None:
        near = nearest(field, [p.name for p in each.shape.properties or ()])
        hint = f"did you mean '{near}'?" if near else f"add `- **{field}** (string, required)`"
        return "has no such field", f"{hint}; each shape needs it"
    if not found.required:
        return "does not require it", f"add `- **Required**: true` to '{field}'"
    values = found.shape.enum
    if values is None and set(found.shape.types) <= {"string"}:
        return "", ""
    if values is None or len(values) != 1:
        many = "has no fixed value of it" if values is None else "has several values of it"
        return many, f"write `- **Enum**:` with one value for '{field}'"
    return "", ""


def _wrong(page: Page, mark: Mark, message: str, help_: str) -> None:
    page.error(Code.INVALID_ONE_OF, mark, message, help_)
