"""A dispatcher for one tool, made of a spec and a function."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar

import pytest

from toolmd._call import Dispatcher
from toolmd._call.audit.log import AuditLog, log_of
from toolmd._call.limits import MACHINE
from toolmd._store.store import Store
from toolmd._types.call import Budget, Call, Caller, key_of
from toolmd._types.diagnostic import Source
from toolmd._types.registry import NOT_IMPLEMENTED, Binding, Bound, Implementation, Registry
from toolmd._types.result import EventListener, Result
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings
from toolmd._types.tool import ToolSpec

TEXT = Schema(types=("string",))
SEED_BOOKING = (
    Parameter(name="child_names", shape=Schema(types=("array",), items=TEXT), required=True),
    Parameter(name="appointment_time", shape=TEXT, required=True),
    Parameter(
        name="appointment_type",
        shape=Schema(types=("string",), enum=("exam", "cleaning", "emergency")),
        required=True,
    ),
)


def mode_of(function: Callable[..., Any]) -> str:
    if inspect.isasyncgenfunction(function):
        return "stream"
    return "async" if inspect.iscoroutinefunction(function) else "sync"


def tool(
    name: str,
    function: Callable[..., Any] | None = None,
    *parameters: Parameter,
    mode: str = "",
    context: str | None = None,
    resources: dict[str, type] | None = None,
    names: dict[str, str] | None = None,
    converters: dict[str, Callable[[Any], Any]] | None = None,
    **fields: Any,
) -> Bound[ToolSpec]:
    spec = ToolSpec(
        name=name, title=name, description="A tool.", version="1.0.0", category="test",
        parameters=parameters, source=Source(f"{name}.tool.md", 1),
        **{"returns": Schema(), **fields},
    )  # fmt: skip
    if function is None:
        return Bound(name, spec, NOT_IMPLEMENTED)
    made = Implementation(
        target=name, hash="0" * 64, function=function, mode=mode or mode_of(function),
        names=names or {}, converters=converters or {}, context=context, resources=resources or {},
    )  # fmt: skip
    return Bound(name, spec, Binding("sibling", name, lambda: made))


class Door(Dispatcher):
    """A dispatcher that builds the call, too, as a workspace does."""

    def call(
        self,
        name: str,
        arguments: Any = "{}",
        confidence: float | None = None,
        *,
        dry_run: bool = False,
        call_id: str | None = None,
        budget: Budget | None = None,
        on_event: EventListener | None = None,
        idempotency_key: str | None = None,
        **caller: Any,
    ) -> Coroutine[Any, Any, Result]:
        whose = Caller(**caller)
        if idempotency_key is None and call_id is not None:
            idempotency_key = key_of(call_id, name, whose)
        call = Call(name, arguments, call_id, confidence, whose, dry_run, budget, idempotency_key)
        return self.dispatch(call, on_event)


class Harness:
    """Calls tools by their own door."""

    made: ClassVar[list["Harness"]] = []

    def __init__(
        self,
        *tools: Bound[ToolSpec],
        store: Store | None = None,
        log: AuditLog | None = None,
        **dispatcher: Any,
    ) -> None:
        settings = dispatcher.pop("settings", None) or Settings(
            root=Path.cwd(), store="memory", audit=AuditSettings(enabled=False)
        )
        epoch = dispatcher.get("timing", MACHINE).epoch
        self.store = store or Store(settings.store, settings.state, epoch=epoch)
        self.log = log or log_of(settings, self.store)
        self.dispatcher = Door(
            Registry(tools={t.name: t for t in tools}),
            settings,
            store=self.store,
            log=self.log,
            **dispatcher,
        )
        self.made.append(self)

    def close(self) -> None:
        if self.log is not None:
            self.log.close()

    def call(self, name: str, arguments: Any = "{}", **context: Any) -> Result:
        return asyncio.run(self.dispatcher.call(name, arguments, **context))


def pytest_runtest_teardown() -> None:
    """Close what the test opened; a test of many examples leaves many."""
    while Harness.made:
        made = Harness.made.pop()
        made.close()
        made.store.close()


@pytest.fixture(name="tool", scope="session")
def tool_fixture() -> Callable[..., Bound[ToolSpec]]:
    return tool


@pytest.fixture(scope="session")
def harness() -> type[Harness]:
    return Harness


@pytest.fixture
def seed_booking() -> tuple[Parameter, ...]:
    return SEED_BOOKING
