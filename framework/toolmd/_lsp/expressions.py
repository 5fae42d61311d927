"""Complete and explain what stands within an expression, with its types."""

import re
from collections.abc import Mapping

from lsprotocol import types

from toolmd._expressions import CursorScope, at_cursor
from toolmd._lsp import messages
from toolmd._lsp.index import FileIndex, PlacedExpression
from toolmd._lsp.project import EditorProject
from toolmd._skills.check import scopes_of
from toolmd._types.schema import Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.source import Span
from toolmd._validation import type_words


class ExpressionReader:
    """The expressions of one file, with the names that each can read."""

    def __init__(self, file: FileIndex, project: EditorProject) -> None:
        self._file = file
        self._project = project

    def at(self, line: int, column: int) -> tuple[PlacedExpression, CursorScope] | None:
        """Return the expression at a position, and what is in scope there."""
        is_skill = self._file.kind == "skill"
        for expression in self._file.expressions:
            offset = expression.offset(line, column)
            if offset is not None:
                names = self._names(expression)
                scope = at_cursor(expression.source, offset, names, functions=is_skill)
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
    parts = [] if shape is None else [messages.of_value(scope.word.text, shape)]
    whole = scope.type_of(expression.source)
    if whole is not None and expression.source != scope.word.text:
        parts.append(f"`{expression.source}` gives {type_words(whole, ' | ')}.")
    return "\n\n".join(parts)


def _kind(scope: CursorScope, what: object) -> types.CompletionItemKind:
    if not isinstance(what, Schema):
        return types.CompletionItemKind.Function
    return types.CompletionItemKind.Field if scope.receiver else types.CompletionItemKind.Variable
