"""A world for each test, closed after it."""

from collections.abc import Callable, Iterator

import pytest
from turn_world import World


@pytest.fixture
def open_world() -> Iterator[Callable[..., World]]:
    opened = []

    def make(*given, **options) -> World:
        opened.append(World(*given, **options))
        return opened[-1]

    yield make
    for world in opened:
        world.workspace.close()


@pytest.fixture
def world(open_world) -> World:
    return open_world()
