"""Complete and explain what stands at the cursor: sections, fields, values and expressions."""

import re
from collections.abc import Iterable, Iterator, Mapping

from lsprotocol import types

from toolmd._expressions import CursorScope, at_cursor
from toolmd._lsp.index import FileIndex, PlacedExpression
from toolmd._lsp.page import Cursor, EditorPage
from toolmd._lsp.project import EditorProject
from toolmd._parse.fields.table import TABLES, SectionTable
from toolmd._parse.words import fold
from toolmd._skills.check import scopes_of
from toolmd._types.approval import either
from toolmd._types.diagnostic import Span
from toolmd._types.field import Row
from toolmd._types.schema import JSON_TYPES, Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import FileSpec, ToolSpec
from toolmd._validation import choices_of, limits_of, shown_value, type_words


def of_field(name: str, field: Row | str) -> str:
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
        either(spec.allowed_roles or ("",)): bool(spec.allowed_roles),
        f"confidence of {safety.min_confidence}": safety.min_confidence is not None,
        "the user's own words": safety.explicit_intent,
        "a confirmation": safety.requires_confirmation or safety.confirm_when,
    }
    return [words for words, asked in told.items() if asked]


_TYPES = (*JSON_TYPES, "array of string", "datetime", "date", "time", "email", "uri")
_HANDLERS = ('stop "…"', "continue", "go to ", "retry 3 times, then continue")
_CALLS = frozenset(("use", "undo"))
_Item = tuple[str, str]
"""The text to insert, and its documentation."""


def complete(page: EditorPage, place: Cursor, project: EditorProject) -> list[types.CompletionItem]:
    """Return the completions at the cursor, the most useful first."""
    if place.fenced:
        return []
    if place.text.startswith("#"):
        return [*_items(page, place, 1, _sections(place), types.CompletionItemKind.Module)]
    if place.in_value and place.value_column is not None:
        values = _values(place, project)
        return [*_items(page, place, place.value_column, values, types.CompletionItemKind.Value)]
    if place.content is None or place.column < place.content:
        return []
    if arguments := _arguments(place, project):
        return [*_items(page, place, place.content, arguments, types.CompletionItemKind.Variable)]
    return [*_items(page, place, place.content, _keys(place), types.CompletionItemKind.Field)]


def _items(
    page: EditorPage,
    place: Cursor,
    start: int,
    written: Iterable[_Item],
    kind: types.CompletionItemKind,
) -> Iterator[types.CompletionItem]:
    end = place.column
    while place.text[end - 1 : end] == "*":
        end += 1  # asterisks that the editor has closed automatically
    span = page.range(Span(page.path, place.line, start, place.line, end))
    for number, (text, told) in enumerate(written):
        label = text.strip("*: \n#")
        yield types.CompletionItem(
            label,
            kind=kind,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, told) if told else None,
            sort_text=f"{number:03}",
            filter_text=place.text[start - 1 : place.column] + label,
            text_edit=types.TextEdit(span, text),
        )


def _sections(place: Cursor) -> Iterator[_Item]:
    there = {fold(heading.title) for heading in place.headings if heading.line != place.line}
    for table in TABLES[place.kind]:
        if not there & {fold(name) for name in (table.name, *table.aliases)}:
            yield f"## {table.name}\n", of_section(table)


def _keys(place: Cursor) -> Iterator[_Item]:
    for name, field in place.fields.items():
        yield f"**{name}**: ", of_field(name, field)


def _values(place: Cursor, project: EditorProject) -> Iterator[_Item]:
    field = place.known
    if isinstance(field, Row):
        if field.choices:
            yield from ((choice, "") for choice in field.choices)
        elif field.kind == "boolean":
            yield from (("yes", ""), ("no", ""))
        elif field.kind == "type":
            yield from ((word, "") for word in _TYPES)
        elif field.kind == "names":
            yield from _list_definitions(project, skills=field.attribute == "required_skills")
    elif field is not None and fold(place.key) in _CALLS:
        yield from (
            *_list_definitions(project, skills=False),
            *_list_definitions(project, skills=True),
        )
    elif field is not None and fold(place.key) in {"onerror", "ifempty", "ifno", "orelse"}:
        yield from ((handler, "") for handler in _HANDLERS)


