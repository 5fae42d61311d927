"""The state of a workspace as OpenTelemetry gauges, read by the SDK's own reader."""

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from toolmd import Workspace
from toolmd._workspace.gauges import watch_state


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_pending_calls_and_unfinished_runs_are_gauges(project: Path, store: str) -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    with Workspace.open(project, overrides={"store": store}) as workspace:
        assert watch_state(workspace, provider)
        workspace.call_sync("order", {"dish": "soup"})
        waiting = workspace.run_sync("dine", {"dish": "pie"})
        done = workspace.run_sync("greet_guest", "{}", user="ana")
        measured: Any = reader.get_metrics_data()

    assert (waiting.outcome, done.outcome) == ("confirm", "ok")
    (scope,) = measured.resource_metrics[0].scope_metrics
    values = {
        (metric.name, point.attributes.get("toolmd.run.state")): point.value
        for metric in scope.metrics
        for point in metric.data.data_points
    }
    assert values == {
        ("toolmd.confirmations.pending", None): 2,
        ("toolmd.runs.unfinished", "waiting"): 1,
    }
