"""An editor: a real language client over the pipes of a real `toolmd lsp`."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

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


class Editor:
    """One editor on one project."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._client = LanguageClient("editor", "1")
        self._runner = asyncio.Runner()
        self._shown: dict[str, list[types.Diagnostic]] = {}
        self._news = asyncio.Condition()

        @self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def shown(params: types.PublishDiagnosticsParams) -> None:
            async with self._news:
                self._shown[params.uri] = list(params.diagnostics)
                self._news.notify_all()

        self.capabilities = self._runner.run(self._start())

    async def _start(self) -> types.ServerCapabilities:
        await self._client.start_io(sys.executable, "-m", "toolmd", "lsp")
        answer = await self._client.initialize_async(
            types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=None)
        )
        self._client.initialized(types.InitializedParams())
        return answer.capabilities

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str) -> list[str]:
        text = (self.root / name).read_text("utf-8")
        item = types.TextDocumentItem(self.uri(name), "markdown", 1, text)
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

    def shown(self, name: str) -> list[types.Diagnostic]:
        return self._shown.get(self.uri(name), [])

    def ask(self, method: str, params: Any) -> Any:
        asked: Callable[[Any], Awaitable[Any]] = getattr(self._client, f"{method}_async")

        async def answered() -> Any:
            return await asyncio.wait_for(asked(params), TIMEOUT_S)

        return self._runner.run(answered())

    def at(self, name: str, text: str, after: str) -> tuple[Any, types.Position]:
        """Return the document and the position after a part of its text."""
        before = text[: text.index(after) + len(after)]
        line = before.count("\n")
        return self.document(name), types.Position(line, len(before.rpartition("\n")[2]))

    def close(self) -> None:
        async def end() -> None:
            await self._client.shutdown_async(None)
            self._client.exit(None)
            await self._client.stop()

        self._runner.run(asyncio.wait_for(end(), TIMEOUT_S))
        self._runner.close()

    def _told(self, name: str, tell: Callable[[], None]) -> list[str]:
        """Send a notification; return the codes of a document's next diagnostics."""

        async def codes() -> list[str]:
            uri = self.uri(name)
            self._shown.pop(uri, None)
            tell()
            async with asyncio.timeout(TIMEOUT_S), self._news:
                await self._news.wait_for(lambda: uri in self._shown)
            return [str(diagnostic.code) for diagnostic in self._shown[uri]]

        return self._runner.run(codes())
