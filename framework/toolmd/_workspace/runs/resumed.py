"""Build the snapshot on which a run goes on: today's Python under the run's own definitions."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from toolmd._load.weakening import tightened
from toolmd._types.plan import Plan
from toolmd._types.registry import Bound, BoundTool, Registry
from toolmd._types.run import Order, Question
from toolmd._types.tool import ToolSpec
from toolmd._workspace.snapshot.live import Live
from toolmd.errors import ImplementationError

MOST = 32
"""How many such snapshots are kept for further runs."""


class ResumedLives:
    """The snapshots of runs that began on earlier definitions; safe for threads."""

    def __init__(self) -> None:
        self._built: OrderedDict[tuple[object, ...], Live] = OrderedDict()
        self._lock = threading.Lock()

    def resume(self, order: Order, began_on: Live, now: Live) -> tuple[Live, Order]:
        """Return the snapshot on which a run goes on, and the run's order on it.

        Each tool has the run's own definition, or today's where that is stricter. The Python is
        that of `began_on`, the snapshot on which the run began in this process, or today's.

        Raises ImplementationError where a tool or a skill's Python is gone, or can't be imported.
        """
        plan = order.plan
        tools = {name: _strictest(name, spec, began_on, now) for name, spec in plan.tools.items()}
        bound: list[Bound[Any]] = [*tools.values(), *_skills(plan, began_on)]
        # First, so that a failed import stops no run half-way.
        for one in bound:
            if one.binding.load is not None:
                one.binding.load()
        specs = {name: tool.spec for name, tool in tools.items()}
        changed = [name for name, tool in tools.items() if tool is not now.registry.tools.get(name)]
        if specs != plan.tools:
            order = order._replace(plan=plan.model_copy(update={"tools": specs}))
        if not changed and began_on is now:
            return now, order
        return self._build(began_on, now, {name: tools[name] for name in changed}), order

    def _build(self, began_on: Live, now: Live, tools: dict[str, BoundTool]) -> Live:
        """Return a snapshot with these tools in place of its own."""
        # Both snapshots stay referenced, since an id of a freed object may return.
        hashes = ((name, tool.spec.hash, tool.default_min) for name, tool in tools.items())
        key = (began_on, now, *sorted(hashes, key=lambda one: one[0]))
        with self._lock:
            if (live := self._built.get(key)) is None:
                old = began_on.registry
                registry = Registry({**old.tools, **tools}, old.skills)
                live = now.taking_up(replace(began_on.snapshot, registry=registry))
                self._built[key] = live
            self._built.move_to_end(key)
            while len(self._built) > MOST:
                self._built.popitem(last=False)
        return live

    def close(self) -> None:
        """Forget all such snapshots."""
        with self._lock:
            self._built.clear()


def _strictest(name: str, spec: ToolSpec, began_on: Live, now: Live) -> BoundTool:
    """Return a tool with its definition of then, made stricter by today's."""
    mine, todays = began_on.registry.tools.get(name), now.registry.tools.get(name)
    if mine is None:
        raise ImplementationError(f"the tool {name} no longer exists")
    if mine is todays and mine.spec.hash == spec.hash:
        return mine
    least = mine.default_min
    # A missing tool adds no restriction, and a broken one can't be read.
    if todays is not None:
        least = _higher(least, todays.default_min)
        spec = tightened(spec, todays.spec, default_min=least)
    if spec.hash == mine.spec.hash and least == mine.default_min:
        return mine
    return mine.with_policy(spec, least)


def _skills(plan: Plan, live: Live) -> Iterator[Bound[Any]]:
    for name in plan.python:
        skill = live.registry.skills.get(name)
        if skill is None or skill.binding.kind == "none":
            raise ImplementationError(f"the Python of the skill {name} no longer exists")
        yield skill


def _higher(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)


def python_gone(order: Order, error: ImplementationError) -> Question:
    """Return the question of a run whose tools or Python are gone."""
    skill = order.plan.skill
    prompt = (
        f"{skill.title} can't continue: {error}. Yes continues if it is repaired by then; "
        f"no cancels the run and undoes its steps."
    )
    return Question(order.id, "python:gone", skill.name, "Python", prompt)
