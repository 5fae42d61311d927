"""Every public method answers an odd value with a denial, or an error that names the argument."""

import asyncio
import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
from pydantic import ConfigDict, TypeAdapter, ValidationError
from workspace_shop import Shop, skill

from toolmd import ArgumentError, Call, Caller, Decision, Result, ToolmdError, Workspace
from toolmd._workspace.method_parameters import FREE

ODD = {
    "nothing": None,
    "empty": "",
    "int": 5,
    "negative": -1,
    "vast": 10**400,
    "fraction": 1.5,
    "nan": math.nan,
    "infinity": -math.inf,
    "true": True,
    "false": False,
    "bytes": b"\xff",
    "list": [],
    "list of a list": [["a"]],
    "dict": {},
    "dict of a number": {1: 2},
    "dict of an object": {"amount": object()},
    "object": object(),
    "long": "x" * 10_000,
    "nul": "a\0b",
    "surrogate": "a\ud800",
    "upward": "../../etc/passwd",
    "absolute": "/etc/passwd",
    "call of odd names": Call([], {}),
    "call of odd arguments": Call("pay", object(), confidence=object()),
    "call of an odd caller": Call("pay", {}, caller=Caller(user=5)),
    "call without a caller": Call("pay", {}, caller=None),
}
ODD_NAMES = {"empty", "long", "nul", "surrogate"}


PAY = "\n## Safety\n\n- **Requires Confirmation**: true\n"
GOOD: Mapping[str, Any] = {
    "answer": False,
    "decision": Decision.reject(),
    "dialect": "openai",
    "inputs": {},
    "listener": print,
    "name": "pay",
    "names": (),
    "places": (),
    "reply": "Hello.",
    "target": "openai",
    "timeout_s": 0.0,
    "call": Call("pay", {}),
    "result": Result(success=True, tool="pay", outcome="ok"),
}
"""What the other parameters are given, where their type does not say it."""


def faces(workspace: Workspace) -> dict[str, Any]:
    """Find the workspace, and what of it has methods of its own."""
    return {"": workspace, "runs": workspace.runs} | {
        name: value
        for name, value in vars(workspace).items()
        if not name.startswith("_") and type(value).__module__.startswith("toolmd.")
    }


def methods(face: Any) -> dict[str, Callable[..., Any]]:
    found = {name: getattr(face, name) for name in dir(type(face)) if not name.startswith("_")
             and inspect.isroutine(inspect.getattr_static(face, name))}  # fmt: skip
    if isinstance(face, Workspace):
        found["__init__"] = Workspace
    return found


def cases() -> list[Any]:
    with TemporaryDirectory() as folder, Workspace.open(make(Path(folder)).root) as workspace:
        return [
            pytest.param(place, name, id=f"{place}.{name}".lstrip("."))
            for place, face in faces(workspace).items()
            for name, method in methods(face).items()
            if inspect.signature(method).parameters
        ]


def make(root: Path) -> Shop:
    shop = Shop(root)
    shop.write("toolmd.toml", 'plugins = []\nstore = "memory"\n')
    shop.tool("pay", "def pay():\n    return {}\n", extra=PAY)
    shop.write("skills_md/ask.skill.md", skill("ask", "pay", STEPS))
    return shop


STEPS = "1. **Ask**\n   - **Ask**: Sure?\n"


class World:
    """A project in which a call and a run wait for a person."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = Workspace.open(make(root).root)
        held = self.workspace.call_sync("pay", {})
        assert held.confirmation is not None
        run = self.workspace.run_sync("ask", {}, ask=lambda question: None)
        self.known = {**GOOD, "confirmation_id": held.confirmation.id, "run_id": run.run_id,
                      "settings": self.workspace.settings, "folder": root}  # fmt: skip

    def state(self) -> Any:
        workspace = self.workspace
        return workspace.confirmations.pending_sync(), [
            (run.id, run.state) for run in workspace.runs.list_sync()
        ]

    def call(self, place: str, name: str, parameter: str, value: Any) -> Any:
        """Call a method with one odd value; return what came of it, awaited or the first item."""
        face = faces(self.workspace)[place]
        method = methods(face)[name]
        given = {
            other: self.known[other] if other in self.known else sample(known)
            for other, known in inspect.signature(method).parameters.items()
            if known.default is inspect.Parameter.empty
        }
        if name.startswith("run"):
            given["name"] = "ask"
        return settled(method(**{**given, parameter: value}))


def sample(parameter: inspect.Parameter) -> Any:
    assert parameter.annotation is str, f"{parameter} needs a value in GOOD"
    return "some"


def settled(answer: Any) -> Any:
    async def first() -> Any:
        if inspect.isawaitable(answer):
            return await answer
        async with aclosing(answer) as items:
            return await anext(items)

    if inspect.isasyncgen(answer) or inspect.isawaitable(answer):
        answer = asyncio.run(first())
    elif inspect.isgenerator(answer):
        answer = next(answer)
    if isinstance(answer, Workspace):
        answer.close()
    return answer


def makes_sense(parameter: inspect.Parameter, value: Any) -> bool:
    """Tell by another's judgement whether a value is of the parameter's type, and no odd name."""
    if any(value is ODD[name] for name in ODD_NAMES) and parameter.name not in FREE:
        return parameter.annotation is Any
    config = ConfigDict(strict=True, arbitrary_types_allowed=True)
    try:
        TypeAdapter(parameter.annotation, config=config).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("place", "name"), cases())
def test_an_invalid_argument_is_denied_or_named_without_an_effect(
    tmp_path: Path, place: str, name: str
) -> None:
    world = World(tmp_path)
    method = methods(faces(world.workspace)[place])[name]
    found = [
        (parameter, problem)
        for parameter, known in inspect.signature(method).parameters.items()
        for problem in problems(world, place, name, known)
    ]
    world.workspace.close()
    assert found == []


def test_an_invalid_field_of_a_call_is_named(tmp_path: Path) -> None:
    workspace, roles = World(tmp_path).workspace, cast("tuple[str, ...]", ["nurse"])
    with workspace, pytest.raises(ArgumentError, match=r"whose caller\.roles must be a tuple"):
        asyncio.run(workspace.dispatch(Call("greet", {}, caller=Caller(roles=roles))))


def problems(world: World, place: str, name: str, known: inspect.Parameter) -> list[Any]:
    """Return the odd values of one parameter that are neither denied nor named."""
    parameter = known.name
    wrong = []
    before = world.state()
    for title, value in ODD.items():
        try:
            answer = world.call(place, name, parameter, value)
        except ArgumentError as error:
            said = f"{parameter} must be " in str(error) and " but it is " in str(error)
            if not said or world.state() != before:
                wrong.append((title, error))
        except ToolmdError as error:
            if not str(error):
                wrong.append((title, error))
            before = world.state()
        except Exception as error:  # noqa: BLE001 - what must never come
            wrong.append((title, repr(error)))
        else:
            denied = isinstance(answer, Result) and answer.outcome == "denied"
            if not denied and not makes_sense(known, value):
                wrong.append((title, answer))
            before = world.state()
    return wrong
