"""Calls wait for a locked database next to the event loop, and are then denied."""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager

import pytest
from virtual_time import VirtualTime, most_in_a_window, run

from toolmd._call.audit.chain import AUDIT_FILE
from toolmd._call.limits.shared_rates import STARTS_FILE
from toolmd._call.limits.timing import Timing
from toolmd._types.call_spec import Limits, Rate, Safety
from toolmd._types.settings import Settings

HELD_FILE = "confirmations.sqlite3"


class World:
    """Tools of each kind, over a state folder whose files others may lock."""

    def __init__(self, harness, tool, state):
        self.state, self.ran, self.times = state, [], []
        self.time = VirtualTime()

        async def act():
            self.ran.append(1)
            self.times.append(self.time.now())

        self.tools = (
            tool("say", act),
            tool("ask", act, safety=Safety(requires_confirmation=True)),
            tool("seldom", act, limits=Limits(rate=Rate(calls=1, per_s=1))),
        )
        self.harness = harness

    def dispatcher(self, timing=None, *, audit=True):
        settings = Settings(root=self.state, state=self.state, audit=audit)
        made = self.harness(*self.tools, settings=settings, timing=timing or self.time.timing)
        return made.dispatcher

    @contextmanager
    def locked(self, file):
        with closing(sqlite3.connect(self.state / file, isolation_level=None)) as somebody:
            somebody.execute("BEGIN EXCLUSIVE")
            yield
            somebody.execute("ROLLBACK")


class Wait:
    """A way to wait that ends when the test says so."""

    def __init__(self):
        self.begun, self.over = asyncio.Event(), asyncio.Event()

    async def sleep(self, seconds):
        self.begun.set()
        await self.over.wait()


@pytest.fixture
def world(harness, tool, tmp_path):
    return World(harness, tool, tmp_path)


def denied(result):
    return result.error is not None and result.error.code == "internal_guard_error"


async def made(dispatcher):
    """Have every file there, and something to decide."""
    for name in ("say", "seldom"):
        await dispatcher.call(name, {})
    return [(await dispatcher.call("ask", {})).confirmation.id for _ in range(3)]


LOCKS = {
    "a call, behind the audit": (AUDIT_FILE, lambda dispatcher, _: dispatcher.call("say", {})),
    "a refusal, behind the audit": (
        AUDIT_FILE,
        lambda dispatcher, _: dispatcher.call("say", {"odd": 1}),
    ),
    "a call to be held, behind the held": (
        HELD_FILE,
        lambda dispatcher, _: dispatcher.call("ask", {}),
    ),
    "a call to be held, behind the audit": (
        AUDIT_FILE,
        lambda dispatcher, _: dispatcher.call("ask", {}),
    ),
    "an approval, behind the held": (
        HELD_FILE,
        lambda dispatcher, held: dispatcher.decisions.confirm(held),
    ),
    "an approval, behind the audit": (
        AUDIT_FILE,
        lambda dispatcher, held: dispatcher.decisions.confirm(held),
    ),
    "a no, behind the held": (
        HELD_FILE,
        lambda dispatcher, held: dispatcher.decisions.reject(held),
    ),
    "an answer, behind the held": (
        HELD_FILE,
        lambda dispatcher, held: dispatcher.decisions.respond(held, ""),
    ),
    "a look, behind the held": (
        HELD_FILE,
        lambda dispatcher, held: dispatcher.decisions.confirmation(held),
    ),
    "a call with a rate, behind its starts": (
        STARTS_FILE,
        lambda dispatcher, _: dispatcher.call("seldom", {}),
    ),
}


@pytest.mark.parametrize("what", LOCKS)
def test_other_calls_continue_while_one_waits_for_a_locked_file(world, what):
    file, make = LOCKS[what]

    async def main():
        held = (await made(world.dispatcher()))[0]
        wait = Wait()
        dispatcher = world.dispatcher(Timing(sleep=wait.sleep))
        other = world.dispatcher(audit=False)
        with world.locked(file):
            waiting = asyncio.create_task(make(dispatcher, held))
            await wait.begun.wait()
            ran = len(world.ran)
            for _ in range(3):
                assert (await other.call("say", {})).success
            assert len(world.ran) == ran + 3
            assert not waiting.done()
        wait.over.set()
        return await waiting

    result = run(world.time, main)
    assert result is not None
    assert not denied(result) if hasattr(result, "error") else result.state == "pending"


