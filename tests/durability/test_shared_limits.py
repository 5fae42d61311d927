"""The limits of a tool apply across the processes of a machine, and of several on Postgres."""

import asyncio
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from tests import warm_python
from tests.definitions import few, limited, tool

from toolmd import Workspace
from toolmd._call.denial import CallDenied
from toolmd._call.limits import CallLimits, PlaceLostError
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.call_spec import Limits, Rate

STARTER = Path(__file__).with_name("starter.py")
CALLER = """
import asyncio, json, sys, time
from toolmd import Workspace

async def main(folder, store, calls):
    overrides = {"store": store, "plugins": [], "state": f"{folder}/.toolmd"}
    async with Workspace.open(folder, overrides=overrides) as workspace:
        made = [workspace.call("act", {}, user="ana") for _ in range(calls)]
        for result in await asyncio.gather(*made):
            code = result.error and result.error.code
            print(json.dumps([result.outcome, code, result.data]), flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""
PYTHON = """
import asyncio, time

async def act() -> dict:
    began = time.monotonic()
    await asyncio.sleep(0.05)
    return {"began": began, "ended": time.monotonic()}
"""


def starts_of_three(state, place, calls, seconds):
    """Return the times at which three processes started the tool, in order."""
    words = [sys.executable, str(STARTER), str(state), place, str(calls), str(seconds)]
    starters = [warm_python.Popen(words, stdout=subprocess.PIPE) for _ in range(3)]
    said = b"".join(starter.communicate(timeout=seconds + 50)[0] for starter in starters)
    return sorted(float(line) for line in said.split())


def most_in_a_second(starts, second=1.0):
    return max(sum(1 for later in starts if start <= later < start + second) for start in starts)


def test_three_processes_keep_one_rate(tmp_path, place):
    starts = starts_of_three(tmp_path, place, 10, 2)

    # Fewer where the machine is busy: a turn that was heard of late is not used.
    assert len(starts) >= 4
    # What is printed comes some moments after the start.
    assert most_in_a_second(starts, 0.95) <= 10


def project(folder, name, value):
    """Write a project with one limited tool."""
    tools = folder / "tools_md"
    tools.mkdir(parents=True)
    limits = f"\n## Limits\n\n- **{name}**: {value}\n- **Timeout**: 60s\n"
    (tools / "act.tool.md").write_text(tool("act", extra=limits), encoding="utf-8")
    (tools / "act.py").write_text(PYTHON, encoding="utf-8")
    (folder / "toolmd.toml").write_text("", encoding="utf-8")
    return folder


def call_from_three(folder, place, calls):
    """Call the tool from three processes at once; return each call's outcome, code and data."""
    words = [sys.executable, "-c", CALLER, str(folder), place, str(calls)]
    callers = [warm_python.Popen(words, stdout=subprocess.PIPE) for _ in range(3)]
    printed = b"".join(caller.communicate(timeout=100)[0] for caller in callers)
    return [json.loads(line) for line in printed.splitlines()]


def test_three_processes_make_no_more_calls_than_allowed(tmp_path, place):
    results = call_from_three(project(tmp_path / "shop", "Max Calls", 3), place, 5)

    assert sorted([outcome, code] for outcome, code, _ in results) == [
        *[["denied", "quota_exceeded"]] * 12,
        *[["ok", None]] * 3,
    ]


def test_three_processes_never_run_two_calls_at_one_time(tmp_path, place):
    results = call_from_three(project(tmp_path / "shop", "Max Concurrent", 1), place, 4)

    assert [outcome for outcome, _, _ in results] == ["ok"] * 12
    times = sorted((data["began"], data["ended"]) for _, _, data in results)
    assert all(first[1] <= later[0] for first, later in pairwise(times))


