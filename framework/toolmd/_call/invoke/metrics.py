"""Count and time calls as OpenTelemetry metrics, where a provider is installed."""

import logging
import os
import sys
from importlib import import_module
from typing import Any, Literal

from toolmd._types.call import Call
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

    def run(self, tool: str, change: int) -> None:
        """Count that a call runs (1), or runs no more (-1)."""
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
