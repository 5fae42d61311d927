"""Async and sync methods have the same parameters and results."""

import inspect
from typing import Any, assert_type

import pytest

from toolmd import (
    Changes,
    Confirmation,
    Confirmations,
    Conversation,
    Crises,
    PendingChange,
    Result,
    Runs,
    RunView,
    Workspace,
)
from toolmd._types.run import RunTrace
from toolmd._types.turn import Turn

FACES = (Workspace, Confirmations, Runs, Changes, Crises, Conversation)
PLAIN = {"aopen": "open", "aclose": "close", "areload": "reload"}
"""What opens, reloads and closes, and its twin that blocks."""


def methods(face: type) -> dict[str, Any]:
    return {
        name: member
        for name, member in inspect.getmembers(face, callable)
        if not name.startswith("_")
    }


def is_async(method: Any) -> bool:
    return inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)


def pairs() -> list[Any]:
    found = []
    for face in FACES:
        for name, method in methods(face).items():
            if is_async(method):
                twin = PLAIN.get(name, f"{name}_sync")
                found.append(pytest.param(face, name, twin, id=f"{face.__name__}.{name}"))
    return found


@pytest.mark.parametrize(("face", "name", "twin"), pairs())
def test_an_async_method_has_a_sync_method_with_the_same_signature(
    face: type, name: str, twin: str
) -> None:
    one, other = methods(face)[name], methods(face)[twin]
    assert not is_async(other)
    signatures = [inspect.signature(method).parameters for method in (one, other)]
    assert list(signatures[0].values()) == list(signatures[1].values())


@pytest.mark.parametrize("face", FACES)
def test_a_sync_method_belongs_to_an_async_method(face: type) -> None:
    known = methods(face)
    for name in known:
        if name.endswith("_sync"):
            assert is_async(known[name.removesuffix("_sync")]), name


def test_the_workspace_has_exactly_these_methods() -> None:
    public = {name for name in dir(Workspace) if not name.startswith("_")}
    twins = {name for name in public if name.endswith("_sync")} | set(PLAIN)
    assert public - twins == {
        "open", "close", "reload", "settings", "registry", "tools", "skills", "diagnostics",
        "plugins", "export", "exported", "watched", "on_change", "on_checked", "on_workspace_event",
        "check_soon", "authenticate", "call", "handle", "run", "dispatch", "system_prompt",
        "diagnostics_of", "python_at", "policy", "runs", "suspended_tools",
        "deny_unknown",
    }  # fmt: skip


async def types_of_what_is_awaited(ws: Workspace) -> None:
    """Nobody calls it: the type checker reads it."""
    assert_type(await ws.call("a"), Result)
    assert_type(await ws.run("a"), Result)
    assert_type(await ws.handle("a"), Turn)
    assert_type(await ws.runs.list(), tuple[RunView, ...])
    assert_type(await ws.runs.get("a"), RunView)
    assert_type(await ws.runs.resume("a"), Result)
    assert_type(await ws.runs.cancel("a"), Result)
    assert_type(await ws.runs.answer("a", True), Result)
    assert_type(await ws.confirmations.pending(), tuple[Confirmation, ...])
    assert_type(await ws.confirmations.get("a"), Confirmation | None)
    assert_type(await ws.confirmations.approve("a", {"n": 1}), Result)
    assert_type(await ws.changes.list(), tuple[PendingChange, ...])
    assert_type(await ws.changes.accept("a"), PendingChange)
    async for trace in ws.runs.follow("a"):
        assert_type(trace, RunTrace)


def types_of_what_is_waited_for(ws: Workspace) -> None:
    """Nobody calls it: the type checker reads it."""
    assert_type(ws.call_sync("a"), Result)
    assert_type(ws.run_sync("a"), Result)
    assert_type(ws.handle_sync("a"), Turn)
    assert_type(ws.runs.list_sync(), tuple[RunView, ...])
    assert_type(ws.runs.answer_sync("a", True), Result)
    assert_type(ws.confirmations.pending_sync(), tuple[Confirmation, ...])
    assert_type(ws.confirmations.approve_sync("a", {"n": 1}), Result)
    assert_type(ws.changes.accept_sync("a"), PendingChange)
    for trace in ws.runs.follow_sync("a"):
        assert_type(trace, RunTrace)
