"""Record calls as OpenTelemetry spans and metrics, where a provider is installed."""

import json
import logging
import os
import sys
import time
from collections.abc import Coroutine, Iterator, Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple

from toolmd._call.context import CallServices
from toolmd._call.invoke import Arguments, Invoker
from toolmd._call.limits import CallLimits
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.registry import BoundTool
from toolmd._types.result import EventListener, Result
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import Settings
from toolmd._validation.redact import HIDDEN, redacted, redacted_value
from toolmd.errors import logged

_PROVIDERS = {
    "metrics": "OTEL_PYTHON_METER_PROVIDER",
    "trace": "OTEL_PYTHON_TRACER_PROVIDER",
}
"""The variable that names a provider, which the API then loads by itself."""
_log = logging.getLogger(__name__)
NAME = "toolmd"
OTHER = "_OTHER"
"""Stands for a name that no tool or skill has: a model's inventions would be endless."""


class Metrics:
    """The instruments for calls; an error of theirs stops nothing."""

    def __init__(self, meter: Any) -> None:
        self._calls = meter.create_counter(
            "toolmd.calls", unit="{call}", description="Calls by tool and outcome"
        )
        self._duration = meter.create_histogram(
            "toolmd.call.duration", unit="s", description="Time of a call, with all its checks"
        )
        self._running = meter.create_up_down_counter(
            "toolmd.calls.running", unit="{call}", description="Calls that run now, by tool"
        )

    def end(self, call: Call, result: Result, *, known: bool) -> None:
        """Count a call with its outcome; `known` is whether a tool or a skill has its name."""
        if call.dry_run:
            return
        told = {"gen_ai.tool.name": call.tool if known else OTHER, "toolmd.outcome": result.outcome}
        if result.error is not None:
            told["error.type"] = result.error.code
        try:
            self._calls.add(1, told)
            self._duration.record(result.duration_ms / 1000, told)
        except Exception as error:  # noqa: BLE001 - the call is done by now
            logged(error, "a call of %s could not be counted", call.tool)

    async def ran(self, tool: str, running: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of a call, and count it as running meanwhile."""
        self._count(tool, 1)
        try:
            return await running
        finally:
            self._count(tool, -1)

    def _count(self, tool: str, change: int) -> None:
        try:
            self._running.add(change, {"gen_ai.tool.name": tool})
        except Exception as error:  # noqa: BLE001 - measuring stops no call
            logged(error, "a running call of %s could not be counted", tool)


def opentelemetry(part: Literal["metrics", "trace"]) -> Any:
    """Return this part of OpenTelemetry's API; None where no provider can be installed.

    A provider exists only where the program imported the API, or where a variable names one.
    """
    module, variable = f"opentelemetry.{part}", _PROVIDERS[part]
    if module not in sys.modules and variable not in os.environ:
        return None
    try:
        return import_module(module)
    except ModuleNotFoundError:
        remedy = "pip install 'toolmd[trace]'"
        _log.warning("%s is set, but OpenTelemetry is missing: %s", variable, remedy)
        return None


def meter_of(provider: Any = None) -> Any:
    """Return the meter, or None where no provider is installed.

    `provider` is OpenTelemetry's; None uses the one that the program installed.
    """
    if provider is None:
        metrics = opentelemetry("metrics")
        if metrics is None:
            return None
        from opentelemetry.metrics import _internal

        provider = metrics.get_meter_provider()
        if isinstance(provider, metrics.NoOpMeterProvider | _internal._ProxyMeterProvider):  # noqa: SLF001 - it has no public name
            return None
    from importlib.metadata import version

    return provider.get_meter(NAME, version(NAME))


def metrics_of(provider: Any = None) -> Metrics | None:
    """Return the instruments for calls, or None where no provider is installed.

    Each snapshot asks once; the instruments of one provider are made once.
    """
    meter = meter_of(provider)
    if meter is None:
        return None
    if id(meter) not in _made or _made[id(meter)][0] is not meter:
        _made.clear()
        _made[id(meter)] = meter, Metrics(meter)
    return _made[id(meter)][1]


_made: dict[int, tuple[Any, Metrics]] = {}
"""The instruments of the meter that was asked for last."""


class Tracing(NamedTuple):
    """The tracer of one dispatcher's calls, and what the spans may contain."""

    tracer: Any
    """OpenTelemetry's own."""
    content: bool = False
    """Whether arguments and results go into spans."""

    def stopped(self, call: Call, tool: BoundTool | None, result: Result, code: str) -> None:
        """Record the span of a call that did not run; `code` says why, if it was denied."""
        try:
            from opentelemetry import trace

            now = time.time_ns()
            name = OTHER if tool is None else tool.name
            span = self.tracer.start_span(
                f"execute_tool {name}",
                attributes=_named(call, name, tool),
                start_time=now - round(result.duration_ms * 1e6),
            )
            span.set_attribute("toolmd.outcome", result.outcome)
            if code:
                span.set_attribute("error.type", code)
                span.set_status(trace.StatusCode.ERROR)
            span.end(now)
        except Exception as error:  # noqa: BLE001 - tracing stops no call
            logged(error, "the span of a call that did not run could not be made")


class TracedInvoker(Invoker):
    """The invoker of one tool with a span around each run; a tracing error stops nothing."""

    def __init__(
        self,
        tool: BoundTool,
        dispatcher: CallServices,
        limits: CallLimits,
        tracing: Tracing,
    ) -> None:
        super().__init__(tool, dispatcher, limits)
        self._tracing = tracing

    async def run(
        self, call: Call, arguments: Arguments, began: float, on_event: EventListener | None
    ) -> Result:
        """Run a call that passed every check; only cancellation raises."""
        from opentelemetry import context, trace

        running = super().run(call, arguments, began, on_event)
        try:
            span = self._tracing.tracer.start_span(
                f"execute_tool {self._call_spec.name}", attributes=self._attributes(call, arguments)
            )
            token = context.attach(trace.set_span_in_context(span))
        except Exception as error:  # noqa: BLE001 - tracing stops no call
            logged(error, "the span of %s could not be started", self._call_spec.name)
            return await running
        code, result = "", None
        try:
            result = await running
            if not result.success:
                code = result.error.code if result.error is not None else result.outcome
        except BaseException as error:
            code = type(error).__qualname__
            raise
        finally:
            context.detach(token)
            try:
                if code:
                    # No description: an error's message may quote a user.
                    span.set_attribute("error.type", code)
                    span.set_status(trace.StatusCode.ERROR)
                elif result is not None and self._tracing.content:
                    told = _result_text(result, self._call_spec, arguments)
                    span.set_attribute("gen_ai.tool.call.result", told)
                span.end()
            except Exception as error:  # noqa: BLE001 - the call is done by now
                logged(error, "the span of %s could not be ended", self._call_spec.name)
        return result

    def _attributes(self, call: Call, arguments: Arguments) -> dict[str, str]:
        call_spec = self._call_spec
        attributes = _named(call, call_spec.name, self._tool)
        if self._tracing.content:
            told = _compact(redacted(arguments, call_spec.parameters))
            attributes["gen_ai.tool.call.arguments"] = told
        return attributes


def _named(call: Call, name: str, tool: BoundTool | None) -> dict[str, str]:
    """Return the attributes that name a call and its tool."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
    }
    if tool is not None:
        attributes["gen_ai.tool.description"] = tool.spec.description
    if call.id is not None:
        attributes["gen_ai.tool.call.id"] = call.id
    return attributes


def tracing_of(settings: Settings, provider: Any = None) -> Tracing | None:
    """Return the tracing, or None where no provider records; called once for each snapshot.

    `provider` is OpenTelemetry's; None uses the one that the program installed.
    """
    if provider is None:
        trace = opentelemetry("trace")
        if trace is None:
            return None
        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
            return None
    from importlib.metadata import version

    from opentelemetry.trace import NoOpTracer

    tracer = provider.get_tracer(NAME, version(NAME))
    if isinstance(tracer, NoOpTracer):
        return None
    return Tracing(tracer, settings.trace.content)


def _result_text(result: Result, call_spec: ToolCallSpec, arguments: Mapping[str, Any]) -> str:
    """Return the result without Sensitive values, those of the arguments included."""
    returns = call_spec.returns
    if result.notes and returns.holds_sensitive:
        # A value that does not fit Returns can't be redacted by it.
        return HIDDEN
    text = _compact(redacted_value(result.data, returns))
    secret = _sensitive_texts(arguments, call_spec.parameters)
    return HIDDEN if any(value in text for value in secret) else text


def _sensitive_texts(
    arguments: Mapping[str, Any], parameters: tuple[Parameter, ...]
) -> Iterator[str]:
    for parameter in parameters:
        if parameter.name in arguments and parameter.shape.holds_sensitive:
            yield from _leaves(arguments[parameter.name], parameter.shape)


def _leaves(value: Any, shape: Schema | None) -> Iterator[str]:
    """Return each Sensitive text or number in a value, as it stands in JSON."""
    inner = shape if shape is not None and not shape.sensitive else None
    if shape is None or (inner is not None and not inner.holds_sensitive):
        return
    if isinstance(value, dict):
        for name, item in value.items():
            for below in inner.of_field(name) if inner else (shape,):
                yield from _leaves(item, below)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, inner.items if inner else shape)
    elif shape.sensitive and value not in (None, ""):
        yield _compact(value).strip('"')


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
