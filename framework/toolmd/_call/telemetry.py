"""Record calls as OpenTelemetry spans and metrics, where a provider is installed."""

import logging
import os
import sys
import time
from collections.abc import Coroutine
from importlib import import_module
from typing import Any, Literal

from toolmd._types.call import Call
from toolmd._types.registry import BoundTool
from toolmd._types.result import Result
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

        self._pending = meter.create_gauge(
            "toolmd.pending_changes", unit="{edit}",
            description="Edits that weaken a policy and wait for acceptance",
        )  # fmt: skip

    def pending(self, count: int) -> None:
        """Note how many edits wait for acceptance."""
        try:
            self._pending.set(count)
        except Exception as error:  # noqa: BLE001 - a measurement stops nothing
            logged(error, "the pending changes could not be counted")

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


class Tracing:
    """The spans of calls; an error of theirs stops nothing."""

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer

    async def ran(
        self, call: Call, tool: BoundTool, running: Coroutine[Any, Any, Result]
    ) -> Result:
        """Return the result of a call that passed every check, with a span around its run."""
        from opentelemetry import context, trace

        try:
            span = self._begin(call, tool)
            token = context.attach(trace.set_span_in_context(span))
        except Exception as error:  # noqa: BLE001 - tracing stops no call
            logged(error, "the span of %s could not be started", tool.name)
            return await running
        code = ""
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
                self._end(span, code)
            except Exception as error:  # noqa: BLE001 - the call is done by now
                logged(error, "the span of %s could not be ended", tool.name)
        return result

    def stopped(self, call: Call, tool: BoundTool | None, result: Result, code: str) -> None:
        """Record the span of a call that did not run; `code` says why, if it was denied."""
        try:
            now = time.time_ns()
            span = self._begin(call, tool, start_time=now - round(result.duration_ms * 1e6))
            span.set_attribute("toolmd.outcome", result.outcome)
            self._end(span, code, end_time=now)
        except Exception as error:  # noqa: BLE001 - tracing stops no call
            logged(error, "the span of a call that did not run could not be made")

    def _begin(self, call: Call, tool: BoundTool | None, **times: int) -> Any:
        name = OTHER if tool is None else tool.name
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
        }
        if tool is not None:
            attributes["gen_ai.tool.description"] = tool.spec.description
        if call.id is not None:
            attributes["gen_ai.tool.call.id"] = call.id
        return self._tracer.start_span(f"execute_tool {name}", attributes=attributes, **times)

    @staticmethod
    def _end(span: Any, code: str, **times: int) -> None:
        if code:
            from opentelemetry.trace import StatusCode

            # No description: an error's message may quote a user.
            span.set_attribute("error.type", code)
            span.set_status(StatusCode.ERROR)
        span.end(**times)


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


def metrics_of(provider: Any = None) -> Metrics | None:
    """Return the instruments for calls, or None where no provider is installed.

    Each snapshot asks once; the instruments of one provider are made once. `provider` is
    OpenTelemetry's; None uses the one that the program installed.
    """
    if provider is None:
        metrics = opentelemetry("metrics")
        if metrics is None:
            return None
        from opentelemetry.metrics import _internal

        provider = metrics.get_meter_provider()
        if isinstance(provider, metrics.NoOpMeterProvider | _internal._ProxyMeterProvider):  # noqa: SLF001 - it has no public name
            return None
    meter = provider.get_meter(NAME, _version())
    if id(meter) not in _made or _made[id(meter)][0] is not meter:
        _made.clear()
        _made[id(meter)] = meter, Metrics(meter)
    return _made[id(meter)][1]


_made: dict[int, tuple[Any, Metrics]] = {}
"""The instruments of the meter that was asked for last."""


def tracing_of(provider: Any = None) -> Tracing | None:
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
    from opentelemetry.trace import NoOpTracer

    tracer = provider.get_tracer(NAME, _version())
    return None if isinstance(tracer, NoOpTracer) else Tracing(tracer)


def _version() -> str:
    # A start without a provider does not wait for the import.
    from importlib.metadata import version

    return version(NAME)
