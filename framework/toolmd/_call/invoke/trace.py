"""Trace each call as an OpenTelemetry span `execute_tool NAME`, denied and pending ones too."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolmd._call.invoke.context import CallServices
from toolmd._call.invoke.invoker import Invoker
from toolmd._call.invoke.metrics import NAME, OTHER, opentelemetry
from toolmd._call.invoke.work import Arguments
from toolmd._call.limits import CallLimits
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.registry import BoundTool
from toolmd._types.result import EventListener, Result
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import Settings
from toolmd._validation.redact import HIDDEN, redacted, redacted_value
from toolmd.errors import logged


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
