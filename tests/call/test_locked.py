"""Calls wait for a locked store next to the event loop, and are then denied."""

import asyncio
import sqlite3
from contextlib import closing, contextmanager

import pytest
from deciding import approve, reject, respond
from virtual_time import VirtualTime, run

from toolmd._call.audit.reader import AuditReader
from toolmd._call.limits import Timing
from toolmd._store import STORE_FILE
from toolmd._store.store import Store
from toolmd._types.call_spec import Limits, Rate, Safety
from toolmd._types.settings import AuditSettings, Settings


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
        settings = Settings(root=self.state, state=self.state, audit=AuditSettings(enabled=audit))
        store = Store(setting, self.state, epoch=timing.epoch, wait_s=wait_s)
        self.made = self.harness(*self.tools, settings=settings, timing=timing, store=store)
        return self.made.dispatcher

    @contextmanager
    def locked(self, file):
        with closing(sqlite3.connect(self.state / file, isolation_level=None)) as somebody:
            somebody.execute("BEGIN EXCLUSIVE")
            yield
            somebody.execute("ROLLBACK")


@pytest.fixture
def world(harness, tool, tmp_path):
    return World(harness, tool, tmp_path)


def denied(result):
    return result.error is not None and result.error.code == "internal_guard_error"


async def made(dispatcher):
    """Have every file there, and something to decide."""
    for name in ("say", "seldom"):
        await dispatcher.call(name, {})
    asked = [await dispatcher.call("ask", {}, conversation=f"c-{n}") for n in range(3)]
    return [one.confirmation.id for one in asked]


STORE_LOCKS = {
    "a call that needs a confirmation": lambda dispatcher, _: dispatcher.call("ask", {}),
    "an approval": lambda dispatcher, pending: approve(dispatcher.confirmations, pending),
    "a no": lambda dispatcher, pending: reject(dispatcher.confirmations, pending),
    "an answer": lambda dispatcher, pending: respond(dispatcher.confirmations, pending, ""),
    "a call with a rate": lambda dispatcher, _: dispatcher.call("seldom", {}),
}


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
            return await dispatcher.confirmations.get(pending)

    assert asyncio.run(main()).state == "pending"


def test_calls_continue_after_the_lock_is_released(world):
    async def main():
        dispatcher = world.dispatcher(wait_s=0.05)
        _, second, third = await made(dispatcher)
        with world.locked(STORE_FILE):
            assert denied(await approve(dispatcher.confirmations, second))
        assert (await approve(dispatcher.confirmations, second)).success
        assert (await dispatcher.call("ask", {})).confirmation is not None
        assert (await reject(dispatcher.confirmations, third)).error.code == "rejected"
        world.made.close()
        assert AuditReader(Settings(root=world.state, state=world.state)).verify().sound

    run(world.time, main)


def test_a_store_that_is_locked_at_its_first_opening_is_retried(world):
    async def main():
        await made(world.dispatcher())
        dispatcher = world.dispatcher(Timing())
        with world.locked(STORE_FILE):
            waiting = asyncio.create_task(dispatcher.call("seldom", {}))
            for _ in range(50):
                await asyncio.sleep(0)
            assert not waiting.done()
        return await waiting

    assert not denied(run(world.time, main))
