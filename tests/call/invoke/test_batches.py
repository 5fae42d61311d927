"""Long arrays are run in batches and returned as one result."""

import asyncio
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import VirtualTime, run

from toolmd._types.call_spec import Batch, Limits, Rate
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings

MEMORY = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False), store="memory")
NUMBERS = Parameter(
    name="items",
    shape=Schema(types=("array",), items=Schema(types=("integer",))),
    required=True,
)
EITHER = Parameter(
    name="items",
    shape=Schema(types=("string", "array"), items=Schema(types=("integer",))),
    required=True,
)
ARRAY = Schema(types=("array",))


class Pieces:
    """Gives what `make` gives of the items, which fail where they hold one of `heavy`."""

    def __init__(self, make=list, heavy=(), most=10**9):
        self.seen = []
        self._make = make
        self._heavy = set(heavy)
        self._most = most

    async def __call__(self, items, *, context=None):
        self.seen.append(items)
        if self._heavy & set(items) or len(items) > self._most:
            raise MemoryError
        return self._make(items)


def called(harness, tool, pieces, items, *, size=4, parameter=NUMBERS, returns=ARRAY, **limits):
    world = VirtualTime()
    made = Limits(max_batch=Batch(parameter="items", size=size), **limits)
    bound = tool("act", pieces, parameter, mode="async", returns=returns, limits=made,
                 read_only=True)  # fmt: skip
    dispatcher = harness(bound, settings=MEMORY, timing=world.timing).dispatcher
    return run(world, lambda: dispatcher.call("act", {"items": items}))


@given(items=st.lists(st.integers(), max_size=30), size=st.integers(1, 9))
def test_pieces_keep_the_order_and_give_one_result(harness, tool, items, size):
    pieces = Pieces()
    result = called(harness, tool, pieces, items, size=size)
    assert (result.success, result.data, result.attempts) == (True, items, 1)
    assert all(len(piece) <= size for piece in pieces.seen)
    assert [item for piece in pieces.seen for item in piece] == items
    assert not result.notes


def test_a_value_that_is_not_an_array_is_not_split(harness, tool):
    result = called(harness, tool, Pieces(len), "a long text", parameter=EITHER, returns=Schema())
    assert result.data == 11


def test_memory_that_runs_out_halves_a_piece_once(harness, tool):
    pieces = Pieces(most=2)
    result = called(harness, tool, pieces, [1, 2, 3, 4, 5, 6])
    assert result.data == [1, 2, 3, 4, 5, 6]
    assert [len(piece) for piece in pieces.seen] == [4, 2, 2, 2]
    assert not result.notes


def test_a_half_that_also_runs_out_of_memory_is_skipped_with_nulls_and_reported(harness, tool):
    result = called(harness, tool, Pieces(heavy=[3]), list(range(8)))
    assert result.success
    assert result.data == [0, 1, None, None, 4, 5, 6, 7]
    assert result.notes == (
        "Memory ran out, with half as many items too: the result lacks items 3 to 4 of items.",
    )


def test_one_item_cannot_be_halved(harness, tool):
    result = called(harness, tool, Pieces(heavy=[8]), list(range(9)))
    assert result.data == [*range(8), None]
    assert "item 9" in result.notes[0]


def test_a_batch_that_fits_whole_is_halved_as_well(harness, tool):
    pieces = Pieces(most=3)
    result = called(harness, tool, pieces, [1, 2, 3, 4])
    assert (result.data, [len(p) for p in pieces.seen]) == ([1, 2, 3, 4], [4, 2, 2])


def test_if_every_piece_fails_an_array_of_nulls_reports_it(harness, tool):
    result = called(harness, tool, Pieces(most=0), [1, 2, 3, 4, 5])
    assert (result.data, len(result.notes)) == ([None] * 5, 1)


