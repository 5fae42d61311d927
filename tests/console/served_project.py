"""A project that is watched and served, and a browser that opens its link."""

import asyncio
import threading
from pathlib import Path
from typing import Any, Self

import uvicorn
from projects import FILES

from toolmd import Workspace
from toolmd._auth import ALL_RIGHTS, Addresses, Tokens, fresh_token
from toolmd._auth.server import bound_socket
from toolmd._call.audit.reader import AuditReader
from toolmd._http.app import Server
from toolmd._http.events import PLUGIN, EventSource, Feed
from toolmd._types.call import NOBODY, Caller
from toolmd._types.settings import TokenSettings
from toolmd._watch import Watcher


class ServedProject:
    """A served project: its files, its workspace, and the address of its console."""

    def __init__(
        self, folder: Path, tokens: tuple[TokenSettings, ...] = (), caller: Caller = NOBODY
    ) -> None:
        self.folder = folder
        for name, text in FILES.items():
            self.write(name, text)
        event_source = EventSource(Feed())
        self.workspace = Workspace.open(folder, plugins={PLUGIN: event_source})
        self._listening = bound_socket("127.0.0.1", 0)
        port = self._listening.getsockname()[1]
        token = fresh_token()
        self.token = token
        self.url = f"http://127.0.0.1:{port}"
        self.link = f"{self.url}/enter#token={token}"
        server = Server(
            self.workspace,
            event_source,
            addresses=Addresses.of("127.0.0.1", port),
            tokens=Tokens(lambda: tokens, own=token, caller=caller, may=ALL_RIGHTS),
            port=port,
        )
        config = uvicorn.Config(
            server.app, log_level="error", timeout_graceful_shutdown=1, ws="none"
        )
        self._event_source = event_source
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._watcher = Watcher(self.workspace)

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new, 1))

    def called(self) -> list[dict[str, Any]]:
        """Return the calls that were decided, from the audit."""
        return [one.record for one in AuditReader(self.workspace.settings).latest(1000)[::-1]]

    def _serve(self) -> None:
        asyncio.run(self._uvicorn.serve(sockets=[self._listening]))

    def __enter__(self) -> Self:
        self._watcher.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._event_source.feed.close()
        self._uvicorn.should_exit = True
        self._thread.join()
        self._watcher.stop()
        self.workspace.close()


class Visitor:
    """A browser that opened the link; its complaints fail the test."""

    def __init__(self, browser: Any, served: ServedProject, **options: Any) -> None:
        self.served = served
        self.complaints: list[str] = []
        self.context = browser.new_context(**{"reduced_motion": "reduce"} | options)
        self.context.set_default_timeout(15_000)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._said)
        self.page.on("dialog", self._asked)
        self.page.goto(served.link)
        self.page.wait_for_url(f"{served.url}/")
        self.see()

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _asked(self, dialog: Any) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def go(self, path: str) -> Any:
        self.page.goto(self.served.url + path)
        return self.see()

    def see(self) -> Any:
        """Wait until the page follows the events; return it."""
        self.page.wait_for_selector("[data-feed=live]")
        return self.page
