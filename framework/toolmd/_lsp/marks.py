"""Mark a document: semantic tokens, links, and hints of what is in force but not written."""

from collections.abc import Iterator

from lsprotocol import types
from pygls import uris

from toolmd._expressions import Token
from toolmd._lsp import messages
from toolmd._lsp.index import FileIndex, Symbol
from toolmd._lsp.navigation import span_of
from toolmd._lsp.project import EditorProject
from toolmd._types.skill import SkillSpec, Step
from toolmd._types.source import Position
from toolmd._types.tool import ToolSpec
from toolmd._validation import shown_value

LEGEND = types.SemanticTokensLegend(
    ["function", "parameter", "variable", "namespace", "event", "property", "method", "string",
     "number", "operator"],
    ["declaration"],
)  # fmt: skip
_TYPES = {"definition": "function", "section": "namespace", "example": "event"}


def semantic_tokens(file: FileIndex) -> list[int]:
    """Return the names and the expressions of a document, encoded as the protocol has it."""
    found = {
        one.place: (_TYPES.get(one.symbol.kind, one.symbol.kind), int(one.declares))
        for one in file.occurrences
    }
    for expression in file.expressions:
        behind = [*expression.tokens[1:], (Token("mark", "", 0), Position(0, 0, 0))]
        before = Token("mark", "", 0)
        for (token, place), (after, _) in zip(expression.tokens, behind, strict=True):
            found.setdefault(place, (_type(before, token, after), 0))
            before = token
    data: list[int] = []
    last = types.Position(0, 0)
    for place, (kind, modifiers) in sorted(found.items()):
        at = file.page.range(span_of(file.page, place))
        line, column = at.start.line - last.line, at.start.character
        column -= last.character if line == 0 else 0
        length = at.end.character - at.start.character
        data += [line, column, length, LEGEND.token_types.index(kind), modifiers]
        last = at.start
    return data


def _type(before: Token, token: Token, after: Token) -> str:
    match token.kind:
        case "string" | "number":
            return token.kind
        case "name" if after.text == "(":
            return "method"
        case "name":
            return "property" if before.text == "." else "variable"
        case _:
            return "operator"


def links(file: FileIndex, project: EditorProject) -> Iterator[types.DocumentLink]:
    """Yield a link to the file of each tool and skill that the document names."""
    for one in file.occurrences:
        if one.symbol.kind == "definition" and not one.declares:
            spec = project.definition(one.symbol.name)
            path = project.file_of(spec) if spec is not None else None
            if spec is not None and path is not None:
                at = file.page.range(span_of(file.page, one.place))
                target = uris.from_fs_path(str(path))
                yield types.DocumentLink(at, target, tooltip=spec.description)


def hints(file: FileIndex, project: EditorProject) -> Iterator[types.InlayHint]:
    """Yield hints of defaults and limits: of parameters, of the tool, and at each Use."""
    if isinstance(file.spec, SkillSpec):
        for section in file.spec.workflow_sections:
            for step in section.steps:
                yield from _hints_of_step(file, step, project)
        return
    shapes = {p.name: p for p in file.parameters}
    for one in file.occurrences:
        if one.declares and one.symbol.kind == "parameter" and one.symbol.name in shapes:
            parameter = shapes[one.symbol.name]
            limits = messages.limits_of_value(parameter.shape)
            words = [] if parameter.required else ["optional"]
            if text := ", ".join([*words, *([limits] if limits else [])]):
                yield _hint(file, one.place, text)
        own = one.declares and one.symbol == Symbol("definition", file.name)
        if own and isinstance(file.spec, ToolSpec):
            yield _hint(file, one.place, project.limits_of(file.spec))


def _hints_of_step(
    file: FileIndex, step: Step, project: EditorProject
) -> Iterator[types.InlayHint]:
    spec = project.definition(step.use.name) if step.use is not None else None
    place = step.places.get("Use")
    if step.use is None or spec is None or place is None:
        return
    given = {argument.name for argument in step.use.arguments}
    words = [
        f"{p.name} = {shown_value(p.shape.default, sensitive=p.shape.sensitive)}"
        for p in spec.parameters
        if p.name not in given and p.shape.has_default
    ]
    if isinstance(spec, ToolSpec):
        words.append(project.limits_of(spec))
    if words:
        yield _hint(file, place, ", ".join(words))


def _hint(file: FileIndex, place: Position, text: str) -> types.InlayHint:
    at = file.page.position(place.line, place.end_column)
    return types.InlayHint(at, text, padding_left=True)
