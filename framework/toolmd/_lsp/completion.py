"""Complete section titles, keys, values and arguments at the cursor."""

from collections.abc import Iterable, Iterator

from lsprotocol import types

from toolmd._lsp import messages
from toolmd._lsp.page import EditorPage
from toolmd._lsp.place import Cursor
from toolmd._lsp.project import EditorProject
from toolmd._parse.fields.field import Field
from toolmd._parse.fields.table import TABLES
from toolmd._parse.words.keys import fold
from toolmd._types.schema import JSON_TYPES
from toolmd._types.source import Span

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
            yield f"## {table.name}\n", messages.of_section(table)


def _keys(place: Cursor) -> Iterator[_Item]:
    for name, field in place.fields.items():
        yield f"**{name}**: ", messages.of_field(name, field)


def _values(place: Cursor, project: EditorProject) -> Iterator[_Item]:
    field = place.known
    if isinstance(field, Field):
        if field.choices:
            yield from ((choice, "") for choice in field.choices)
        elif field.kind == "boolean":
            yield from (("yes", ""), ("no", ""))
        elif field.kind == "type":
            yield from ((word, "") for word in _TYPES)
        elif field.kind == "names":
            yield from _named(project, skills=field.attribute == "required_skills")
    elif field is not None and fold(place.key) in _CALLS:
        yield from (*_named(project, skills=False), *_named(project, skills=True))
    elif field is not None and fold(place.key) in {"onerror", "ifempty", "ifno", "orelse"}:
        yield from ((handler, "") for handler in _HANDLERS)


def _named(project: EditorProject, *, skills: bool) -> Iterator[_Item]:
    for spec in (project.skills if skills else project.tools).values():
        yield spec.name, messages.of_definition(spec)


def _arguments(place: Cursor, project: EditorProject) -> list[_Item]:
    """Return the arguments of the step's tool, if the cursor is below its With."""
    if place.section is None or place.section.children != "steps" or not _below_with(place):
        return []
    spec = project.definition(place.said("Use"))
    parameters = spec.parameters if spec is not None else ()
    return [(f"{p.name}: ", p.shape.description) for p in parameters]


def _below_with(place: Cursor) -> bool:
    indent = len(place.text) - len(place.text.lstrip())
    for line in reversed(place.lines[: place.line - 1]):
        here = len(line) - len(line.lstrip())
        if line.strip() and here < indent:
            return fold(line.strip(" -*+\t").partition(":")[0]) == "with"
    return False
