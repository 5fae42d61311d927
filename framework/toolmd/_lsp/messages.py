"""Write hover texts for fields, sections and definitions: a few lines of markdown."""

from toolmd._parse.fields.field import Field, SectionTable
from toolmd._types.definition import FileSpec
from toolmd._types.schema import Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import choices_of, limits_of, shown_value, type_words


def of_field(name: str, field: Field | str) -> str:
    """Return a key's meaning, default and choices."""
    if isinstance(field, str):
        return f"**{name}**: {field}"
    lines = [f"**{field.name}**: {field.says}"]
    if field.choices:
        lines.append(f"One of {', '.join(f'`{choice}`' for choice in field.choices)}.")
    if field.default:
        lines.append(f"Default: {field.default}.")
    if field.restricts:
        lines.append("This is a restriction: with a misspelt name, the file does not load.")
    return "\n\n".join(lines)


def of_section(table: SectionTable) -> str:
    """Return a section's meaning and fields."""
    lines = [f"**{table.name}**: {table.says}"]
    if table.fields and table.children != "parameters":
        lines.append("Fields: " + ", ".join(field.name for field in table.fields) + ".")
    return "\n\n".join(lines)


def of_definition(spec: FileSpec) -> str:
    """Return a definition's description, parameters and requirements."""
    takes = ", ".join(_parameter(p.name, p.shape.types, p.required) for p in spec.parameters)
    parts = [f"**{spec.name}**({takes})", spec.description]
    if isinstance(spec, ToolSpec) and (asks := _asks(spec)):
        parts.append(f"Requires: {', '.join(asks)}.")
    if isinstance(spec, SkillSpec):
        uses = ", ".join((*spec.required_tools, *spec.required_skills))
        parts += [f"Uses: {uses}."] if uses else []
    return "\n\n".join(parts)


def of_value(name: str, shape: Schema) -> str:
    """Return a value's type, description, default and limits."""
    lines = [f"**{name}**: {type_words(shape, ' | ')}"]
    if shape.description:
        lines.append(shape.description)
    if limits := limits_of_value(shape):
        lines.append(f"{limits[0].upper()}{limits[1:]}.")
    return "\n\n".join(lines)


def limits_of_value(shape: Schema) -> str:
    """Return a value's default, choices and limits in a few words; empty without any."""
    found = [f"default {shown_value(shape.default)}"] if shape.has_default else []
    found += [f"one of {choices_of(shape)}"] if shape.enum is not None else []
    return ", ".join([*found, *limits_of(shape, without=("unit", "example"))])


def _parameter(name: str, types: tuple[str, ...], required: bool) -> str:  # noqa: FBT001 - internal
    return f"{name}{'' if required else '?'}: {' | '.join(types) or 'any'}"


def _asks(spec: ToolSpec) -> list[str]:
    safety = spec.safety
    told = {
        "a user": spec.requires_auth,
        **{f"the {fact}": True for fact in spec.requires_context},
        f"confidence of {safety.min_confidence}": safety.min_confidence is not None,
        "the user's own words": safety.explicit_intent,
        "a confirmation": safety.requires_confirmation or safety.confirm_when,
    }
    return [words for words, asked in told.items() if asked]