def test_two_folders_on_one_postgres_share_the_count_of_calls(tmp_path, postgres):
    done = []
    for name in ("one", "two", "three"):
        folder = project(tmp_path / name, "Max Calls", 2)
        with Workspace.open(folder, overrides={"store": postgres, "plugins": []}) as workspace:
            done.append(workspace.call_sync("act", {}, user="ana").outcome)

    assert done == ["ok", "ok", "denied"]


def test_a_confirmation_of_one_machine_is_decided_on_another(tmp_path, postgres):
    overrides = {"store": postgres, "plugins": []}
    folders = [project(tmp_path / name, "Max Calls", 2) for name in ("one", "two")]
    for folder in folders:
        file = folder / "tools_md" / "act.tool.md"
        safety = "## Safety\n\n- **Requires Confirmation**: true\n\n## Limits"
        text = file.read_text(encoding="utf-8").replace("## Limits", safety)
        file.write_text(text, encoding="utf-8")
    with (
        Workspace.open(folders[0], overrides=overrides) as here,
        Workspace.open(folders[1], overrides=overrides) as there,
    ):
        pending = here.call_sync("act", {}, user="ana").confirmation
        assert [one.id for one in there.confirmations.pending_sync(user="ana")] == [pending.id]
        result = there.confirmations.approve_sync(pending.id, user="ana")
        assert (result.outcome, result.error) == ("ok", None)
        again = here.confirmations.approve_sync(pending.id, user="ana")
        assert again.error.code == "confirmation_used"


@pytest.fixture
def store(tmp_path, place):
    store = Store(place, tmp_path)
    yield store
    store.close()


def test_a_call_that_is_cancelled_while_it_waits_for_a_place_leaves_none_taken(store):
    async def main():
        limits = CallLimits(limited(Limits(max_concurrent=1)), store)

        async def one():
            async with limits.place(Call("act", {}), {}):
                return True

        for _ in range(5):
            entering = asyncio.create_task(one())
            await asyncio.sleep(0.002)
            entering.cancel()
            await asyncio.wait([entering])
        return await asyncio.wait_for(one(), 10)

    assert asyncio.run(main())


def test_a_call_is_stopped_before_another_may_have_its_place(store):
    async def main():
        limits = CallLimits(limited(Limits(max_concurrent=1)), store)
        async with limits.place(Call("act", {}), {}) as place:
            with pytest.raises(PlaceLostError):
                await limits.hold(place.name, asyncio.sleep(60), held_s=0.3)

    asyncio.run(main())


def test_a_call_runs_on_while_its_place_is_renewed(store):
    async def main():
        limits = CallLimits(limited(Limits(max_concurrent=1)), store)
        async with limits.place(Call("act", {}), {}) as place:
            return await limits.hold(place.name, asyncio.sleep(2, "done"), renew_s=0.1, held_s=1.0)

    assert asyncio.run(main()) == "done"


def test_a_command_that_ended_leaves_no_place_taken(tmp_path, place):
    folder = project(tmp_path / "shop", "Max Concurrent", 1)
    overrides = {"store": place, "plugins": [], "state": str(tmp_path / "state")}
    for _ in range(3):
        with Workspace.open(folder, overrides=overrides) as workspace:
            assert workspace.call_sync("act", {}).outcome == "ok"
        store = Store(place, tmp_path / "state")
        name = store.limits.enter("act", 1)
        assert name is not None
        store.limits.leave(name)
        store.close()


@pytest.mark.parametrize(
    "limits", [Limits(rate=Rate(1, 1.0)), Limits(quotas=few(1)), Limits(max_concurrent=1)]
)
def test_limits_that_cannot_be_counted_deny_the_call(tmp_path, limits):
    nowhere = Store("postgresql://me:secret@127.0.0.1:1/runs", tmp_path)

    async def main():
        async with CallLimits(limited(limits), nowhere).place(Call("act", {}), {}):
            pass

    with pytest.raises(CallDenied) as refused:
        asyncio.run(main())
    assert refused.value.failure.code == "internal_guard_error"
    assert "could not be decided" in refused.value.failure.message
    assert "secret" not in str(refused.value.failure)