def test_if_every_piece_fails_without_an_array_the_call_fails(harness, tool):
    returns = Schema(types=("object",))
    result = called(harness, tool, Pieces(most=0), [1, 2, 3], returns=returns)
    assert (result.outcome, result.error.code) == ("failed", "tool_error")


def test_arrays_in_objects_are_put_end_to_end(harness, tool):
    def make(items):
        return {"vectors": items, "model": "m", "found": [i for i in items if i > 2]}

    returns = Schema(types=("object",))
    result = called(harness, tool, Pieces(make, heavy=[5]), list(range(8)), returns=returns)
    assert result.data == {
        "vectors": [0, 1, 2, 3, None, None, 6, 7], "model": "m", "found": [3, 6, 7],
    }  # fmt: skip


def test_values_that_cannot_be_joined_are_a_tool_error(harness, tool):
    result = called(harness, tool, Pieces(sum), [1, 2, 3, 4, 5, 6], returns=Schema())
    assert (result.outcome, result.error.code) == ("failed", "tool_error")
    assert "can't be joined" in result.error.message


def test_each_piece_is_retried_by_itself(harness, tool):
    faults = [TimeoutError(), None, TimeoutError(), None]

    def make(items):
        if (fault := faults.pop(0)) is not None:
            raise fault
        return items

    result = called(harness, tool, Pieces(make), list(range(8)), retries=1)
    assert (result.data, result.attempts) == (list(range(8)), 3)


def test_each_piece_has_its_own_key_which_its_attempts_share(harness, tool):
    keys = []

    async def act(items, *, context):
        keys.append((items[0], context.idempotency_key))
        if len(keys) == 2:
            raise TimeoutError
        return items

    world = VirtualTime()
    limits = Limits(max_batch=Batch(parameter="items", size=2), retries=1)
    bound = tool("act", act, NUMBERS, context="context", returns=ARRAY, limits=limits,
                 idempotent="keyed")  # fmt: skip
    dispatcher = harness(bound, settings=MEMORY, timing=world.timing).dispatcher
    assert run(world, lambda: dispatcher.call("act", {"items": [1, 2, 3, 4]})).success
    assert [first for first, _ in keys] == [1, 3, 3]
    assert keys[1] == keys[2]
    assert keys[0][1] != keys[1][1]


def test_a_piece_that_fails_or_takes_too_long_reports_the_finished_pieces(harness, tool):
    async def act(items):
        if 9 in items:
            await asyncio.sleep(60)
        return [1 // item for item in items]

    failed = called(harness, tool, act, [1, 1, 1, 1, 1, 0])
    late = called(harness, tool, act, [1, 1, 1, 1, 9], timeout_s=5.0)
    first = called(harness, tool, act, [0, 1, 1, 1, 1])
    done = ("The first 4 items of items were done.",)
    assert (failed.error.code, failed.notes) == ("tool_error", done)
    assert (late.error.code, late.notes) == ("timeout", done)
    assert (first.error.code, first.notes) == ("tool_error", ())


def test_each_piece_counts_for_the_rate_limit(harness, tool):
    starts = []
    world = VirtualTime()

    async def act(items):
        starts.append(world.now())
        return items

    limits = Limits(max_batch=Batch(parameter="items", size=1), rate=Rate(calls=1, per_s=1))
    bound = tool("act", act, NUMBERS, returns=ARRAY, limits=limits)
    dispatcher = harness(bound, settings=MEMORY, timing=world.timing).dispatcher
    assert run(world, lambda: dispatcher.call("act", {"items": [1, 2, 3]})).data == [1, 2, 3]
    assert [later - sooner for sooner, later in itertools.pairwise(starts)] == (
        pytest.approx([1.02, 1.02])
    )


def test_a_piece_that_starts_too_late_reports_the_finished_pieces(harness, tool):
    result = called(harness, tool, Pieces(), list(range(8)), rate=Rate(calls=1, per_s=60))
    assert (result.outcome, result.error.code) == ("failed", "rate_limited")
    assert "first 4 items of items were done" in result.error.message
