"""If confirmations can't be stored or read, nothing is decided and nothing runs."""

import asyncio
import sqlite3

import pytest
from deciding import approve, reject, respond

from toolmd import Workspace
from toolmd._types.call_spec import Safety
from toolmd._types.settings import AuditSettings, Settings
from toolmd.errors import UnreachableError


class World:
    """A tool that must be confirmed, and the folder that keeps its calls."""

    def __init__(self, harness, tool, root):
        self.ran, self.harness, self.tool, self.root = [], harness, tool, root

    def dispatcher(self, state="state"):
        async def act():
            self.ran.append(1)

        made = self.tool("act", act, safety=Safety(requires_confirmation=True))
        project = Settings(
            root=self.root, state=self.root / state, audit=AuditSettings(enabled=False)
        )
        return self.harness(made, settings=project)

    def script(self, script):
        store = sqlite3.connect(self.root / "state" / "store.sqlite3")
        store.executescript(script)
        store.close()

    def without_folder(self):
        """A door whose state folder can't be: a file stands in its way."""
        (self.root / "file").write_text("")
        return self.dispatcher("file/below")

    def with_odd_table(self):
        """A door whose table has other columns."""
        dispatcher = self.dispatcher()
        dispatcher.call("act")
        self.script("DROP TABLE confirmation; CREATE TABLE confirmation (odd TEXT) STRICT")
        return dispatcher


BROKEN = pytest.mark.parametrize("broken", [World.without_folder, World.with_odd_table])
DECISIONS = {
    "confirm": approve,
    "reject": reject,
    "respond": lambda decisions, held: respond(decisions, held, "Done."),
}


@pytest.fixture
def world(harness, tool, tmp_path):
    return World(harness, tool, tmp_path)


def decide(dispatcher, decision, held):
    return asyncio.run(DECISIONS[decision](dispatcher.dispatcher.confirmations, held))


def told(result):
    assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
    assert "its confirmation could not be decided" in result.error.message


@BROKEN
def test_a_confirmation_that_cannot_be_stored_is_not_pending(world, broken):
    told(broken(world).call("act"))
    assert world.ran == []


@BROKEN
@pytest.mark.parametrize("decision", DECISIONS)
def test_a_confirmation_that_cannot_be_read_is_not_decided(world, broken, decision):
    told(decide(broken(world), decision, "some-id"))


@BROKEN
def test_an_unreadable_store_has_no_pending_calls(world, broken):
    decisions = broken(world).dispatcher.confirmations
    assert asyncio.run(decisions.get("some-id")) is None


@BROKEN
def test_a_read_that_fails_is_an_error_and_not_an_absent_call(world, broken):
    decisions = broken(world).dispatcher.confirmations
    with pytest.raises(UnreachableError, match="toolmd doctor"):
        asyncio.run(decisions.read("some-id"))


def test_get_raises_if_the_store_of_pending_calls_cannot_be_read(tmp_path):
    with Workspace.open(tmp_path, overrides={"plugins": [], "store": "sqlite"}) as workspace:
        state = workspace.settings.state
        state.mkdir(exist_ok=True)
        (state / "store.sqlite3").write_bytes(b"no data base" * 400)
        with pytest.raises(UnreachableError, match="toolmd doctor"):
            workspace.confirmations.get_sync("some-id")


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_confirmation_that_cannot_be_claimed_is_not_decided(world, decision):
    dispatcher = world.dispatcher()
    held = dispatcher.call("act").confirmation.id
    world.script(
        "CREATE TRIGGER t BEFORE UPDATE ON confirmation BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    told(decide(dispatcher, decision, held))
    assert world.ran == []
    world.script("DROP TRIGGER t")
    assert asyncio.run(dispatcher.dispatcher.confirmations.get(held)).state == "pending"
    assert decide(dispatcher, "confirm", held).success


def test_only_the_owner_reads_the_file_of_pending_calls(world):
    world.dispatcher().call("act")
    assert (world.root / "state" / "store.sqlite3").stat().st_mode & 0o777 == 0o600
