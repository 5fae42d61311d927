"""A small world for runs: functions as tools, with a dispatcher that records every call."""

import asyncio
import datetime as dt
import itertools
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from toolmd._parse import parse_skill, parse_tool
from toolmd._skills.engine import Engine
from toolmd._skills.interpreter import interpret
from toolmd._skills.plan import make_plan
from toolmd._store.database import SqliteDatabase
from toolmd._types.call import Call, Caller
from toolmd._types.confirmation import Confirmation
from toolmd._types.result import Failure, Result, SkillResult
from toolmd._types.run import Answer, Order, Question, RunEvent
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError
from toolmd.errors import ToolError

START = dt.datetime(2026, 3, 2, 9, 0, tzinfo=dt.UTC)
YES = Answer(approved=True)
NO = Answer(approved=False)
SOMEBODY = Caller("u1")
WORD = """### word

- **Type**: string
- **Description**: a word
"""
READ = "- **Read Only**: true"
MAKE = """{n}. **Make {n}**
   - **Use**: make
   - **With**:
     - name: n{n}
   - **Save as**: made{n}
   - **Undo**: drop
     - name: `made{n}.id`
"""
"""A step of this number that makes something, and drops it where the run is undone."""
MAKE_ONE = (
    "1. **Make**\n   - **Use**: make\n   - **With**:\n     - name: one\n   - **Save as**: made\n"
    "   - **Undo**: drop\n     - name: `made.id`\n"
)


def tool(name: str, parameters: str = "None", returns: str = "- **Type**: object",
         *, metadata: str = "", more: str = "") -> ToolSpec:  # fmt: skip
    """Return a tool from the text of its parts."""
    text = (
        f"# {name}\n\nA tool.\n\n## Metadata\n\n- **Name**: {name}\n- **Version**: 1.0.0\n"
        f"- **Category**: test\n{metadata}\n\n## Parameters\n\n{parameters}\n\n"
        f"## Returns\n\n{returns}\n\n{more}\n"
    )
    spec, found = parse_tool(text, f"{name}.tool.md")
    assert spec is not None, [str(d) for d in found]
    return spec


def skill(steps: str, tools: str = "", inputs: str = "None", *, name: str = "trial",
          metadata: str = "") -> SkillSpec:  # fmt: skip
    """Return a skill from the text of its steps, which begin in line 7."""
    required = f"- **Required Tools**: {tools}\n" if tools else ""
    text = (
        f"# {name.title()}\n\nA skill.\n\n## Workflow\n\n{steps}\n\n"
        f"## Metadata\n\n- **Name**: {name}\n"
        f"- **Version**: 1.0.0\n- **Category**: test\n{required}{metadata}\n"
        f"## Input Schema\n\n{inputs}\n\n## Output Schema\n\n"
        "- **Type**: object\n- **Success**: boolean - whether it worked\n"
        "- **Message**: string - words\n- **Data**: object - values\n- **Error**: string - why\n"
    )
    spec, found = parse_skill(text, f"{name}.skill.md")
    errors = [str(d) for d in found if d.severity == "error"]
    assert spec is not None, errors
    assert not errors, errors
    return spec


