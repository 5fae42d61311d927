"""A kiosk whose tools are served over HTTP by a real server, in a thread of its own."""

import asyncio
import hashlib
import json
import threading
from pathlib import Path
from typing import Any, Self

import httpx
import uvicorn

from toolmd import Workspace
from toolmd._gate import Addresses, Tokens
from toolmd._gate.sockets import bound_socket
from toolmd._http.api.ears import PLUGIN, Ears
from toolmd._http.api.feed import Feed
from toolmd._http.app import Server
from toolmd._model.call import Caller
from toolmd._model.settings import TokenSettings

TOKEN = "the-token-of-this-start"
GUESTS = {"ana": "the-token-of-ana-which-is-long", "eve": "the-token-of-eve-which-is-long"}


class Kiosk:
    """The project served by a real server in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ears = Ears(Feed())
        self.workspace = Workspace.open(folder, plugins={PLUGIN: self.ears})
        self._listening = bound_socket("127.0.0.1", 0)
        self.port = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        known = [
            TokenSettings(hashlib.sha256(token.encode()).hexdigest(), user, (f"p-{user}",))
            for user, token in GUESTS.items()
        ]
        self.server = Server(
            self.workspace,
            self.ears,
            addresses=Addresses.of("127.0.0.1", self.port),
            tokens=Tokens(known, own=TOKEN, caller=Caller("op", "p-op")),
            port=self.port,
        )
        config = uvicorn.Config(
            self.server.app, log_level="error", timeout_graceful_shutdown=1, ws="none"
        )
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def connections(self) -> list[Any]:
        """The connections that are open now, as the server holds them."""
        return list(self._uvicorn.server_state.connections)

    def client(self, token: str = TOKEN, **headers: str) -> httpx.Client:
        sent = {"authorization": f"Bearer {token}", **headers}
        return httpx.Client(base_url=self.url, headers=sent, timeout=30)

    def orders(self) -> list[Any]:
        """Give what the tool `order` did."""
        path = self.folder / "tools_md" / "orders.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def _serve(self) -> None:
        asyncio.run(self._uvicorn.serve(sockets=[self._listening]))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ears.feed.close()
        self._uvicorn.should_exit = True
        self._thread.join()
        self.workspace.close()
