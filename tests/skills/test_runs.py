"""Complete runs: resumed after any death, checked against the skill's lists, and undone."""

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_world import MAKE, World, skill, small_world

from toolmd._skills.interpreter import interpret
from toolmd._skills.journal import Effect, ParkedError, UncertainOutcome
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Order, Question, RunEvent
from toolmd.errors import ToolError

NAMES = ("make", "drop", "read")


class DyingError(Exception):
    """The process dies here."""


class KeptJournal:
    """A journal over a dict that outlives the interpreter, and may die before or after a call."""

    def __init__(self, entries: dict[str, Any], dies: Callable[[str], bool] = lambda _: False):
        self.entries = entries
        self.dies = dies

    def now(self) -> dt.datetime:
        return dt.datetime(2026, 3, 2, tzinfo=dt.UTC)

    def holds(self, key: str) -> bool:
        return key in self.entries

    def begun(self, place: str) -> bool:
        return any(key.startswith(f"{place}:") for key in self.entries)

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        del undoing, uncertain
        if key not in self.entries:
            if self.dies(f"before {key}"):
                raise DyingError
            value = await effect()
            if self.dies(f"after {key}"):
                raise DyingError
            self.entries[key] = value
        return self.entries[key]

    async def answer(self, question: Question) -> Answer:
        if question.key not in self.entries:
            raise ParkedError(question)
        return Answer(*self.entries[question.key])

    async def go_on(self) -> None:
        """Nobody cancels it."""

    def tell(self, event: RunEvent) -> None:
        del event


def play(world: World, order: Order, journal: KeptJournal) -> SkillResult:
    return asyncio.run(interpret(order, journal, world))


STEPS = (
    MAKE.replace("{n}", "1")
    + "2. **Each**\n   - **For each**: n in `['x', 'y']`\n   - **Use**: make\n   - **With**:\n"
    "     - name: `n`\n   - **Save as**: each\n   - **Undo**: drop\n     - name: `each.id`\n"
    + MAKE.replace("{n}", "3")
    + "4. **Look**\n   - **Use**: read\n   - **Save as**: look\n"
    "   - **On error**: retry 1 time, then continue\n"
    "5. **End**\n   - **When**: `!has(look)`\n   - **Ask**: Stop?\n"
    "6. **Return**:\n   - n: `look.n`\n   - ids: `each.map(e, e.id) + [made1.id, made3.id]`\n"
)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("succeeds", [True, False], ids=["returns", "stops and undoes"])
def test_a_run_that_dies_anywhere_ends_as_if_it_had_not(when: str, *, succeeds: bool) -> None:
    steps = STEPS if succeeds else STEPS.replace("`look.n`", "`look.zzz`")
    spec = skill(steps, "make, drop, read")
    whole: dict[str, Any] = {}
    world = small_world()
    expected = play(world, world.order(spec, run_id="r"), KeptJournal(whole))
    assert expected.success == succeeds
    assert len(whole) == (6 if succeeds else 10)

    for death in whole:
        entries: dict[str, Any] = {}
        again = small_world()
        order = again.order(spec, run_id="r")
        with pytest.raises(DyingError):
            play(again, order, KeptJournal(entries, dies=f"{when} {death}".__eq__))
        result = play(again, order, KeptJournal(entries))
        assert result == expected
        assert entries == whole
        # What was cut between its effect and its record runs again, with the same key.
        repeated = [key for key in again.keys if again.keys.count(key) > 1]
        is_call = death.rsplit(":", 1)[-1] in NAMES
        assert set(repeated) == ({f"r/{death}"} if when == "after" and is_call else set())


def test_a_resumed_finished_run_calls_nothing() -> None:
    spec = skill(STEPS, "make, drop, read")
    entries: dict[str, Any] = {}
    world = small_world()
    order = world.order(spec, run_id="r")
    first = play(world, order, KeptJournal(entries))
    calls = list(world.calls)
    assert play(world, order, KeptJournal(entries)) == first
    assert world.calls == calls


def test_the_plan_keeps_a_run_from_edits_of_its_files() -> None:
    world = small_world()
    order = world.order(skill(MAKE.replace("{n}", "1"), "make, drop"))
    world.tools.clear()
    kept = order.plan.model_validate_json(order.plan.model_dump_json())
    assert kept == order.plan
    assert set(kept.tools) == {"make", "drop"}


@given(
    st.lists(st.sampled_from(["make", "drop", "read"]), max_size=4),
    st.sets(st.sampled_from(["make", "drop", "read"])),
)
@settings(deadline=None)
def test_no_tool_is_called_that_the_skill_does_not_require(
    used: list[str], required: set[str]
) -> None:
    steps = "".join(
        f"{n}. **Do {n}**\n   - **Use**: {name}\n"
        + ("   - **With**:\n     - name: x\n" if name != "read" else "")
        + "   - **On error**: continue\n"
        for n, name in enumerate(used, 1)
    )
    world = small_world()
    spec = skill(steps + f"{len(used) + 1}. **Stop**: End.\n", ", ".join(sorted(required)))
    asyncio.run(world.run(spec))
    assert world.called == [name for name in used if name in required]


@given(works=st.lists(st.booleans(), min_size=1, max_size=6), stops=st.booleans())
@settings(deadline=None)
def test_everything_done_is_undone_in_reverse_or_nothing_is(
    *, works: list[bool], stops: bool
) -> None:
    outcome = iter(works)

    def make(name: str) -> dict[str, str]:
        if not next(outcome):
            raise ToolError("no", code="no")
        return {"id": name}

    world = small_world()
    world.functions["make"] = make
    steps = "".join(
        MAKE.replace("{n}", str(n)) + "   - **On error**: continue\n"
        for n in range(1, len(works) + 1)
    )
    steps += f"{len(works) + 1}. **{'Stop' if stops else 'Return'}**: End.\n"
    asyncio.run(world.run(skill(steps, "make, drop")))
    made = [f"n{n}" for n, worked in enumerate(works, 1) if worked]
    undone = [arguments["name"] for name, arguments in world.calls if name == "drop"]
    assert undone == (made[::-1] if stops else [])
