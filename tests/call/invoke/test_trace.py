"""Spans of calls, as OpenTelemetry's own SDK records them."""

import asyncio
import sys
import threading
from textwrap import dedent

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests import warm_python

from toolmd._types.schema import Parameter, Schema
from toolmd.errors import ToolError

NAME = Parameter(name="name", shape=Schema(types=("string",)), required=True)


class Recorded:
    """A provider whose spans are kept in memory."""

    def __init__(self, *processors: SpanProcessor) -> None:
        self._kept = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        for processor in (SimpleSpanProcessor(self._kept), *processors):
            self.provider.add_span_processor(processor)

    @property
    def spans(self):
        return self._kept.get_finished_spans()


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


async def greet(name: str) -> dict[str, str]:
    return {"said": f"Hello {name}"}


def test_a_call_that_runs_has_a_span_with_the_genai_attributes(tool, harness, recorded) -> None:
    dispatcher = harness(tool("greet", greet, NAME), provider=recorded.provider)

    assert dispatcher.call("greet", '{"name": "Mia"}', call_id="call_1").success
    (span,) = recorded.spans
    assert span.name == "execute_tool greet"
    assert span.kind is SpanKind.INTERNAL
    assert span.status.status_code is StatusCode.UNSET
    assert span.instrumentation_scope.name == "toolmd"
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "greet",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "A tool.",
        "gen_ai.tool.call.id": "call_1",
    }


def test_a_denied_call_has_a_span_with_its_code(tool, harness, recorded) -> None:
    dispatcher = harness(tool("greet", greet, NAME), provider=recorded.provider)

    assert dispatcher.call("greet", "{}").outcome == "denied"
    assert dispatcher.call("an invention of a model", "{}").outcome == "denied"
    assert dispatcher.call("greet", '{"name": "Mia"}', dry_run=True).outcome == "allowed"
    assert dispatcher.call("greet", "{}", dry_run=True).outcome == "denied"

    denied, unknown = recorded.spans
    assert (denied.name, unknown.name) == ("execute_tool greet", "execute_tool _OTHER")
    assert denied.status.status_code is StatusCode.ERROR
    assert denied.end_time > denied.start_time
    assert dict(denied.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "greet",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "A tool.",
        "toolmd.outcome": "denied",
        "error.type": "invalid_arguments",
    }


def test_a_failure_has_its_code_in_the_span_and_never_its_message(tool, harness, recorded) -> None:
    def fail(name: str) -> None:
        raise ToolError(f"{name} is not known", code="unknown_person")

    def crash(name: str) -> None:
        raise RuntimeError(name)

    dispatcher = harness(
        tool("fail", fail, NAME), tool("crash", crash, NAME), provider=recorded.provider
    )
    dispatcher.call("fail", '{"name": "Mia"}')
    dispatcher.call("crash", '{"name": "Mia"}')

    failed, crashed = recorded.spans
    assert failed.attributes["error.type"] == "unknown_person"
    assert crashed.attributes["error.type"] == "tool_error"
    for span in recorded.spans:
        assert span.status.status_code is StatusCode.ERROR
        assert "Mia" not in span.to_json()
        assert span.events == ()


def test_a_cancelled_call_ends_its_span(tool, harness, recorded) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    dispatcher = harness(tool("wait", wait), provider=recorded.provider).dispatcher

    async def stop() -> None:
        task = asyncio.ensure_future(dispatcher.call("wait", "{}"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not trace.get_current_span().get_span_context().is_valid

    asyncio.run(stop())
    (span,) = recorded.spans
    assert span.attributes["error.type"] == "CancelledError"


def test_spans_of_a_tools_work_are_children_of_its_span(tool, harness, recorded) -> None:
    tracer = recorded.provider.get_tracer("theirs")

    def work(name: str) -> str:
        with tracer.start_as_current_span(f"in {threading.current_thread().name}"):
            return name

    async def ask(name: str, *, context) -> str:
        return (await context.call("work", {"name": name})).data

    dispatcher = harness(
        tool("work", work, NAME),
        tool("ask", ask, NAME, context="context"),
        provider=recorded.provider,
    )
    assert dispatcher.call("ask", '{"name": "Mia"}').data == "Mia"

    inner, work_span, ask_span = recorded.spans
    assert inner.name == "in toolmd-call"
    assert inner.parent.span_id == work_span.context.span_id
    assert work_span.parent.span_id == ask_span.context.span_id
    assert ask_span.parent is None


class Broken(SpanProcessor):
    """A processor that fails on one side of a span."""

    def __init__(self, side: str) -> None:
        self._side = side

    def on_start(self, span, parent_context=None) -> None:
        if self._side == "start":
            raise OSError("no disk")

    def on_end(self, span) -> None:
        if self._side == "end":
            raise OSError("no disk")


@pytest.mark.parametrize("side", ["start", "end"])
def test_a_fault_of_tracing_stops_no_call(tool, harness, side: str) -> None:
    broken = Recorded(Broken(side))
    dispatcher = harness(tool("greet", greet, NAME), provider=broken.provider)
    assert dispatcher.call("greet", '{"name": "Mia"}').data == {"said": "Hello Mia"}


def in_a_program(text: str) -> list[str]:
    """Give what a program of its own prints, since a provider is installed once in each."""
    done = warm_python.run(
        [sys.executable, "-c", dedent(text)], capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n")[:-1]


WORKSPACE = """
    from toolmd.testing import memory_workspace
    DEFINITION = '''
    # greet

    ## Metadata

    - **Name**: greet
    - **Description**: Greets.
    - **Version**: 1.0.0
    - **Category**: test

    ## Parameters

    ### name

    - **Type**: string
    - **Required**: true
    - **Description**: Who.

    ## Returns

    - **Type**: string
    - **Description**: The name.
    '''.replace("    ", "")
    async def greet(name): return name
    ws = memory_workspace({"greet.tool.md": DEFINITION}, [greet])
"""


def test_the_provider_that_the_program_installs_is_found() -> None:
    printed = in_a_program(
        """
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    """
        + WORKSPACE
        + """
    print(ws.call_sync("greet", '{"name": "Mia"}').data)
    print([span.name for span in kept.get_finished_spans()])
    """
    )
    assert printed == ["Mia", "['execute_tool greet']"]


def test_a_program_without_tracing_never_imports_it() -> None:
    printed = in_a_program(
        WORKSPACE
        + """
    import sys
    print(ws.call_sync("greet", '{"name": "Mia"}').data)
    print(any(name.startswith("opentelemetry") for name in sys.modules))
    """
    )
    assert printed == ["Mia", "False"]
