"""Metrics of calls, as OpenTelemetry's own SDK records them."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from tests import warm_python

from toolmd._types.schema import Parameter, Schema

NAME = Parameter(name="name", shape=Schema(types=("string",)), required=True)


class Measured:
    """A provider whose metrics are read from memory."""

    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self.provider = MeterProvider([self._reader], shutdown_on_exit=False)

    def points(self, name: str) -> list[tuple[dict[str, Any], Any]]:
        """Return the attributes and the point of each series of one metric."""
        data = self._reader.get_metrics_data()
        return [
            (dict(point.attributes), point)
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


@pytest.fixture
def measured() -> Measured:
    return Measured()


async def greet(name: str) -> dict[str, str]:
    return {"said": f"Hello {name}"}


def test_each_call_is_counted_with_its_tool_and_outcome(tool, harness, measured) -> None:
    dispatcher = harness(tool("greet", greet, NAME), meters=measured.provider)
    for _ in range(3):
        dispatcher.call("greet", '{"name": "Mia"}')
    dispatcher.call("greet", "{}")
    for invented in ("x", "y"):
        dispatcher.call(invented, "{}")
    dispatcher.call("greet", '{"name": "Mia"}', dry_run=True)

    counted = {
        (told["gen_ai.tool.name"], told["toolmd.outcome"], told.get("error.type")): point.value
        for told, point in measured.points("toolmd.calls")
    }
    assert counted == {
        ("greet", "ok", None): 3,
        ("greet", "denied", "invalid_arguments"): 1,
        ("_OTHER", "denied", "unknown_tool"): 2,
    }
    times = measured.points("toolmd.call.duration")
    assert sum(point.count for _, point in times) == 6
    assert all(0 < point.sum < 60 for _, point in times)


def test_two_snapshots_share_the_instruments_of_a_provider(
    tool, harness, measured, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        harness(tool("greet", greet, NAME), meters=measured.provider).call("greet", '{"name": "A"}')

    ((_, point),) = measured.points("toolmd.calls")
    assert point.value == 2
    ((_, pending),) = measured.points("toolmd.pending_changes")
    assert pending.value == 0
    assert caplog.records == []


PROGRAM = """
import sys
from toolmd.testing import workspace
from toolmd import Workspace
assert "opentelemetry.metrics" not in sys.modules, "imported for nothing"
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
with Workspace.open(sys.argv[1]) as opened:
    opened.call_sync("none", "{}")
print("toolmd.calls" in reader.get_metrics_data().to_json())
"""


def test_the_provider_that_the_program_installed_is_used(tmp_path: Path) -> None:
    (tmp_path / "toolmd.toml").touch()
    done = warm_python.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": ""}, check=False, timeout=60,
    )  # fmt: skip

    assert (done.stdout, done.stderr) == ("True\n", "")


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from toolmd import Workspace
with Workspace.open(sys.argv[1]) as opened:
    print(opened.call_sync("none", "{}").error.code)
"""


def test_a_provider_without_opentelemetry_is_a_warning_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "toolmd.toml").touch()
    variables = "OTEL_PYTHON_METER_PROVIDER", "OTEL_PYTHON_TRACER_PROVIDER"
    done = warm_python.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path)], capture_output=True, text=True,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": "", **dict.fromkeys(variables, "sdk")},
        check=False, timeout=60,
    )  # fmt: skip

    assert done.stdout == "unknown_tool\n"
    for variable in variables:
        missing = f"{variable} is set, but OpenTelemetry is missing: pip install 'toolmd[trace]'"
        assert missing in done.stderr
