"""A kiosk whose tools are served over HTTP by a real server, in a thread of its own."""

import asyncio
import hashlib
import shutil
import threading
from pathlib import Path
from typing import Any, Self

import httpx
from tests.definitions import records

from toolmd import Workspace
from toolmd._auth import ALL_RIGHTS, Addresses, Tokens
from toolmd._auth.server import HttpServer, bound_socket
from toolmd._http.app import Server
from toolmd._http.events import PLUGIN, EventSource, Feed
from toolmd._types.call import Caller
from toolmd._types.settings import TokenSettings

HERE = Path(__file__).parent
TOKEN = "the-token-of-this-start"
GUESTS = {"ana": "the-token-of-ana-which-is-long", "eve": "the-token-of-eve-which-is-long"}


def copied(folder: Path) -> Path:
    """Copy the project into a folder, where a test may change it."""
    made = shutil.ignore_patterns(".toolmd", "__pycache__", "orders.jsonl")
    return Path(shutil.copytree(HERE / "project", folder / "kiosk", ignore=made))


class Kiosk:
    """The project served by a real server in a thread of its own."""

    def __init__(self, folder: Path, store: str = "memory", **serve: int) -> None:
        """`serve` are settings of that table."""
        self.folder = folder
        self.event_source = EventSource(Feed())
        self.workspace = Workspace.open(
            folder, overrides={"store": store}, plugins={PLUGIN: self.event_source}
        )
        self._listening = bound_socket("127.0.0.1", 0)
        self.port = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.known = [
            TokenSettings(
                hashlib.sha256(token.encode()).hexdigest(),
                user,
                ("call", "decide"),
                {"patient": (f"p-{user}",)},
            )
            for user, token in GUESTS.items()
        ]
        self.server = Server(
            self.workspace,
            self.event_source,
            addresses=Addresses.of("127.0.0.1", self.port),
            tokens=Tokens(
                lambda: self.known,
                own=TOKEN,
                caller=Caller("op", {"patient": "p-op"}),
                may=ALL_RIGHTS,
            ),
            port=self.port,
        )
        self._http = HttpServer(
            self.server.app, settings=self.workspace.settings.serve._replace(**serve)
        )
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def connections(self) -> list[Any]:
        """The connections that are open now, as the server holds them."""
        return list(self._http.server_state.connections)

    def client(self, token: str = TOKEN, **headers: str) -> httpx.Client:
        sent = {"authorization": f"Bearer {token}", **headers}
        return httpx.Client(base_url=self.url, headers=sent, timeout=30)

    def orders(self) -> list[Any]:
        """Return the orders of the tool `order`."""
        return records(self.folder / "tools_md" / "orders.jsonl")

    def _serve(self) -> None:
        asyncio.run(self._http.serve(sockets=[self._listening]))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.event_source.feed.close()
        self._http.should_exit = True
        self._thread.join()
        self.workspace.close()
