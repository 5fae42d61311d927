"""A project that `toolmd serve --workers` serves, and the load on it."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import httpx
from served_kiosk import TOKEN, Served
from tests.definitions import records, tool

CODE = """
import asyncio, json, os, time
from pathlib import Path

async def act() -> dict:
    began = time.monotonic()
    await asyncio.sleep(0.02)
    done = {"pid": os.getpid(), "began": began, "ended": time.monotonic()}
    with Path(__file__).with_name("done.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(done) + "\\n")
    return done
"""


def project_of(folder: Path, limit: str = "") -> Path:
    """Write a project with one tool, which notes each call."""
    tools = folder / "acts" / "tools_md"
    tools.mkdir(parents=True)
    text = tool("act", extra=f"\n## Limits\n\n- **Timeout**: 60s\n{limit}\n")
    (tools / "act.tool.md").write_text(text, encoding="utf-8")
    (tools / "act.py").write_text(CODE, encoding="utf-8")
    (tools.parent / "toolmd.toml").touch()
    return tools.parent


def done_in(project: Path) -> list[Any]:
    """Return what the calls of the tool noted."""
    return records(project / "tools_md" / "done.jsonl")


class ServedByMany(Served):
    """A running `toolmd serve --workers`; each request may go to any of its processes."""

    def __init__(self, project: Path, number: int = 2, *words: str, **variables: str) -> None:
        variables = {"TOOLMD_STORE": "sqlite", **variables}
        super().__init__(project, "--workers", str(number), *words, **variables)
        self.number = number

    def fresh(self, **headers: str) -> httpx.Client:
        """Return a client with a connection of its own for each request."""
        sent = {"authorization": f"Bearer {TOKEN}", "connection": "close", **headers}
        return httpx.Client(base_url=self.client.base_url, headers=sent, timeout=60)

    def children(self) -> set[int]:
        """Return the process ids of the servers."""
        pid = self.process.pid
        all_ = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
        # Python's tracker of shared resources is another child.
        return {
            int(one) for one in all_ if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()
        }

    def answering(self) -> set[int]:
        """Return the process ids of the servers, once each has answered a call."""
        seen: set[int] = set()
        with self.fresh() as client:
            while len(seen & self.children()) < self.number:
                seen.add(act(client)["data"]["pid"])
        return seen & self.children()


def act(client: httpx.Client, conversation: str = "") -> Any:
    """Call the tool; return its result."""
    headers = {"Toolmd-Conversation": conversation} if conversation else {}
    path = "/api/tools/act/call"
    return client.post(path, json={"arguments": {}}, headers=headers).json()


PAUSE_S = 0.01
"""The time between two looks at what other processes do, in seconds."""


class Load:
    """Threads that call the tool again and again, until the end of the context."""

    def __init__(self, served: ServedByMany, threads: int = 4) -> None:
        self._served = served
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._call) for _ in range(threads)]
        self.results: list[Any] = []
        """Results, and the exceptions of calls whose connection broke."""

    def until(self, enough: Callable[[], bool]) -> None:
        """Wait for a condition while the calls go on."""
        while not enough():
            assert any(thread.is_alive() for thread in self._threads)
            self._ends.wait(PAUSE_S)

    def _call(self) -> None:
        with self._served.fresh() as client:
            while not self._ends.is_set():
                try:
                    self.results.append(act(client))
                except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                    self.results.append(error)
                    if isinstance(error, httpx.ConnectError):
                        return  # nobody listens any more

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()
