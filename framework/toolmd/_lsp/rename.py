"""Rename a name wherever it is used, or deny it if a use might be missed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from keyword import iskeyword
from pathlib import Path

from lsprotocol import types

from toolmd._lsp.index import Occurrence, Symbol
from toolmd._lsp.navigation import Navigator, Place, span_of
from toolmd._lsp.page import EditorPage
from toolmd._lsp.python import UnfollowedError
from toolmd._parse.kinds import PARSERS
from toolmd._parse.words.names import is_name
from toolmd._types.definition import FileSpec
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.operation import read_operation
from toolmd._types.tool import ToolSpec

_NAMED = ("section", "example")


class RenameError(Exception):
    """A rename that is denied; the message states the reason."""


def renamable(found: Occurrence | None) -> Occurrence:
    """Return the name at a cursor; raises RenameError if nothing there has a name."""
    if found is None:
        message = "here is no name of a tool, a skill, a parameter, a variable or a section"
        raise RenameError(message)
    return found


def rename(navigator: Navigator, symbol: Symbol, name: str) -> types.WorkspaceEdit:
    """Return the edits that rename a symbol.

    Raises:
        RenameError: The name is not valid or taken, or a use can't be followed.
    """
    _check_name(navigator, symbol, name)
    _check_owner(navigator, symbol)
    edits: dict[str, dict[Place, str]] = {}
    pages: dict[str, EditorPage] = {}
    marked = [(page, one.place) for page, one in navigator.uses(symbol)]
    try:
        python = [*navigator.in_python(symbol)]
    except UnfollowedError as error:
        message = f"{error}: rename '{symbol.name}' by hand"
        raise RenameError(message) from None
    for page, place in (*marked, *python):
        old = page.lines[place.line - 1][place.column - 1 : place.end_column - 1]
        new = name if page.kind is not None or old == symbol.name else _snake(name)
        edits.setdefault(page.uri, {})[page, place] = new
        pages[page.uri] = page
    marked_pages = [page for page in pages.values() if page.kind is not None]
    _check_texts(navigator, {page: _edited(page, edits[page.uri]) for page in marked_pages})
    _check_meaning(navigator, symbol, name)
    return types.WorkspaceEdit(
        changes={
            uri: [types.TextEdit(p.range(span_of(p, at)), new) for (p, at), new in found.items()]
            for uri, found in edits.items()
        }
    )


def _check_name(navigator: Navigator, symbol: Symbol, name: str) -> None:
    if symbol.kind == "definition":
        valid, remedy = is_name(name), "small letters, digits and _, starting with a letter"
        if navigator.project.definition(name) is not None:
            message = f"'{name}' is already the name of a tool or a skill"
            raise RenameError(message)
    elif symbol.kind in _NAMED:
        valid, remedy = bool(name.strip()) and "\n" not in name, "a line of text"
    else:
        valid = name.isidentifier() and name.isascii()
        remedy = "letters, digits and _, starting with a letter"
    if not valid:
        message = f"'{name}' is not a valid name: write {remedy}"
        raise RenameError(message)


def _check_owner(navigator: Navigator, symbol: Symbol) -> None:
    """Check that nothing outside of the project uses the name."""
    if symbol.kind not in {"definition", "parameter"}:
        return
    owner = symbol.owner or symbol.name
    if not any(one.declares for _, one in navigator.uses(Symbol("definition", owner))):
        message = f"'{owner}' is not declared by a Name in this project"
        raise RenameError(message)
    spec = navigator.project.definition(owner)
    if symbol.kind == "definition" or spec is None:
        foreign = symbol.kind == "definition" and navigator.project.foreign(owner)
        if foreign and ":" in foreign and not foreign.startswith(("http ", "mcp ")):
            message = f"{foreign} implements '{owner}', so only its author can rename it"
            raise RenameError(message)
        return
    operation = read_operation(spec.implemented_by) if isinstance(spec, ToolSpec) else None
    if operation is not None:
        shape = next((p.shape for p in spec.parameters if p.name == symbol.name), None)
        sent = (shape.sent_in or "") if shape is not None else ""
        if symbol.name not in operation.placeholders and len(sent.split()) < 2:  # noqa: PLR2004
            message = (
                f"the web service gets '{symbol.name}' under this name: write "
                f"`Sent In: query {symbol.name}` first, or where it is sent"
            )
            raise RenameError(message)
    elif foreign := navigator.project.foreign(owner):
        message = f"{foreign} implements '{owner}', and its parameters have these names"
        raise RenameError(message)


def _check_texts(navigator: Navigator, texts: Mapping[EditorPage, str]) -> None:
    """Check that the texts have no more errors than before."""
    changed: dict[str, FileSpec] = {}
    for page, text in texts.items():
        spec = PARSERS[page.kind or "tool"](text, page.path)[0]
        if isinstance(spec, FileSpec):
            changed[navigator.index.file(page).name] = spec
    check = navigator.project.typed
    for page, text in texts.items():
        kind = page.kind or "tool"
        known = Counter(found.code for found in _errors(check(kind, page.text, page.path)))
        for found in _errors(check(kind, text, page.path, changed)):
            known[found.code] -= 1
            if known[found.code] < 0:
                message = f"{Path(page.path).name}:{found.line}: {found.message}"
                raise RenameError(message)


def _check_meaning(navigator: Navigator, symbol: Symbol, name: str) -> None:
    """Check that the new name stands for nothing else where the old one is read."""
    if symbol.kind in _NAMED:
        return
    owner = symbol.owner or symbol.name
    for page in navigator.pages.values() if symbol.owner else ():
        file = navigator.index.file(page)
        for expression in file.expressions if file.name == owner else ():
            if name in expression.words:
                message = f"'{name}' already stands for something in `{expression.source}`"
                raise RenameError(message)
    target = navigator.project.python_of(owner)
    own = navigator.parameter(owner, symbol.name) if symbol.kind == "parameter" else None
    if target is None or (own is None and (symbol.owner or target[1] != symbol.name)):
        return
    python, old = own or (navigator.python_file(target[0]), symbol.name)
    new = name if old == symbol.name else _snake(name)
    if iskeyword(new) or python.holds(new, target[1] if symbol.owner else ""):
        message = f"'{new}' already stands for something in {Path(python.page.path).name}"
        raise RenameError(message)


def _edited(page: EditorPage, edits: dict[Place, str]) -> str:
    lines = [*page.lines]
    for (_, at), new in sorted(edits.items(), key=lambda edit: edit[0][1], reverse=True):
        line = lines[at.line - 1]
        lines[at.line - 1] = line[: at.column - 1] + new + line[at.end_column - 1 :]
    return "\n".join(lines)


def _errors(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [d for d in found if d.severity is not Severity.HINT]


def _snake(name: str) -> str:
    """Return a parameter's name as Python writes it."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
