"""A full disk: a call has its record, or does not run."""

import asyncio

import pytest
from deciding import approve

from toolmd._call.audit.reader import AuditReader
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import Settings

STEP = 1024
MOST = 1024 * STEP
WORD = Parameter(name="word", shape=Schema(types=("string",)))


class Shelf:
    """A tool that may be called and one that is held, over a state folder of their own."""

    def __init__(self, harness, tool, state, *, before=0):
        self.ran = []

        async def say(word):
            self.ran.append(word)

        settings = Settings(root=state, state=state)
        self.reader = AuditReader(settings)
        self.harness = harness(
            tool("say", say, WORD),
            tool("ask", say, WORD, safety=Safety(requires_confirmation=True)),
            settings=settings,
        )
        self.dispatcher = self.harness.dispatcher
        for _ in range(before):
            assert self.say().success
        self.ran.clear()

    def say(self):
        return self.harness.call("say", {"word": "a"})

    def ask(self):
        return self.harness.call("ask", {"word": "b"})

    def confirm(self, held):
        return asyncio.run(approve(self.dispatcher.confirmations, held.confirmation.id))

    def recorded(self):
        """Give the decisions on record, whose chain holds."""
        assert self.reader.verify().sound
        return [one.record["decision"] for one in self.reader.records()]


@pytest.fixture
def shelves(harness, tool, tmp_path):
    """Make shelf after shelf, each with more limited_disk, until somebody has enough."""

    def make(**options):
        for size in range(0, MOST, STEP):
            shelf = Shelf(harness, tool, tmp_path / str(size), **options)
            try:
                yield size, shelf
            finally:
                shelf.harness.close()

    return make


def denied(result):
    return result.error is not None and result.error.code == "internal_guard_error"


@pytest.mark.parametrize("before", [0, 20])
def test_a_call_runs_with_its_record_or_not_at_all(limited_disk, shelves, before):
    for size, shelf in shelves(before=before):
        with limited_disk(size):
            result = shelf.say()
        assert result.success == bool(shelf.ran)
        assert result.success or denied(result)
        assert shelf.recorded()[before:].count("run") >= len(shelf.ran)
        # With free space the workspace continues.
        assert shelf.say().success
        assert shelf.recorded()[-1] == "run"
        if result.success:
            break
    assert 0 < size < MOST


@pytest.mark.slow
def test_a_pending_call_is_stored_whole_or_not_at_all(limited_disk, shelves):
    for size, shelf in shelves():
        with limited_disk(size):
            result = shelf.ask()
        held = [one.id for one in shelf.dispatcher.confirmations.pending()]
        assert denied(result) or held == [result.confirmation.id]
        assert (result.confirmation is None) == denied(result)
        assert shelf.ran == []
        assert shelf.confirm(shelf.ask()).success
        if result.confirmation:
            break
    assert 0 < size < MOST


@pytest.mark.slow
def test_an_approval_runs_once_or_not_at_all(limited_disk, shelves):
    for size, shelf in shelves():
        held = shelf.ask()
        with limited_disk(size):
            result = shelf.confirm(held)
        assert result.success == bool(shelf.ran)
        assert result.success or denied(result)
        again = shelf.confirm(held)
        # What was taken and could not be recorded is not given back: better never than twice.
        assert again.success or again.error.code == "confirmation_used"
        assert len(shelf.ran) <= 1
        assert shelf.confirm(shelf.ask()).success
        if result.success:
            break
    assert 0 < size < MOST
