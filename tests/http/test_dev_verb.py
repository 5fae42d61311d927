"""`toolmd dev` as a command: the link, the port, and the end."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests import warm_python

from toolmd._auth.server import bound_socket

TOKEN = "a-token-that-stays-over-restarts"


def words(project: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "toolmd", "dev", "--project", str(project), *more]


def environment() -> dict[str, str]:
    return {**os.environ, "TOOLMD_LOAD_PLUGINS": "", "NO_COLOR": "1", "TOOLMD_TOKEN": TOKEN}


class Dev:
    """A running `toolmd dev`."""

    def __init__(self, project: Path) -> None:
        self.process = warm_python.Popen(
            words(project, "--port", "0", "--user", "ana"), env=environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None
        link = re.search(r"(http://127\.0\.0\.1:\d+)/enter#token=(\S+)", self.next(self.stdout))
        assert link
        assert link[2] == TOKEN
        self.client = httpx.Client(
            base_url=link[1], headers={"authorization": f"Bearer {TOKEN}"}, timeout=30
        )

    @property
    def stdout(self) -> Any:
        return self.process.stdout

    def next(self, stream: Any) -> str:
        return str(stream.readline())

    def tells(self, words: str) -> str:
        """Return the line on stderr that contains these words."""
        for line in self.process.stderr or ():
            if words in line:
                return str(line)
        raise AssertionError(f"it ended before it said {words!r}")


@pytest.fixture
def dev(project: Path) -> Iterator[Dev]:
    started = Dev(project)
    yield started
    started.client.close()
    started.process.kill()
    started.process.communicate()


def waits(dev: Dev, pipe: Path, answers: list[Any]) -> threading.Thread:
    """Start a call that ends after a write to the pipe."""
    os.mkfifo(pipe)

    def ask() -> None:
        try:
            body = {"arguments": {"pipe": str(pipe)}}
            answers.append(dev.client.post("/api/tools/wait/call", json=body).json())
        except httpx.TransportError as error:
            answers.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def test_at_an_interrupt_a_call_finishes_and_a_stream_ends(dev: Dev, tmp_path: Path) -> None:
    answers: list[Any] = []
    with dev.client.stream("GET", "/api/events") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("id: ")
        thread = waits(dev, tmp_path / "pipe", answers)
        with (tmp_path / "pipe").open("w") as writer:  # opens when the call reads
            dev.process.send_signal(signal.SIGINT)
            dev.tells("a second signal ends at once")
            assert [line for line in lines if line.startswith("event: error")] == []
            writer.write("done")
    thread.join()

    assert answers[0]["data"] == "done"
    assert dev.process.wait(30) == 0


def test_a_second_interrupt_ends_at_once(dev: Dev, tmp_path: Path) -> None:
    answers: list[Any] = []
    thread = waits(dev, tmp_path / "pipe", answers)
    with (tmp_path / "pipe").open("w"):
        dev.process.send_signal(signal.SIGINT)
        dev.tells("a second signal ends at once")
        dev.process.send_signal(signal.SIGINT)

        assert dev.process.wait(30) == 130
    thread.join()
    assert isinstance(answers[0], httpx.TransportError)


def test_errors_of_a_save_are_reported_at_once(dev: Dev, project: Path) -> None:
    dev.tells("6 tools, 2 skills, all well")
    file = project / "tools_md" / "echo.tool.md"
    file.write_text(file.read_text("utf-8").replace("**Type**: object", "**Type**: objekt", 1))

    assert "echo.tool.md:" in dev.tells("unknown-type")
    dev.tells("findings")


def test_it_is_for_this_machine_alone(project: Path) -> None:
    refused = warm_python.run(
        words(project, "--host", "0.0.0.0"), env=environment(), capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip

    assert refused.returncode == 2
    assert "toolmd serve --transport http" in refused.stderr


def test_a_port_in_use_is_reported_with_a_remedy(project: Path) -> None:
    with bound_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        refused = warm_python.run(
            words(project, "--port", str(port)), env=environment(), capture_output=True,
            text=True, check=False, timeout=60,
        )  # fmt: skip

    assert refused.returncode == 5
    assert f"127.0.0.1:{port}" in refused.stderr
    assert "--port" in refused.stderr


def test_without_a_project_no_link_is_printed(tmp_path: Path) -> None:
    done = warm_python.run(
        [sys.executable, "-m", "toolmd", "dev"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "no project here or above; run `toolmd init`" in done.stderr
