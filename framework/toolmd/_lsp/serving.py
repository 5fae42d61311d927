"""Serve one editor over standard input and output, with the Language Server Protocol."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from toolmd._lsp.editor import Editor
from toolmd._lsp.lenses import ACCEPT, RUN
from toolmd._lsp.marks import LEGEND
from toolmd._lsp.rename import RenameError


def serve_editor(*, ready: Callable[[Callable[[], None]], None] = lambda _: None) -> None:
    """Serve until the editor closes the pipe.

    Prints of a project's Python go to stderr, and it reads an empty stdin: both pipes are for the
    protocol alone.

    Args:
        ready: A function that first receives the function that closes the projects.
    """
    reads: BinaryIO = os.fdopen(os.dup(0), "rb")
    writes: BinaryIO = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    server, editor = _server()
    ready(editor.close)
    try:
        server.start_io(reads, writes)
    finally:
        editor.close()


def _server() -> tuple[LanguageServer, Editor]:
    server = LanguageServer(
        "toolmd", version("toolmd"), text_document_sync_kind=types.TextDocumentSyncKind.Full
    )
    editor = Editor(server)
    _follow(server, editor)
    _answer(server, editor)
    _navigate(server, editor)
    _mark(server, editor)
    _execute(server, editor)
    return server, editor


def _follow(server: LanguageServer, editor: Editor) -> None:
    """Register the handlers of document events."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        editor.opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def typed(params: types.DidChangeTextDocumentParams) -> None:
        editor.typed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        editor.saved(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        editor.closed(params.text_document.uri)

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        able = workspace.did_change_watched_files if workspace is not None else None
        if able is not None and able.dynamic_registration:
            files = types.DidChangeWatchedFilesRegistrationOptions(
                [types.FileSystemWatcher("**/*.{md,py,toml}")]
            )
            kind = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            asked = types.RegistrationParams([types.Registration("files", kind, files)])
            await server.client_register_capability_async(asked)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(params: types.DidChangeWatchedFilesParams) -> None:
        editor.changed([change.uri for change in params.changes])


def _answer(server: LanguageServer, editor: Editor) -> None:
    """Register the handlers of requests."""

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=["#", "*", ":", "-", " "]),
    )
    def complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        return editor.complete(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        return editor.hover(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        return editor.definition(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        return editor.formatted(params.text_document.uri)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        return editor.fixes(params.text_document.uri, params.range)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return editor.symbols(params.text_document.uri)


def _navigate(server: LanguageServer, editor: Editor) -> None:
    """Register the handlers of references and renames."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        declared = params.context.include_declaration
        return editor.references(params.text_document.uri, params.position, declared=declared)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def renamable(params: types.PrepareRenameParams) -> types.Range:
        with _denied():
            return editor.renamable(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit:
        with _denied():
            return editor.rename(params.text_document.uri, params.position, params.new_name)

    @server.feature(types.WORKSPACE_SYMBOL)
    def symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        return editor.workspace_symbols(params.query)


def _mark(server: LanguageServer, editor: Editor) -> None:
    """Register the handlers of what is drawn into a document."""

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens:
        return types.SemanticTokens(editor.semantic_tokens(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    def links(params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        return editor.links(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        return editor.hints(params.text_document.uri, params.range)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        return editor.lenses(params.text_document.uri)


_DONE = {
    "called": "passed",
    "validated": "passed all checks; it has no Result, so the tool was not called",
}


def _execute(server: LanguageServer, editor: Editor) -> None:
    """Register the commands behind the lenses."""

    @server.command(RUN)
    @server.thread()
    def run(uri: str, tool: str, example: str) -> dict[str, Any]:
        tried = editor.project_of(uri).try_example(tool, example)
        kind = types.MessageType.Info if tried.passed else types.MessageType.Error
        done = _DONE.get(tried.how, "")
        text = f"{tool}, {example}: {done if tried.passed else tried.message}"
        server.window_show_message(types.ShowMessageParams(kind, text))
        return tried.to_dict()

    @server.command(ACCEPT)
    async def accept(uri: str, name: str) -> bool:
        project = editor.project_of(uri)
        changes = [change for change in project.pending_changes if change.name == name]
        if not changes:
            return False
        ask = f"Accept the weaker policy of {name}?\n{changes[0].diff}"
        yes = types.MessageActionItem("Accept")
        answer = await server.window_show_message_request_async(
            types.ShowMessageRequestParams(
                types.MessageType.Warning, ask, [yes, types.MessageActionItem("Keep the old one")]
            )
        )
        if answer is None or answer.title != yes.title:
            return False
        project.accept(name)
        editor.show_project(project)
        return True


@contextmanager
def _denied() -> Iterator[None]:
    """Convert a denied rename to an error that editors show."""
    try:
        yield
    except RenameError as error:
        raise JsonRpcException(str(error), code=types.LSPErrorCodes.RequestFailed) from None