class World:
    """Tools by name, each a function of its arguments; records calls and undone calls."""

    def __init__(self, *tools: ToolSpec, skills: tuple[SkillSpec, ...] = ()) -> None:
        self.tools = {spec.name: spec for spec in tools}
        self.skills = {spec.name: spec for spec in skills}
        self.functions: dict[str, Callable[..., Any]] = {}
        self.python_skills: dict[str, Callable[..., Awaitable[Any]]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.keys: list[str] = []
        self.rejected: list[str] = []
        self.lapsed: set[str] = set()
        self.late: list[str] = []
        """The codes of the next calls, which never start."""
        self.callers: list[Caller] = []
        self.questions: list[Question] = []
        self.events: list[RunEvent] = []
        self.time = START
        self.engine = Engine(
            partial(interpret, executor=self), SqliteDatabase(None), clock=self.clock
        )
        self._held: dict[str, Call] = {}
        self._ids = itertools.count(1)

    def clock(self) -> dt.datetime:
        """Return a time that advances by a second at each reading."""
        self.time += dt.timedelta(seconds=1)
        return self.time

    @property
    def called(self) -> list[str]:
        """The names of the tools that ran, in order."""
        return [name for name, _ in self.calls]

    async def call(self, call: Call) -> Result:
        """Handle a call: validate it, ask for a confirmation if required, else run it."""
        spec = self.tools.get(call.tool)
        if spec is None:
            return failed(call.tool, "unknown_tool", "no such tool", "denied")
        try:
            arguments = ArgumentsValidator(spec.parameters).validate(dict(call.arguments))
        except InvalidArgumentsError as error:
            return failed(call.tool, "invalid_arguments", str(error), "denied")
        if spec.safety.requires_confirmation:
            held = f"held-{next(self._ids)}"
            self._held[held] = call._replace(arguments=arguments)
            confirmation = Confirmation(held, f"Shall I {call.tool}?")
            return Result(
                success=False, tool=call.tool, outcome="confirm", confirmation=confirmation
            )
        return await self._run(call._replace(arguments=arguments))

    async def confirm(self, held: str, call: Call, by: str | None = None) -> Result:
        """Run a pending call once, unless it has expired."""
        del by
        if self._held.pop(held, None) is None:
            return failed(call.tool, "confirmation_used", "decided before", "denied")
        if held in self.lapsed:
            return failed(call.tool, "confirmation_expired", "too late", "denied")
        return await self._run(call)

    async def reject(self, held: str, call: Call, by: str | None = None) -> None:
        """Reject a pending call."""
        del by
        assert self._held.pop(held).tool == call.tool
        self.rejected.append(held)

    async def python(self, call: Call, through: Any) -> Any:
        """Run a Python skill."""
        return await self.python_skills[call.tool](through, **dict(call.arguments))

    async def _run(self, call: Call) -> Result:
        if self.late:
            error = Failure(self.late.pop(), "Later.", retry_after_ms=1000)
            return Result(success=False, tool=call.tool, outcome="failed", error=error)
        self.calls.append((call.tool, dict(call.arguments)))
        self.keys.append(call.key or "")
        self.callers.append(call.caller)
        try:
            value = self.functions.get(call.tool, dict)(**dict(call.arguments))
            data = await value if isinstance(value, Awaitable) else value
        except ToolError as error:
            return failed(call.tool, error.code, str(error), "failed")
        return Result(success=True, tool=call.tool, outcome="ok", data=data)

    def order(self, spec: SkillSpec, inputs: Mapping[str, Any] | None = None, *,
              caller: Caller = SOMEBODY, run_id: str | None = None) -> Order:  # fmt: skip
        """Order a run."""
        plan = make_plan(spec, self.tools, self.skills, tuple(self.python_skills))
        return Order(run_id or f"run-{next(self._ids)}", plan, dict(inputs or {}), caller)

    async def run(self, spec: SkillSpec, inputs: Mapping[str, Any] | None = None, *,
                  answers: tuple[Answer | None, ...] = (), caller: Caller = SOMEBODY,
                  run_id: str | None = None) -> SkillResult:  # fmt: skip
        """Run a skill with these answers, in the order of the questions."""
        waiting = list(answers)

        async def ask(question: Question) -> Answer | None:
            self.questions.append(question)
            return waiting.pop(0) if waiting else None

        order = self.order(spec, inputs, caller=caller, run_id=run_id)
        return await self.engine.run(order, ask=ask, watch=self.events.append)


def failed(name: str, code: str, message: str, outcome: Any) -> Result:
    """Return a call's failure."""
    return Result(success=False, tool=name, outcome=outcome, error=Failure(code, message))


def small_world(**skills: SkillSpec) -> World:
    """Return a world of four tools that make, drop, read and ask."""
    world = World(
        tool("make", "- `name` (string, required)"),
        tool("drop", "- `name` (string, required)"),
        tool("read", metadata="- **Read Only**: true"),
        tool("guarded", more="## Safety\n\n- **Requires Confirmation**: true"),
        skills=tuple(skills.values()),
    )
    world.functions["make"] = lambda name: {"id": f"id-{name}"}
    world.functions["read"] = lambda: {"n": 3}
    return world


def play_steps(
    world: World,
    steps: str,
    inputs: dict[str, Any] | None = None,
    *,
    answers: tuple[Answer | None, ...] = (),
    metadata: str = "",
    caller: Caller | None = None,
) -> SkillResult:
    """Run a skill of these steps in the world of conftest.py."""
    tools = "echo, make, drop, list, guarded, ward"
    spec = skill(steps, tools, WORD, metadata=metadata)
    who = caller or Caller("u1")
    return asyncio.run(world.run(spec, inputs, answers=answers, caller=who))


def failing(times: int, code: str = "down") -> Any:
    """Return a tool that fails this often before it works."""
    left = iter([True] * times)

    def tool_function(**_: Any) -> dict[str, str]:
        if next(left, False):
            raise ToolError("out of order", code=code)
        return {"id": "made"}

    return tool_function
