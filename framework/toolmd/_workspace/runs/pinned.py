"""Find the snapshot on which a run began, even if files or the process changed since."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from toolmd._load.edits.weakening import tightened
from toolmd._load.pin import Pinned, unpin
from toolmd._types.plan import Plan
from toolmd._types.registry import Bound, Registry
from toolmd._types.run import Order, Question
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._workspace.snapshot.live import Live
from toolmd.errors import ImplementationError

MOST = 32
"""The number of earlier snapshots that are kept for further runs."""
FindCode = Callable[[str], tuple[str, Mapping[str, bytes]] | None]
"""Return the manifest and the files that were pinned under a hash."""


class PinnedLives:
    """The earlier snapshots on which runs continue; safe for threads."""

    def __init__(
        self, current: Callable[[], Live], given: Mapping[str, object] | None = None
    ) -> None:
        """`given` are the plugins that the workspace was opened with, by name."""
        self._current = current
        self._given = given
        self._pairs: OrderedDict[tuple[int, int], tuple[Live, Live, Live]] = OrderedDict()
        self._made: OrderedDict[tuple[str, ...], Live] = OrderedDict()
        self._lock = threading.Lock()

    def began_on(self, order: Order, code: FindCode) -> Live:
        """Return the snapshot on which a run of another process began.

        It is today's snapshot if the two are equal, else one built from the pinned files.
        Raises ImplementationError.
        """
        plan, now = order.plan, self._current()
        if self._is_same(plan, now):
            _load(plan, now)
            return now
        key = (plan.code, *(spec.hash for spec in _specs(plan)))
        with self._lock:
            if (live := self._made.get(key)) is None:
                live = self._made[key] = self._make(plan, now, code)
            self._made.move_to_end(key)
            while len(self._made) > MOST:
                _, old = self._made.popitem(last=False)
                old.snapshot.resources.retire()
        return live

    def strictest(self, order: Order, then: Live) -> tuple[Live, Order]:
        """Return a run with the stricter of its policies then and now, and its snapshot."""
        now = self._current()
        if then is now:
            return then, order
        with self._lock:
            # Both snapshots stay referenced, since an id of a freed object may return.
            kept = self._pairs.get((id(then), id(now)))
            if kept is None:
                kept = self._pairs[id(then), id(now)] = then, now, _pairs(then, now)
            while len(self._pairs) > MOST:
                self._pairs.popitem(last=False)
        live = kept[2]
        tools = {
            name: live.registry.tools[name].spec if name in live.registry.tools else spec
            for name, spec in order.plan.tools.items()
        }
        was = order.plan
        plan = Plan(skill=was.skill, skills=was.skills, tools=tools, python=was.python,
                    code=was.code, given=was.given)  # fmt: skip
        return live, order._replace(plan=plan)

    def close(self) -> None:
        """Close the dispatchers, and release the resources, of all earlier snapshots."""
        with self._lock:
            made, self._made = list(self._made.values()), OrderedDict()
            pair, self._pairs = list(self._pairs.values()), OrderedDict()
        for live in (*made, *(live for _, _, live in pair)):
            live.close_dispatcher()
        for live in made:
            live.snapshot.resources.retire()

    @staticmethod
    def _is_same(plan: Plan, now: Live) -> bool:
        """Return whether a plan has the same files and Python in today's snapshot."""
        tools, skills = now.registry.tools, now.registry.skills
        python = {name: plan.skills.get(name, plan.skill) for name in plan.python}
        there = plan.tools.keys() <= tools.keys() and python.keys() <= skills.keys()
        if not plan.code:
            # Begun by a release that pinned nothing.
            return there
        return (
            there
            and plan.code == now.pin.hash
            and all(tools[name].hash == spec.hash for name, spec in plan.tools.items())
            and all(skills[name].hash == spec.hash for name, spec in python.items())
        )

    def _make(self, plan: Plan, now: Live, code: FindCode) -> Live:
        found = code(plan.code) if plan.code else None
        if found is None:
            raise ImplementationError(
                "its Python was not pinned, and some of its tools no longer exist"
            )
        pinned = Pinned(_specs(plan), plan.given, *found)
        live = now.taking_up(unpin(pinned, now.settings, self._given))
        try:
            _load(plan, live)
        except ImplementationError:
            live.snapshot.resources.retire()
            raise
        return live


def _pairs(then: Live, now: Live) -> Live:
    tools, changed = dict(then.registry.tools), False
    for name, mine in then.registry.tools.items():
        if (todays := now.registry.tools.get(name)) is None:
            # A missing tool adds no restriction, and a broken one can't be read.
            continue
        least = _higher(mine.default_min, todays.default_min)
        spec = tightened(mine.spec, todays.spec, default_min=least)
        if spec is not mine.spec or least != mine.default_min:
            tools[name], changed = mine.with_policy(spec, least), True
    if not changed and then.pin.hash == now.pin.hash:
        return then
    registry = Registry(tools, then.registry.skills)
    return now.taking_up(replace(then.snapshot, registry=registry))


def _specs(plan: Plan) -> tuple[ToolSpec | SkillSpec, ...]:
    return (*plan.tools.values(), plan.skill, *plan.skills.values())


def _load(plan: Plan, live: Live) -> None:
    """Load the Python of a plan first, so that a failed import stops no run half-way."""
    bound: list[Bound[Any]] = [live.registry.tools[name] for name in plan.tools]
    bound += [live.registry.skills[name] for name in plan.python]
    for one in bound:
        if one.binding.load is not None:
            one.binding.load()


def _higher(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)


def python_gone(order: Order, error: ImplementationError) -> Question:
    """Return the question of a run whose Python is no longer available as it was."""
    skill = order.plan.skill
    prompt = (
        f"{skill.title} can't continue with the Python with which it began: {error}. "
        f"Yes continues with that Python if it is repaired by then, else with today's; "
        f"no cancels the run and undoes its steps."
    )
    return Question(order.id, "python:gone", skill.name, "Python", prompt)
