"""Resources by type: values, factories, and what closes them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

import pytest

from toolmd import Resources


class Till:
    """A resource that notes what happens to it."""

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes


def provided(resources: Resources) -> Till:
    """Return the till of one call that has ended."""

    async def call() -> Till:
        async with AsyncExitStack() as stack:
            till = await resources.provide(Till, stack)
            till.notes.append("used")
            return till

    return asyncio.run(call())


def test_a_value_is_the_same_for_each_call() -> None:
    resources, till = Resources(), Till([])
    resources.register_value(Till, till)

    assert provided(resources) is provided(resources) is till


def test_a_factory_makes_a_value_for_each_call() -> None:
    async def later() -> Till:
        return Till([])

    for factory in (lambda: Till([]), later):
        resources = Resources()
        resources.register_factory(Till, factory)

        assert provided(resources) is not provided(resources)


def test_a_generator_cleans_up_when_the_call_ends() -> None:
    def plain() -> Iterator[Till]:
        till = Till([])
        yield till
        till.notes.append("left")

    async def later() -> AsyncIterator[Till]:
        till = Till([])
        yield till
        till.notes.append("left")

    for factory in (plain, later, contextmanager(plain), asynccontextmanager(later)):
        resources = Resources()
        resources.register_factory(Till, factory)

        assert provided(resources).notes == ["used", "left"]


def test_the_last_registration_of_a_type_counts() -> None:
    resources, till = Resources(), Till([])
    resources.register_value(Till, Till([]))
    resources.register_factory(Till, lambda: till)
    assert provided(resources) is till

    resources.register_value(Till, other := Till([]))
    assert provided(resources) is other


def test_a_type_that_no_plugin_registered_is_an_error() -> None:
    assert Till not in Resources()
    with pytest.raises(LookupError, match="no plugin provides Till"):
        provided(Resources())


def test_a_shared_value_is_opened_once_by_the_first_call_and_closed_if_it_was_opened() -> None:
    notes: list[str] = []

    def open_it() -> Till:
        notes.append("opened")
        return Till([])

    for used in (0, 2):
        resources = Resources()
        shared = resources.register_shared(Till, open_it, lambda till: notes.append("closed"))
        assert Till in resources
        assert notes == []
        tills = [provided(resources) for _ in range(used)]
        assert all(till is shared() for till in tills)
        resources.close()
    assert notes == ["opened", "closed"]


def closing(notes: list[str]) -> Resources:
    """Return resources that note how they are closed; the second one fails."""

    async def later() -> None:
        notes.append("later")

    def fails() -> None:
        raise OSError("no disk")

    resources = Resources()
    resources.register_value(int, 1, on_registry_close=lambda: notes.append("first"))
    resources.register_value(str, "", on_registry_close=fails)
    resources.register_value(float, 1.0, on_registry_close=later)
    resources.register_factory(Till, Till, on_registry_close=lambda: notes.append("last"))
    return resources


def test_closing_goes_backwards_and_past_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    notes: list[str] = []
    resources = closing(notes)

    asyncio.run(resources.aclose())
    asyncio.run(resources.aclose())

    assert notes == ["last", "later", "first"]
    assert "no disk" in caplog.text


def test_closing_without_a_loop_names_what_it_leaves_open(
    caplog: pytest.LogCaptureFixture,
) -> None:
    notes: list[str] = []

    closing(notes).close()

    assert notes == ["last", "first"]
    assert "only `aclose` of the workspace awaits it" in caplog.text