@pytest.mark.parametrize("what", [what for what in LOCKS if "refusal" not in what])
def test_a_file_that_stays_locked_denies_the_call_and_nothing_runs(world, what):
    file, make = LOCKS[what]

    async def main():
        dispatcher = world.dispatcher()
        held = (await made(dispatcher))[0]
        ran, began = len(world.ran), world.time.now()
        with world.locked(file):
            result = await make(dispatcher, held)
        waited = world.time.now() - began
        assert len(world.ran) == ran
        return result, waited

    result, waited = run(world.time, main)
    assert result is None or denied(result)
    assert result is None or "Nothing happened" in result.error.message
    longest = 2.0 if file == STARTS_FILE else 10.0
    assert longest <= waited < longest + 1.5


def test_a_denial_that_cannot_be_recorded_stays_a_denial(world):
    async def main():
        dispatcher = world.dispatcher()
        await made(dispatcher)
        with world.locked(AUDIT_FILE):
            return await dispatcher.call("say", {"odd": 1})

    assert run(world.time, main).error.code == "invalid_arguments"


def test_calls_continue_after_the_lock_is_released(world):
    async def main():
        dispatcher = world.dispatcher()
        first, second, third = await made(dispatcher)
        for file in (HELD_FILE, AUDIT_FILE):
            with world.locked(file):
                assert denied(await dispatcher.decisions.confirm(first))
        # What was taken and could not be recorded is not given back: better never than twice.
        assert (await dispatcher.decisions.confirm(first)).error.code == "confirmation_used"
        with world.locked(HELD_FILE):
            assert denied(await dispatcher.decisions.confirm(second))
        assert (await dispatcher.decisions.confirm(second)).success
        assert (await dispatcher.call("say", {})).success
        assert (await dispatcher.decisions.reject(third)).error.code == "rejected"
        assert dispatcher.audit.verify() is None

    run(world.time, main)


def test_calls_that_waited_for_the_audit_still_keep_the_rate(world):
    async def main():
        dispatcher = world.dispatcher()
        await made(dispatcher)
        world.times.clear()
        with world.locked(AUDIT_FILE):
            waiting = [asyncio.create_task(dispatcher.call("seldom", {})) for _ in range(3)]
            # By then all three have had their turn.
            await world.time.sleep(5.0)
            assert world.times == []
        return [(await one).success for one in waiting]

    assert run(world.time, main) == [True] * 3
    assert most_in_a_window(world.times, 1.0) == 1


def test_sync_callers_wait_in_their_own_thread(world):
    held = run(world.time, lambda: made(world.dispatcher()))
    with closing(sqlite3.connect(world.state / HELD_FILE, isolation_level=None)) as somebody:
        somebody.execute("BEGIN IMMEDIATE")
        # Whoever writes keeps no reader out.
        dispatcher = world.dispatcher()
        assert [one.id for one in dispatcher.decisions.pending()] == held
        assert dispatcher.decisions.confirmation_sync(held[0]).state == "pending"
        somebody.execute("ROLLBACK")


@pytest.mark.parametrize("file", [AUDIT_FILE, HELD_FILE, STARTS_FILE])
def test_a_file_that_is_locked_at_its_first_opening_is_retried(world, file):
    async def main():
        await made(world.dispatcher())
        wait = Wait()
        dispatcher = world.dispatcher(Timing(sleep=wait.sleep))
        name = {HELD_FILE: "ask", STARTS_FILE: "seldom"}.get(file, "say")
        with world.locked(file):
            waiting = asyncio.create_task(dispatcher.call(name, {}))
            await wait.begun.wait()
        wait.over.set()
        return await waiting

    assert not denied(run(world.time, main))


@pytest.mark.parametrize("look", ["confirmation_sync", "pending"])
def test_a_sync_decision_waits_in_its_own_thread(world, look):
    dispatcher = world.dispatcher()
    held = asyncio.run(made(dispatcher))[0]
    looks = {
        "confirmation_sync": lambda: [dispatcher.decisions.confirmation_sync(held)],
        "pending": dispatcher.decisions.pending,
    }
    before = looks[look]()
    with ThreadPoolExecutor(1) as pool:
        with world.locked(HELD_FILE):
            looking = pool.submit(looks[look])
            wait([looking], timeout=0.2)
            assert not looking.done()
        after = looking.result()

    assert [one.id for one in before] == [one.id for one in after]
    assert held in {one.id for one in after}


def test_a_pending_call_can_be_read_by_async_and_sync_callers(world):
    dispatcher = world.dispatcher()
    held = asyncio.run(made(dispatcher))[0]

    seen = dispatcher.decisions.confirmation_sync(held)

    assert (seen.id, seen.state) == (held, "pending")
    assert asyncio.run(dispatcher.decisions.confirmation(held)) == seen
    assert asyncio.run(dispatcher.decisions.confirmation("none")) is None
