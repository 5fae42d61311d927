"""A confirmation is pending for ten minutes, even if the clock jumps."""

import asyncio

import pytest
from deciding import approve

from toolmd._types.call_spec import Safety
from toolmd._types.settings import AuditSettings, Settings


class World:
    """A tool that must be confirmed, by a clock that the test sets."""

    def __init__(self, harness, tool, root):
        made = tool("act", dict, safety=Safety(requires_confirmation=True))
        project = Settings(root=root, state=root, audit=AuditSettings(enabled=False))
        self.now = 1_000_000.0
        self.dispatcher = harness(made, settings=project, clock=lambda: self.now)
        self.confirmations = self.dispatcher.dispatcher.confirmations
        self.held = self.dispatcher.call("act").confirmation.id

    def confirm(self):
        return asyncio.run(approve(self.confirmations, self.held))


@pytest.fixture
def world(harness, tool, tmp_path):
    return World(harness, tool, tmp_path)


@pytest.mark.parametrize("moved", [0.0, 599.0, -600.0])
def test_a_confirmation_is_pending_for_ten_minutes(world, moved):
    world.now += moved

    assert [held.id for held in world.confirmations.pending()] == [world.held]
    assert world.confirm().success


@pytest.mark.parametrize("moved", [600.0, 601.0, -601.0])
def test_a_confirmation_expires_later_or_if_the_clock_goes_far_back(world, moved):
    world.now += moved

    assert tuple(world.confirmations.pending()) == ()
    assert world.confirm().error.code == "confirmation_expired"


def test_an_expired_confirmation_stays_expired_if_the_clock_goes_back(world):
    world.now += 600.0
    assert world.confirm().error.code == "confirmation_expired"

    world.now -= 600.0

    assert tuple(world.confirmations.pending()) == ()
    assert world.confirm().error.code == "confirmation_expired"
