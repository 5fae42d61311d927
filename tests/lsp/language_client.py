"""Editors: a real language client over the pipes of a real `toolmd lsp`."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Self

from lsprotocol import types
from pygls.lsp.client import LanguageClient

TIMEOUT_S = 30.0
TOOL = """\
# Water Plant

Water one plant.

## Metadata

- **Name**: water_plant
- **Version**: 1.0.0
- **Category**: garden

## Parameters

### plant

- **Type**: string
- **Required**: true
- **Description**: Which plant

## Returns

- **Type**: string
- **Description**: What was done
"""
SKILL = """\
# Care

Care for a plant.

## Metadata

- **Name**: care
- **Version**: 1.0.0
- **Category**: garden
- **Required Tools**: water_plant

## Workflow

1. **Water it**
   - **Use**: water_plant
   - **With**:
     - plant: {plant}
2. **Done**
   - **Return**: Watered.

## Input Schema

### plant

- **Type**: string
- **Required**: true
- **Description**: Which plant

## Output Schema

- **Type**: object
- **Success**: It was watered
"""


_CAPABILITIES = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
            dynamic_registration=True
        )
    )
)


class Client:
    """A language client over the pipes of one `toolmd lsp`, for any number of projects."""

    def __init__(self) -> None:
        self.protocol = LanguageClient("editor", "1")
        self.runner = asyncio.Runner()
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.news = asyncio.Condition()
        self.messages: list[str] = []
        self.registered: list[str] = []
        self.answer: str | None = None
        """The button that the user presses in the next question."""

        @self.protocol.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def shown(params: types.PublishDiagnosticsParams) -> None:
            async with self.news:
                self.shown[params.uri] = list(params.diagnostics)
                self.news.notify_all()

        @self.protocol.feature(types.WINDOW_SHOW_MESSAGE)
        def message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

        @self.protocol.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
        def question(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
            self.messages.append(params.message)
            return types.MessageActionItem(self.answer) if self.answer else None

        @self.protocol.feature(types.CLIENT_REGISTER_CAPABILITY)
        def registered(params: types.RegistrationParams) -> None:
            self.registered += [one.method for one in params.registrations]

        self.capabilities = self.runner.run(self._start())

    async def _start(self) -> types.ServerCapabilities:
        await self.protocol.start_io(sys.executable, "-m", "toolmd", "lsp")
        answer = await self.protocol.initialize_async(
            types.InitializeParams(capabilities=_CAPABILITIES, root_uri=None)
        )
        self.protocol.initialized(types.InitializedParams())
        return answer.capabilities

    def close(self) -> None:
        async def end() -> None:
            await self.protocol.shutdown_async(None)
            self.protocol.exit(None)
            await self.protocol.stop()

        self.runner.run(asyncio.wait_for(end(), TIMEOUT_S))
        self.runner.close()


class Editor:
    """The documents of one project in the editor."""

    def __init__(self, client: Client, root: Path) -> None:
        self.root = root
        self.client = client
        self._client = client.protocol
        self._runner = client.runner
        self._opened: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        for name in self._opened:
            closed = types.DidCloseTextDocumentParams(self.document(name))
            self._client.text_document_did_close(closed)

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str) -> list[str]:
        text = (self.root / name).read_text("utf-8")
        item = types.TextDocumentItem(self.uri(name), "markdown", 1, text)
        self._opened.add(name)
        return self._told(
            name,
            lambda: self._client.text_document_did_open(types.DidOpenTextDocumentParams(item)),
        )

    def type(self, name: str, text: str) -> list[str]:
        change = types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, self.uri(name)),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
        return self._told(name, lambda: self._client.text_document_did_change(change))

    def save(self, name: str, text: str, about: str | None = None) -> list[str]:
        """Save a file from the editor; return its diagnostics, or those of another file."""
        self.type(name, text)
        (self.root / name).write_text(text, "utf-8")
        params = types.DidSaveTextDocumentParams(self.document(name))
        return self._told(about or name, lambda: self._client.text_document_did_save(params))

    def saved(self, name: str) -> None:
        """Notify the server that a file was saved; it reloads the project."""
        params = types.DidSaveTextDocumentParams(self.document(name))
        self._client.text_document_did_save(params)

    def close(self, name: str) -> list[str]:
        closed = types.DidCloseTextDocumentParams(self.document(name))
        return self._told(name, lambda: self._client.text_document_did_close(closed))

    def written(self, name: str, about: str) -> list[str]:
        """Notify the server that another program changed a file; return another's diagnostics."""
        event = types.FileEvent(self.uri(name), types.FileChangeType.Changed)
        changed = types.DidChangeWatchedFilesParams([event])
        return self._told(about, lambda: self._client.workspace_did_change_watched_files(changed))

    def shown(self, name: str) -> list[types.Diagnostic]:
        return self.client.shown.get(self.uri(name), [])

    def ask(self, method: str, params: Any) -> Any:
        asked: Callable[[Any], Awaitable[Any]] = getattr(self._client, f"{method}_async")

        async def answered() -> Any:
            return await asyncio.wait_for(asked(params), TIMEOUT_S)

        return self._runner.run(answered())

    def near(self, method: str, name: str, after: str, **more: Any) -> Any:
        """Ask at the position after a part of a saved file."""
        text = (self.root / name).read_text("utf-8")
        document, position = self.at(name, text, after)
        kind = "Reference" if method == "references" else method.title()
        params = getattr(types, f"{kind}Params")
        return self.ask(
            f"text_document_{method}", params(text_document=document, position=position, **more)
        )

    def pieces(self, locations: Any) -> list[tuple[str, str]]:
        """Return the file and the text of each location, or of each edit of a file."""
        found = []
        for one in locations:
            path = Path(one.uri.removeprefix("file://"))
            start, end = one.range.start, one.range.end
            line = path.read_text("utf-8").split("\n")[start.line]
            found.append((path.name, line[start.character : end.character]))
        return sorted(found)

    def at(self, name: str, text: str, after: str) -> tuple[Any, types.Position]:
        """Return the document and the position after a part of its text."""
        before = text[: text.index(after) + len(after)]
        line = before.count("\n")
        return self.document(name), types.Position(line, len(before.rpartition("\n")[2]))

    def _told(self, name: str, tell: Callable[[], None]) -> list[str]:
        """Send a notification; return the codes of a document's next diagnostics."""

        async def codes() -> list[str]:
            uri = self.uri(name)
            self.client.shown.pop(uri, None)
            tell()
            async with asyncio.timeout(TIMEOUT_S), self.client.news:
                await self.client.news.wait_for(lambda: uri in self.client.shown)
            return [str(diagnostic.code) for diagnostic in self.client.shown[uri]]

        return self._runner.run(codes())
