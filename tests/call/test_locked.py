"""Calls wait for a locked audit or store next to the event loop, and are then denied."""

import asyncio
import sqlite3
from contextlib import closing, contextmanager

import pytest
from virtual_time import VirtualTime, most_in_a_window, run

from toolmd._call.audit.chain import AUDIT_FILE
from toolmd._call.limits.timing import Timing
from toolmd._store import STORE_FILE
from toolmd._store.store import Store
from toolmd._types.call_spec import Limits, Rate, Safety
from toolmd._types.settings import Settings


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

    def dispatcher(self, timing=None, *, audit=True, wait_s=10.0, setting="sqlite"):
        timing = timing or self.time.timing
        settings = Settings(root=self.state, state=self.state, audit=audit)
        store = Store(setting, self.state, epoch=timing.epoch, wait_s=wait_s)
        made = self.harness(*self.tools, settings=settings, timing=timing, store=store)
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


AUDIT_LOCKS = {
    "a call": lambda dispatcher, _: dispatcher.call("say", {}),
    "a denial": lambda dispatcher, _: dispatcher.call("say", {"odd": 1}),
    "a call that needs a confirmation": lambda dispatcher, _: dispatcher.call("ask", {}),
    "an approval": lambda dispatcher, pending: dispatcher.decisions.confirm(pending),
}
STORE_LOCKS = {
    "a call that needs a confirmation": lambda dispatcher, _: dispatcher.call("ask", {}),
    "an approval": lambda dispatcher, pending: dispatcher.decisions.confirm(pending),
    "a no": lambda dispatcher, pending: dispatcher.decisions.reject(pending),
    "an answer": lambda dispatcher, pending: dispatcher.decisions.respond(pending, ""),
    "a call with a rate": lambda dispatcher, _: dispatcher.call("seldom", {}),
}


@pytest.mark.parametrize("what", AUDIT_LOCKS)
def test_other_calls_continue_while_one_waits_for_a_locked_audit(world, what):
    async def main():
        pending = (await made(world.dispatcher()))[0]
        wait = Wait()
        dispatcher = world.dispatcher(Timing(sleep=wait.sleep))
        other = world.dispatcher(audit=False)
        with world.locked(AUDIT_FILE):
            waiting = asyncio.create_task(AUDIT_LOCKS[what](dispatcher, pending))
            await wait.begun.wait()
            ran = len(world.ran)
            for _ in range(3):
                assert (await other.call("say", {})).success
            assert len(world.ran) == ran + 3
            assert not waiting.done()
        wait.over.set()
        return await waiting

    assert not denied(run(world.time, main))


@pytest.mark.parametrize("what", [what for what in AUDIT_LOCKS if what != "a denial"])
def test_an_audit_that_stays_locked_denies_the_call_and_nothing_runs(world, what):
    async def main():
        dispatcher = world.dispatcher()
        pending = (await made(dispatcher))[0]
        ran, began = len(world.ran), world.time.now()
        with world.locked(AUDIT_FILE):
            result = await AUDIT_LOCKS[what](dispatcher, pending)
        waited = world.time.now() - began
        assert len(world.ran) == ran
        return result, waited

    result, waited = run(world.time, main)
    assert denied(result)
    assert "Nothing happened" in result.error.message
    assert 10.0 <= waited < 11.5


@pytest.mark.parametrize("what", STORE_LOCKS)
def test_other_calls_continue_while_one_waits_for_a_locked_store(world, what):
    async def main():
        pending = (await made(world.dispatcher()))[0]
        dispatcher, other = world.dispatcher(audit=False), world.dispatcher(audit=False)
        with world.locked(STORE_FILE):
            waiting = asyncio.create_task(STORE_LOCKS[what](dispatcher, pending))
            for _ in range(50):
                assert (await other.call("say", {})).success
                await asyncio.sleep(0)
            assert not waiting.done()
        return await waiting

    assert not denied(run(world.time, main))


@pytest.mark.parametrize("what", STORE_LOCKS)
def test_a_store_that_stays_locked_denies_the_call_and_nothing_runs(world, what):
    async def main():
        pending = (await made(world.dispatcher()))[0]
        dispatcher = world.dispatcher(audit=False, wait_s=0.05)
        ran = len(world.ran)
        with world.locked(STORE_FILE):
            result = await STORE_LOCKS[what](dispatcher, pending)
        assert len(world.ran) == ran
        return result

    result = run(world.time, main)
    assert denied(result)
    assert "Nothing happened" in result.error.message


def test_a_locked_store_can_still_be_read(world):
    async def main():
        pending = (await made(world.dispatcher()))[0]
        dispatcher = world.dispatcher(wait_s=0.05)
        with world.locked(STORE_FILE):
            return await dispatcher.decisions.confirmation(pending)

    assert asyncio.run(main()).state == "pending"


def test_a_denial_that_cannot_be_recorded_stays_a_denial(world):
    async def main():
        dispatcher = world.dispatcher()
        await made(dispatcher)
        with world.locked(AUDIT_FILE):
            return await dispatcher.call("say", {"odd": 1})

    assert run(world.time, main).error.code == "invalid_arguments"


def test_calls_continue_after_the_lock_is_released(world):
    async def main():
        dispatcher = world.dispatcher(wait_s=0.05)
        first, second, third = await made(dispatcher)
        for file in (STORE_FILE, AUDIT_FILE):
            with world.locked(file):
                assert denied(await dispatcher.decisions.confirm(first))
        # What was claimed and could not be recorded stays claimed: better never than twice.
        assert (await dispatcher.decisions.confirm(first)).error.code == "confirmation_used"
        with world.locked(STORE_FILE):
            assert denied(await dispatcher.decisions.confirm(second))
        assert (await dispatcher.decisions.confirm(second)).success
        assert (await dispatcher.call("ask", {})).confirmation is not None
        assert (await dispatcher.decisions.reject(third)).error.code == "rejected"
        assert dispatcher.audit.verify() is None

    run(world.time, main)


def test_calls_that_waited_for_the_audit_still_keep_the_rate(world):
    async def main():
        dispatcher = world.dispatcher(setting="memory")
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


@pytest.mark.parametrize("file", [AUDIT_FILE, STORE_FILE])
def test_a_file_that_is_locked_at_its_first_opening_is_retried(world, file):
    name = "say" if file == AUDIT_FILE else "seldom"

    async def main():
        await made(world.dispatcher())
        dispatcher = world.dispatcher(Timing())
        with world.locked(file):
            waiting = asyncio.create_task(dispatcher.call(name, {}))
            for _ in range(50):
                await asyncio.sleep(0)
            assert not waiting.done()
        return await waiting

    assert not denied(run(world.time, main))


def test_a_pending_call_can_be_read_by_async_and_sync_callers(world):
    dispatcher = world.dispatcher()
    held = asyncio.run(made(dispatcher))[0]

    seen = dispatcher.decisions.confirmation_sync(held)

    assert (seen.id, seen.state) == (held, "pending")
    assert asyncio.run(dispatcher.decisions.confirmation(held)) == seen
    assert asyncio.run(dispatcher.decisions.confirmation("none")) is None
