"""A result that is too large is cut at a row, by the stricter of the file and the plan."""

import dataclasses
import json
import random
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from toolmd._call.cut import cut_result
from toolmd._types.call import Budget
from toolmd._types.call_spec import Limits
from toolmd._types.result import Result
from toolmd._types.settings import AuditSettings, Settings

MEMORY = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False), store="memory")
ROWS = [{"n": n, "text": "é" * 10} for n in range(50)]


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def cut(value, rows, most):
    """Return the value as it is cut, and whether by rows, by bytes, with the notes."""
    whole = Result(success=True, tool="act", outcome="ok", data=value)
    result = cut_result(whole, Limits(max_rows=rows, max_bytes=most))
    return (
        result.data,
        *(result.truncated or {"rows": False, "bytes": False}).values(),
        result.notes,
    )


def given(harness, tool, value, *, budget=None, limits=None, **fields):
    async def act():
        return value

    limits = limits or Limits()
    bound = tool("act", act, limits=limits, **fields)
    result = harness(bound, settings=MEMORY).call("act", budget=budget)
    return cut_result(result._replace(budget=budget), limits)


@pytest.mark.parametrize("value", [ROWS, {"papers": ROWS, "found": 50}])
def test_cut_rows_are_reported(harness, tool, value):
    result = given(harness, tool, value, limits=Limits(max_rows=20))
    rows = result.data if isinstance(value, list) else result.data["papers"]
    assert rows == ROWS[:20]
    assert result.truncated == {"rows": True, "bytes": False}
    assert "20 of 50 rows" in result.notes[0]


def test_bytes_are_cut_at_a_row(harness, tool):
    size = len(compact(ROWS[:7]))
    for most, rows in ((size, 7), (size - 1, 6), (size + 1, 7)):
        result = given(harness, tool, ROWS, limits=Limits(max_bytes=most))
        assert result.data == ROWS[:rows]
        assert result.truncated == {"rows": False, "bytes": True}


def test_the_stricter_of_file_and_plan_applies_field_by_field(harness, tool):
    limits = Limits(max_rows=10, max_bytes=10_000)
    plan = Budget(rows=30, bytes=len(compact(ROWS[:4])), timeout_ms=1000)
    result = given(harness, tool, ROWS, limits=limits, budget=plan)
    assert result.data == ROWS[:4]
    assert result.truncated == {"rows": True, "bytes": True}
    plan = Budget(rows=3, bytes=10_000, timeout_ms=1000)
    result = given(harness, tool, ROWS, limits=limits, budget=plan)
    assert (result.data, result.truncated) == (ROWS[:3], {"rows": True, "bytes": False})


def test_a_plans_time_is_the_stricter_too(harness, tool):
    async def forever():
        import asyncio

        await asyncio.Event().wait()

    dispatcher = harness(tool("act", forever, read_only=True), settings=MEMORY)
    result = dispatcher.call("act", budget=Budget(rows=1, bytes=100, timeout_ms=20))
    assert result.error.code == "timeout"
    assert "0.0" in result.error.message


def test_the_longest_of_several_arrays_is_cut_first(harness, tool):
    value = {"warnings": ["a", "b"], "papers": ROWS}
    result = given(harness, tool, value, limits=Limits(max_bytes=300))
    assert result.data["warnings"] == ["a", "b"]
    assert 0 < len(result.data["papers"]) < 50
    assert len(compact(result.data)) <= 300


def test_a_result_without_rows_is_shortened(harness, tool):
    limits = Limits(max_bytes=100)
    result = given(harness, tool, "x" * 1000, limits=limits)
    assert (result.success, len(compact(result.data))) == (True, 100)
    assert result.truncated == {"rows": False, "bytes": True}
    assert result.notes[0] == "The result is 1,002 bytes; the limit is 100."
    result = given(harness, tool, {"text": "x" * 1000, "rows": [1]}, limits=limits)
    assert (len(compact(result.data)), result.data["rows"]) == (100, [1])
    result = given(harness, tool, 10**40, limits=Limits(max_bytes=9))
    assert (result.data, result.notes[1]) == (None, "It is left out.")


def test_every_json_array_has_rows(harness, tool):
    @dataclasses.dataclass
    class Found:
        papers: tuple[int, ...]

    limits = Limits(max_rows=2)
    assert given(harness, tool, Found((1, 2, 3)), limits=limits).data == {"papers": [1, 2]}
    assert given(harness, tool, (1, 2, 3), limits=limits).data == [1, 2]
    assert given(harness, tool, {"papers": {1}}, limits=limits).data == {"papers": [1]}
    assert given(harness, tool, {1: (n for n in range(9))}, limits=limits).data == {"1": [0, 1]}


