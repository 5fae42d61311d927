"""Report pending confirmations and unfinished runs as OpenTelemetry gauges."""

from collections.abc import Callable, Iterable
from typing import Any

from toolmd._call.telemetry import meter_of
from toolmd._workspace.workspace import Workspace
from toolmd.errors import logged


def watch_state(workspace: Workspace, provider: Any = None) -> bool:
    """Observe a workspace's state at each export of metrics, in the exporter's thread.

    The processes that share a store report the same numbers.

    Args:
        workspace: The workspace to observe, once in a process.
        provider: OpenTelemetry's; None uses the one that the program installed.

    Returns:
        Whether a provider is installed.
    """
    meter = meter_of(provider)
    if meter is None:
        return False
    from opentelemetry.metrics import Observation

    def pending() -> Iterable[Any]:
        yield Observation(len(workspace.confirmations.pending_sync()))

    def runs() -> Iterable[Any]:
        for state, number in workspace.runs.unfinished_sync().items():
            yield Observation(number, {"toolmd.run.state": state})

    meter.create_observable_gauge(
        "toolmd.confirmations.pending", [_quiet(pending)], unit="{call}",
        description="Calls and questions of runs that wait for a person",
    )  # fmt: skip
    meter.create_observable_gauge(
        "toolmd.runs.unfinished", [_quiet(runs)], unit="{run}",
        description="Unfinished runs by state",
    )  # fmt: skip
    return True


def _quiet(look: Callable[[], Iterable[Any]]) -> Callable[[Any], Iterable[Any]]:
    """Return a callback that observes nothing where the state can't be read."""

    def observed(_options: Any) -> Iterable[Any]:
        try:
            return list(look())
        except Exception as error:  # noqa: BLE001 - the other metrics must be exported
            logged(error, "the state could not be measured")
            return []

    return observed
