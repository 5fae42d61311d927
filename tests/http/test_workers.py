"""`serve --workers`: one address, several processes; they end together, and none is missed."""

import json
import os
import signal
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from served_workers import PAUSE_S, Load, ServedByMany, act, done_in, project_of
from tests import warm_python

from toolmd import Workspace

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="the processes are found as Linux lists them"
)


def is_alive(pid: int) -> bool:
    try:
        # A dead one that nobody has waited for has no memory.
        return bool(Path(f"/proc/{pid}/statm").read_text("ascii").split()[0] != "0")
    except (FileNotFoundError, ProcessLookupError):
        return False


def each_effect_was_answered(load: Load, done: list[Any]) -> None:
    """Check that a call without an answer had no effect."""
    ended = [one["data"] for one in load.results if not isinstance(one, Exception)]
    assert Counter(one["began"] for one in ended) == Counter(one["began"] for one in done)


def test_a_killed_process_cuts_off_only_its_own_calls_and_is_replaced(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    with ServedByMany(project) as served:
        first = served.answering()
        with Load(served) as load:
            load.until(lambda: len(load.results) > 20)
            killed = min(first)
            os.kill(killed, signal.SIGKILL)
            assert "ended with exit code -9; it starts again in 0.5 s" in served.tells("ended with")
            load.until(lambda: len({one["pid"] for one in done_in(project)} - first) == 1)
        served.end()
        _, told = served.process.communicate(timeout=60)
        assert served.process.returncode == 0
        assert "did not end" not in told
    broken = [one for one in load.results if isinstance(one, Exception)]
    assert len(broken) <= 4  # one for each thread
    assert {one["outcome"] for one in load.results if one not in broken} == {"ok"}
    assert killed not in {one["pid"] for one in done_in(project)[-5:]}


def test_ctrl_c_loses_no_call(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    with ServedByMany(project) as served:
        children = served.answering()
        begun = len(done_in(project))
        with Load(served) as load:
            load.until(lambda: len(load.results) > 20)
            # It reaches the processes as well as their parent, as a service manager's signal does.
            for pid in (served.process.pid, *children):
                os.kill(pid, signal.SIGINT)
            assert served.process.wait(60) == 0
        assert not any(map(is_alive, children))

    each_effect_was_answered(load, done_in(project)[begun:])


def test_a_second_signal_ends_all_at_once(tmp_path: Path) -> None:
    with ServedByMany(project_of(tmp_path)) as served:
        children = served.answering()
        os.kill(max(children), signal.SIGSTOP)
        served.end()
        while is_alive(min(children)):
            Event().wait(PAUSE_S)
        served.end()

        assert served.process.wait(60) == 130
    assert not any(map(is_alive, children))


def test_a_process_that_does_not_end_is_killed(tmp_path: Path) -> None:
    limits = {"TOOLMD_SERVE_DRAIN_TIMEOUT": "0.1"}
    with ServedByMany(project_of(tmp_path), **limits) as served:
        stopped = max(served.answering())
        os.kill(stopped, signal.SIGSTOP)
        served.end()

        assert "1 of 2 server processes did not end" in served.tells("did not end")
        assert served.process.wait(60) == 0
    assert not is_alive(stopped)


def test_the_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    with ServedByMany(project) as served:
        children = served.answering()
        begun = len(done_in(project))
        with Load(served) as load:
            load.until(lambda: len(load.results) > 20)
            served.process.kill()
            while any(map(is_alive, children)):
                Event().wait(PAUSE_S)
    each_effect_was_answered(load, done_in(project)[begun:])


def test_all_processes_reload_at_a_hangup(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    with ServedByMany(project) as served:
        started = served.answering()
        code = project / "tools_md" / "act.py"
        code.write_text(code.read_text().replace('{"pid"', '{"new": True, "pid"'))
        served.end(signal.SIGHUP)
        new: set[int] = set()
        with served.fresh() as client:
            while len(new) < 2:
                data = act(client)["data"]
                new |= {data["pid"]} if "new" in data else set()
        assert new == started


def test_a_project_that_can_not_be_opened_ends_the_command(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    Workspace.open(project, overrides={"plugins": []}).close()
    live = project / ".toolmd" / "live" / "definitions.live"
    assert live.read_bytes()
    live.write_bytes(b"")

    words = ["serve", "--transport", "http", "--workers", "2", "--project", str(project)]
    done = warm_python.run(
        [sys.executable, "-m", "toolmd", *words], capture_output=True, text=True, check=False,
        env={**os.environ, "TOOLMD_STORE": "sqlite", "TOOLMD_LOAD_PLUGINS": ""},
    )  # fmt: skip

    assert done.returncode == 5
    assert "was emptied" in done.stderr


def test_limits_count_the_calls_of_all_processes(tmp_path: Path) -> None:
    project = project_of(tmp_path, "- **Max Calls**: 3\n- **Max Concurrent**: 1")
    with ServedByMany(project, 3) as served:
        conversation = {"toolmd-conversation": "c-1"}
        with served.fresh(**conversation) as client, ThreadPoolExecutor(12) as pool:
            results = [*pool.map(act, [client] * 12)]
        served.end()
        assert served.process.wait(60) == 0

    ran = sorted((one["began"], one["ended"]) for one in done_in(project))
    assert len(ran) == 3
    assert all(first[1] <= later[0] for first, later in pairwise(ran))
    codes = Counter(one.get("error", {}).get("code") for one in results)
    assert codes == {None: 3, "quota_exceeded": 9}
    assert len([*(project / ".toolmd" / "audit").iterdir()]) > 1
    words = ["audit", "--verify", "--json", "--project", str(project)]
    verified = warm_python.run(
        [sys.executable, "-m", "toolmd", *words], check=True, capture_output=True,
        env={**os.environ, "TOOLMD_STORE": "sqlite", "TOOLMD_LOAD_PLUGINS": ""},
    )  # fmt: skip
    assert json.loads(verified.stdout)["records"] >= 12
