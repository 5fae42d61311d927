"""A project of small tools, and third-party clients of both eras."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult
from tests.definitions import records

from toolmd import Workspace
from toolmd._mcp.callers import Callers
from toolmd._mcp.server import McpServer
from toolmd._types.call import Caller

HERE = Path(__file__).parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project, which the test may change."""
    shutil.copytree(HERE / "project", tmp_path, dirs_exist_ok=True, ignore=_made)
    return tmp_path


def _made(folder: str, names: list[str]) -> set[str]:
    del folder
    return {".toolmd", "reminders.jsonl", "__pycache__"} & set(names)


@pytest.fixture
def workspace(project: Path) -> Iterator[Workspace]:
    with Workspace.open(project) as opened:
        yield opened


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> str:
    """The protocol's two eras: 2026-07-28, and the handshake before it."""
    return str(request.param)


@pytest.fixture
def caller() -> Caller:
    """The caller that the host states."""
    return Caller("ana")


@pytest.fixture
def server(workspace: Workspace, caller: Caller) -> McpServer:
    return McpServer(workspace, Callers(caller))


@pytest.fixture
def client(server: McpServer, mode: str) -> Callable[..., Client]:
    """Make a client; `asked` are its user's answers, one a question."""

    def make(*answers: Any, **options: Any) -> Client:
        if answers:
            options["elicitation_callback"] = Person(*answers)
        return Client(server.low, mode=mode, **options)

    return make


class Person:
    """A client's user, with prepared answers and a record of the questions."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[Any] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        answer = self._answers.pop(0)
        if isinstance(answer, dict):
            return ElicitResult(action="accept", content=answer)
        return ElicitResult(action=answer, content={} if answer == "accept" else None)


@pytest.fixture
def person() -> type[Person]:
    return Person


@pytest.fixture
def reminders(project: Path) -> Callable[[], list[Any]]:
    """Return the reminders of the tool `remind`."""

    def done() -> list[Any]:
        return records(project / "tools_md" / "reminders.jsonl")

    return done
