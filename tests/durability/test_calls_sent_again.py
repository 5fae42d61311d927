"""What a durable run sends again: calls that never started, and calls whose processes ended."""

import asyncio

from kept import Kept
from run_world import YES, skill, tool

from toolmd._skills.journal import utc_now
from toolmd.errors import NotLoadedError

STEPS = """1. **Act**.
   - **Use**: act
   - **On error**: go to Else
2. **Return**:
   - value: done

### Else

1. **Use**: look
2. **Return**:
   - value: other"""
LATE = ["internal_guard_error", "tool_error"]


def test_a_call_that_never_started_is_sent_again_and_counts_as_one(kept: Kept) -> None:
    for metadata in ("- **Idempotent**: keyed\n", ""):
        kept.world.tools["act"] = tool("act", metadata=metadata)
        kept.world.late = [*LATE]
        result = kept.run(kept.order(f"run-{metadata}", STEPS))

        assert (result.data, kept.world.late) == ({"value": "done"}, [])
    assert kept.world.called == ["act", "act"]


def test_python_that_is_imported_late_is_run_again(kept: Kept) -> None:
    tries = []

    async def come(_: object) -> dict[str, int]:
        tries.append(1)
        if len(tries) == 1:
            raise NotLoadedError("not yet")
        return {"tries": len(tries)}

    kept.world.python_skills["trial"] = come
    order = kept.world.order(skill(STEPS, "look, act"), run_id="run-1")

    assert kept.run(order).data == {"tries": 2}


def test_calls_within_which_processes_ended_run_one_at_a_time(kept: Kept) -> None:
    within, together = [], []

    async def act() -> None:
        within.append(1)
        await asyncio.sleep(0.1)
        together.append(len(within))
        within.pop()

    kept.world.functions["act"] = act
    for run_id in ("run-1", "run-2"):
        kept.run(kept.order(run_id))
    # Only now, because an engine that runs would resume an answered run by itself.
    for run_id in ("run-1", "run-2"):
        kept.engine.store.settle(run_id, "2:ask", YES, utc_now(), "dead-1")
    kept.rows("UPDATE run SET tried = 2")
    kept.leave("dead-1")

    async def resume() -> None:
        await asyncio.gather(*(kept.engine.resume(run_id) for run_id in ("run-1", "run-2")))

    asyncio.run(resume())
    assert together == [1, 1]


def test_a_run_in_memory_does_not_wait(kept: Kept) -> None:
    kept.world.late = ["tool_error"]

    result = asyncio.run(kept.world.run(skill(STEPS, "look, act")))

    assert (result.data, kept.world.called) == ({"value": "other"}, ["look"])
