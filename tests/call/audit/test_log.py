"""The log of decisions: a file of each writer's own, chained, and noted in the store."""

import asyncio
import gc
import json
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from audit_project import Project, put, record
from hypothesis import given
from hypothesis import strategies as st
from tests import warm_python
from tests.definitions import tool

from toolmd import Workspace
from toolmd._call.audit.log import LOOK_S, AuditLog
from toolmd._call.audit.reader import AuditReader, Verified, Wanted
from toolmd._types.settings import Settings
from toolmd.config.state_files import EmptiedError

AT = "2026-05-04T12:00:{:02}+00:00"
DAY_S = 86400.0


def test_the_next_process_continues_the_file(project: Project) -> None:
    project.append(1, 2)
    project.append(3)

    assert len(project.files()) == 1
    assert project.numbers() == [1, 2, 3]
    assert project.reader.verify() == Verified(3)


def test_two_writers_at_a_time_have_a_file_each(project: Project) -> None:
    first, second = project.log(), project.log()
    put(first, record(1))
    put(second, record(2))
    put(first, record(3))

    assert len(project.files()) == 2
    assert project.numbers() == [1, 2, 3]
    first.close()
    second.close()
    assert project.reader.verify() == Verified(3)


def test_a_full_file_is_followed_by_another(project: Project) -> None:
    project.append(*range(50), max_file=2048)

    assert len(project.files()) > 2
    assert project.numbers() == [*range(50)]
    assert project.reader.verify() == Verified(50)


def test_an_unfinished_line_is_no_record(project: Project) -> None:
    log = project.log()
    put(log, record(1))
    put(log, record(2))
    with project.files()[0].open("ab") as file:
        file.write(b'{"hash":"00')

    assert project.reader.verify() == Verified(2)
    assert [one.record["n"] for one in project.reader.latest(9)] == [2, 1]
    log.close()


APPEND = """
import json, sys
from pathlib import Path
from toolmd._call.audit.log import LOOK_S, AuditLog
from toolmd._store.store import Store
root = Path(sys.argv[1])
store = Store("sqlite", root)
log = AuditLog(root / "audit", lambda: store.audit_heads)
for number in range(10**9):
    text = json.dumps({"at": "", "n": f"{sys.argv[2]}-{number}", "text": "x" * (number % 5000)})
    if not log.append(text):
        log.open()
        log.append(text)
    print(f"{sys.argv[2]}-{number}", flush=True)
"""


@pytest.mark.process
def test_a_kill_at_any_write_loses_no_record_whose_call_went_on(project: Project) -> None:
    recorded = set()
    for turn in range(6):
        words = [sys.executable, "-c", APPEND, str(project.settings.root), str(turn)]
        with warm_python.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            for _ in range(50 + 400 * turn):
                recorded.add(process.stdout.readline().strip())
            process.kill()
            recorded |= {line.strip() for line in process.stdout if line.endswith("\n")}

    assert project.reader.verify().sound
    assert recorded <= {one.record["n"] for one in project.reader.records()}
    assert len(project.files()) == 6


def test_a_writer_that_was_killed_before_it_noted_a_record_causes_no_finding(
    project: Project,
) -> None:
    class Nothing:
        """A store that notes nothing, as a process that is killed at once."""

        def get(self, file: str) -> None:
            raise OSError

    log = AuditLog(project.folder, Nothing)  # type: ignore[arg-type]
    put(log, record(1))
    log.close()
    project.append(2)

    assert project.reader.verify() == Verified(2)


def test_a_file_that_was_emptied_denies_further_records(project: Project) -> None:
    project.append(1)
    project.files()[0].chmod(0o600)
    os.truncate(project.files()[0], 0)

    with pytest.raises(EmptiedError, match="was emptied"):
        project.append(2)
    with pytest.raises(EmptiedError, match="was emptied"):
        project.reader.verify()


class Clock:
    """The clock of a writer, which a test moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_records_go_on_in_a_new_file_when_the_open_one_is_removed(project: Project) -> None:
    clock = Clock()
    log = project.log(clock=clock)
    put(log, record(1))
    put(log, record(2))
    project.files()[0].unlink()
    clock.now += LOOK_S

    put(log, record(3))

    assert project.numbers() == [3]
    log.close()
    assert project.reader.verify().problem == "the file is missing"


def test_a_writer_stops_using_a_file_that_others_wrote_to(project: Project) -> None:
    clock = Clock()
    log = project.log(clock=clock)
    put(log, record(1))
    with project.files()[0].open("ab") as file:
        file.write(b"x\n")
    clock.now += LOOK_S

    put(log, record(2))
    log.close()

    assert len(project.files()) == 2
    assert project.reader.verify().first_bad == 2


def test_the_files_are_for_their_owner_only(project: Project) -> None:
    project.append(1)

    assert stat.S_IMODE(project.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in project.files()} == {0}


def test_files_are_deleted_once_they_were_kept_long_enough(project: Project) -> None:
    project.append(*range(50), max_file=4096)
    old, *others = project.files()
    os.utime(old, (0, time.time() - 31 * DAY_S))

    project.append(51, keep_days=30)

    assert project.files() == others
    assert project.reader.verify().sound


FORK = """
import json, os, sys, threading, warnings
from pathlib import Path
from toolmd._call.audit.log import LOOK_S, AuditLog
from toolmd._store.store import Store
warnings.simplefilter("ignore", DeprecationWarning)  # Of a fork with threads.
root = Path(sys.argv[1])
store = Store("sqlite", root)
log = AuditLog(root / "audit", lambda: store.audit_heads)
def put(number):
    text = json.dumps({"at": str(number), "n": number})
    if not log.append(text):
        log.open()
        log.append(text)
