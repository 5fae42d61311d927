"""Calls from several event loops and threads share a session, and each of them ends."""

import asyncio
import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from guarded import Guarded, called

from toolmd import Result, Workspace
from toolmd._gateway.pool import MOST_SESSIONS, Key, Pool
from toolmd._types.settings import ServerSettings

THREADS = 6
CALLS = int(os.environ.get("GATEWAY_THREAD_CALLS", "20"))


def _called_in_turn(workspace: Workspace) -> list[Result]:
    return [called(workspace, "whoami", text="hi") for _ in range(CALLS)]


def test_calls_of_many_event_loops_use_one_session(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    with project.open() as workspace, ThreadPoolExecutor(THREADS) as threads:
        rounds = list(threads.map(_called_in_turn, [workspace] * THREADS))

    assert len({result.data for results in rounds for result in results}) == 1
    assert len(project.lines("calls.txt")) == THREADS * CALLS


def test_each_call_ends_soon_while_its_server_is_killed_again_and_again(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    with project.open() as workspace, ThreadPoolExecutor(THREADS) as threads:
        began = time.monotonic()
        rounds = [threads.submit(_called_in_turn, workspace) for _ in range(THREADS)]
        killed = 0
        outcomes = Counter[str]()
        while not all(one.done() for one in rounds):
            # Its own call tells which process serves now.
            result = called(workspace, "whoami")
            outcomes[result.outcome] += 1
            if result.outcome == "ok":
                os.kill(int(result.data), signal.SIGKILL)
                killed += 1
        took = time.monotonic() - began
        outcomes += Counter(result.outcome for one in rounds for result in one.result())

    assert killed > 0
    assert set(outcomes) <= {"ok", "unknown", "failed"}
    # A call that failed was not sent.
    ran = len(project.lines("calls.txt"))
    assert outcomes["ok"] <= ran <= outcomes["ok"] + outcomes["unknown"]
    assert took < 60


def test_no_more_sessions_are_opened_at_once_than_a_server_may_have(tmp_path: Path) -> None:
    command, pool = ("sh", "-c", "cat > /dev/null"), Pool()
    silent = ServerSettings(command=command, start_timeout=1.0)
    keys = [Key(tmp_path, "plain", "", f"user {number}") for number in range(MOST_SESSIONS + 8)]

    async def refused() -> list[str]:
        opened = (pool.session(key, silent, lambda: True) for key in keys)
        return [str(error) for error in await asyncio.gather(*opened, return_exceptions=True)]

    errors = asyncio.run(refused())

    assert errors.count(f"all {MOST_SESSIONS} sessions of the server are busy") == 8
    assert sum("did not answer within 1 s" in error for error in errors) == MOST_SESSIONS
