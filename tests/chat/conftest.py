"""A nursery for each test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from nursery import Nursery, open_client
from openai import AsyncOpenAI


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.workspace.close()


@pytest.fixture
def make_nursery() -> Iterator[Callable[..., Nursery]]:
    made: list[Nursery] = []

    def make(**overrides: Any) -> Nursery:
        made.append(Nursery(**overrides))
        return made[-1]

    yield make
    for one in made:
        one.workspace.close()


@pytest.fixture
def client_of() -> Callable[..., AsyncOpenAI]:
    return open_client