def _list_definitions(project: EditorProject, *, skills: bool) -> Iterator[_Item]:
    for spec in (project.skills if skills else project.tools).values():
        yield spec.name, of_definition(spec)


def _arguments(place: Cursor, project: EditorProject) -> list[_Item]:
    """Return the arguments of the step's tool, if the cursor is below its With."""
    if place.section is None or place.section.children != "steps" or not _below_with(place):
        return []
    spec = project.definition(place.value_of("Use"))
    parameters = spec.parameters if spec is not None else ()
    return [(f"{p.name}: ", p.shape.description) for p in parameters]


def _below_with(place: Cursor) -> bool:
    indent = len(place.text) - len(place.text.lstrip())
    for line in reversed(place.lines[: place.line - 1]):
        here = len(line) - len(line.lstrip())
        if line.strip() and here < indent:
            return fold(line.strip(" -*+\t").partition(":")[0]) == "with"
    return False


class ExpressionReader:
    """The expressions of one file, with the names that each can read."""

    def __init__(self, file: FileIndex, project: EditorProject) -> None:
        self._file = file
        self._project = project

    def at(self, line: int, column: int) -> tuple[PlacedExpression, CursorScope] | None:
        """Return the expression at a position, and what is in scope there."""
        for expression in self._file.expressions:
            offset = expression.offset(line, column)
            if offset is not None:
                names = self._names(expression)
                scope = at_cursor(expression.source, offset, names)
                return None if scope is None else (expression, scope)
        return None

    def _names(self, expression: PlacedExpression) -> Mapping[str, Schema]:
        """Return the names of an expression; of a broken file, those of its last good version."""
        good = self._project.definition(self._file.name)
        spec = self._file.spec or good
        parameters = self._file.parameters or (spec.parameters if spec is not None else ())
        inputs = {p.name: p.shape for p in parameters}
        if not isinstance(spec, SkillSpec):
            return inputs
        scopes = scopes_of(spec, self._project.tools, self._project.skills)
        if (own := scopes.get(expression.at)) is not None:
            return own
        return {**inputs, **{n: shape for names in scopes.values() for n, shape in names.items()}}


def _word(file: FileIndex, line: int, column: int) -> Span:
    """Return the span of the part of a name before the cursor."""
    text = file.page.lines[line - 1][: column - 1]
    written = re.search(r"\w*\Z", text)
    start = written.start() + 1 if written is not None else column
    return Span(file.page.path, line, start, line, column)


def completions(
    file: FileIndex, scope: CursorScope, line: int, column: int
) -> list[types.CompletionItem]:
    """Return the names, fields and functions that may stand at the cursor."""
    at = file.page.range(_word(file, line, column))
    return [
        types.CompletionItem(
            name,
            kind=_kind(scope, what),
            detail=type_words(what, " | ") if isinstance(what, Schema) else "function",
            documentation=(what.description if isinstance(what, Schema) else what.says) or None,
            sort_text=f"{number:03}",
            text_edit=types.TextEdit(at, name),
        )
        for number, (name, what) in enumerate(scope.words)
    ]


def explanation(expression: PlacedExpression, scope: CursorScope) -> str:
    """Return what the word at the cursor is, and the type of the whole expression."""
    shape = scope.shape
    parts = [] if shape is None else [of_value(scope.word.text, shape)]
    whole = scope.type_of(expression.source)
    if whole is not None and expression.source != scope.word.text:
        parts.append(f"`{expression.source}` gives {type_words(whole, ' | ')}.")
    return "\n\n".join(parts)


def _kind(scope: CursorScope, what: object) -> types.CompletionItemKind:
    if not isinstance(what, Schema):
        return types.CompletionItemKind.Function
    return types.CompletionItemKind.Field if scope.receiver else types.CompletionItemKind.Variable