@pytest.mark.parametrize(
    ("own", "planned", "rows"),
    [(None, None, None), (9, None, 9), (None, 4, 4), (9, 4, 4), (4, 9, 4)],
)
def test_a_tool_receives_the_number_of_rows_that_it_may_return(harness, tool, own, planned, rows):
    def act(*, context):
        return {"rows": context.max_rows}

    bound = tool("act", act, context="context", mode="inline", limits=Limits(max_rows=own))
    plan = None if planned is None else Budget(rows=planned, bytes=1000, timeout_ms=1000)
    result = harness(bound, settings=MEMORY).call("act", budget=plan)
    assert result.data == {"rows": rows}


def test_a_value_that_the_tool_lowered_is_reported(harness, tool):
    def act(*, context):
        context.clamped("limit", 200)
        return [1, 2, 3]

    result = harness(tool("act", act, context="context", mode="inline")).call("act")
    assert result.data == [1, 2, 3]
    assert result.truncated == {"rows": True, "bytes": False}
    assert result.notes == ("`limit` was lowered to 200, the most that the tool accepts.",)


def test_a_tool_adds_notes_to_its_result(harness, tool):
    def act(*, context):
        context.note("One of two notes was not searched.")
        return [1, 2, 3]

    result = harness(tool("act", act, context="context", mode="inline")).call("act")
    assert (result.data, result.truncated) == ([1, 2, 3], None)
    assert result.notes == ("One of two notes was not searched.",)
    short = cut_result(result, Limits(max_rows=2))
    assert short.notes == ("One of two notes was not searched.", "2 of 3 rows are returned.")
    assert short.truncated["rows"]


def anything(chance, depth=0):
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind < 6:
        return chance.choice([
            None, True, chance.randrange(10**9), chance.random() * 1e6, 'é\n"\\\U0001f600' * kind,
            "x" * chance.randrange(80),
        ])  # fmt: skip
    items = [anything(chance, depth + 1) for _ in range(chance.randrange(12))]
    if kind == 6:
        return {f"k{n}": item for n, item in enumerate(items)}
    return items * chance.choice([1, 1, 7])


def test_budgets_are_never_exceeded_in_ten_thousand_cases():
    chance = random.Random(4)
    cut_cases = 0
    for _ in range(10_000):
        value = anything(chance)
        rows = chance.choice([None, 1, 3, 20])
        most = chance.choice([None, chance.randrange(1, 60), chance.randrange(1, 3000)])
        found, by_rows, by_bytes, notes = cut(value, rows, most)
        arrays = [found] if isinstance(found, list) else []
        if isinstance(found, dict):
            arrays = [item for item in found.values() if isinstance(item, list)]
        assert rows is None or all(len(array) <= rows for array in arrays)
        assert most is None or found is None or len(compact(found)) <= most
        if not any(note.startswith("The result is") for note in notes):
            assert_begins(found, value)
        if not (by_rows or by_bytes):
            assert found == value
        cut_cases += by_rows or by_bytes
    assert cut_cases > 2000


def assert_begins(part, whole):
    """Hold that whole rows are left out from the end, and nothing else."""
    if part is None:
        return
    if isinstance(whole, list):
        assert part == whole[: len(part)]
    elif isinstance(whole, dict):
        assert part.keys() == whole.keys()
        for name, item in part.items():
            assert item == (whole[name][: len(item)] if isinstance(item, list) else whole[name])
    else:
        assert part == whole


ROW = st.integers(0, 9).map(lambda n: "é" * n * n) | st.lists(st.integers(), max_size=9)


@hypothesis.given(
    st.lists(ROW, max_size=60), st.lists(ROW, max_size=9), st.integers(0, 3000), st.booleans()
)
def test_all_rows_that_fit_are_returned(rows, others, most, bare):
    value = rows if bare else {"found": 7, "rows": rows, "others": others, "é\n": None}
    found, _, by_bytes, _ = cut(value, None, most)
    emptied = [] if bare else {**value, "rows": [], "others": []}
    if len(compact(emptied)) > most:
        assert by_bytes
        return
    assert len(compact(found)) <= most
    arrays = {"": (rows, found)} if bare else {k: (value[k], found[k]) for k in value}
    for name in ("",) if bare else ("rows", "others"):
        whole, given = arrays[name]
        assert given == whole[: len(given)]
        if len(given) < len(whole):
            more = whole[: len(given) + 1]
            assert len(compact(more if bare else {**found, name: more})) > most
