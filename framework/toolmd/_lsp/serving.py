"""Serve one editor over standard input and output, with the Language Server Protocol."""

import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from toolmd._lsp.editor import Editor


def serve_editor(*, ready: Callable[[Callable[[], None]], None] = lambda _: None) -> None:
    """Serve until the editor closes the pipe.

    Prints of a project's Python go to stderr: stdout is for the protocol alone.

    Args:
        ready: A function that first receives the function that closes the projects.
    """
    writes: BinaryIO = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server, editor = _server()
    ready(editor.close)
    try:
        server.start_io(sys.stdin.buffer, writes)
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
    def definition(params: types.DefinitionParams) -> types.Location | None:
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