def forked(number):
    child = os.fork()
    if child == 0:
        put(number)
        os._exit(0)
    return child
put(0)
# While a thread of the parent has the locks of the log, at least now and then.
stop = threading.Event()
def hammer():
    while not stop.is_set():
        log.sync().exception()
threads = [threading.Thread(target=hammer) for _ in range(4)]
for thread in threads:
    thread.start()
for number in range(1, 9):
    os.waitpid(forked(number), 0)
stop.set()
for thread in threads:
    thread.join()
put(9)
log.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system makes processes another way")
def test_a_forked_process_writes_a_file_of_its_own(project: Project) -> None:
    words = [sys.executable, "-c", FORK, str(project.settings.root)]
    warm_python.run(words, check=True, timeout=120)

    assert project.numbers() == [*range(10)]
    assert len(project.files()) == 9
    assert project.reader.verify() == Verified(10)


def test_a_log_that_nobody_closed_ends_with_its_last_user(project: Project) -> None:
    before = threading.active_count()
    for number in range(5):
        log = project.log()
        put(log, record(number))
        del log
    gc.collect()

    until = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= before
    assert project.reader.verify() == Verified(5)


def test_calls_share_a_wait_for_the_disk(project: Project) -> None:
    synced, all_wait = [], threading.Event()

    def fsync(descriptor: int) -> None:
        assert all_wait.wait(60)
        synced.append(descriptor)

    log = project.log(synced=True, fsync=fsync)
    put(log, record(1))
    requests = [log.sync() for _ in range(100)]
    all_wait.set()
    for request in requests:
        request.result(60)
    log.close()

    assert 1 <= len(synced) <= 2


def test_a_call_that_is_cancelled_while_it_waits_leaves_the_others_their_disk(
    project: Project,
) -> None:
    log = project.log(synced=True)
    put(log, record(1))

    async def main() -> None:
        for _ in range(10):
            given_up, kept = (asyncio.wrap_future(log.sync()) for _ in range(2))
            given_up.cancel()
            await asyncio.wait_for(kept, 60)

    asyncio.run(main())
    log.close()
    assert project.reader.verify() == Verified(1)


def test_pages_lead_from_the_latest_record_to_the_first(project: Project) -> None:
    first, second = project.log(), project.log()
    for number in range(30):
        put(first if number % 3 else second, record(number))
    first.close()
    second.close()

    found, before = [], None
    while page := project.reader.latest(7, before=before):
        found += [one.record["n"] for one in page]
        before = page[-1].id

    assert found == [*range(29, -1, -1)]


def test_records_are_filtered(project: Project) -> None:
    log = project.log()
    for number, (name, user) in enumerate([("a", "ana"), ("b", "ana"), ("a", "ben")]):
        put(
            log,
            record(number, at=AT.format(number), tool=name, user=user, conversation=f"c{number}"),
        )
    log.close()

    assert project.numbers(Wanted(tool="a")) == [0, 2]
    assert project.numbers(Wanted(tool="a", user="ana")) == [0]
    assert project.numbers(Wanted(conversation="c1")) == [1]
    assert project.numbers(Wanted(outcome="deny")) == []
    assert project.numbers(Wanted(since=AT.format(1), until=AT.format(2))) == [1]


TEXTS = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5))


@given(st.lists(TEXTS))
def test_records_are_read_back_in_both_directions(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, object]]
) -> None:
    root = tmp_path_factory.mktemp("audit")
    log = AuditLog(root / "audit")
    for value in values:
        put(log, json.dumps({"value": value}))
    log.close()
    reader = AuditReader(Settings(root=root, state=root, store="memory"))

    assert [one.record["value"] for one in reader.records()] == values
    assert [one.record["value"] for one in reader.latest(99)] == values[::-1]
    assert reader.verify() == Verified(len(values))


def test_the_snapshots_of_a_workspace_share_a_file_and_all_is_noted_at_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "tools_md").mkdir()
    (tmp_path / "tools_md" / "ring.py").write_text("def ring() -> dict:\n    return {}\n")
    overrides = {"plugins": [], "store": "sqlite"}
    for number in range(3):
        text = tool("ring").replace("1.0.0", f"1.0.{number}")
        (tmp_path / "tools_md" / "ring.tool.md").write_text(text)
        if not number:
            workspace = Workspace.open(tmp_path, overrides=overrides)
        workspace.reload()
        assert workspace.call_sync("ring").success
    settings = workspace.settings
    workspace.close()
    gc.collect()

    (file,) = (settings.state / "audit").glob("*.jsonl")
    assert file.stat().st_mode & 0o200 == 0
    assert AuditReader(settings).verify() == Verified(3)
    assert "not noted" not in caplog.text
