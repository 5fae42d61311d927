"""Serve one editor over standard input and output, with the Language Server Protocol."""

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from toolmd._lsp.editor import Editor


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

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        declared = params.context.include_declaration
        return editor.references(params.text_document.uri, params.position, declared=declared)
