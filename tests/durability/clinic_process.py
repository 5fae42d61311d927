"""One process of the clinic that books a visit, and may be killed at a boundary of a step."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from toolmark import Workspace, hookimpl

ROOT = Path(__file__).parents[2]
INPUTS = {
    "patientId": "P-1001",
    "date": "2026-03-04",
    "timeRange": "morning",
    "numChildren": 2,
    "parentPhone": "+1 214 555 0142",
}


class Killer:
    """Kills its process, as a power cut would, when it comes to a boundary."""

    def __init__(self, boundary: str) -> None:
        self.boundary = boundary

    def reach(self, boundary: str) -> None:
        if boundary == self.boundary:
            os.kill(os.getpid(), signal.SIGKILL)

    @hookimpl
    def toolmark_before_call(self, call: Any, spec: Any) -> None:
        """Reach the place where the step before is recorded and this one has done nothing."""
        self.reach(f"before {spec.name}")

    @hookimpl
    def toolmark_after_call(self, call: Any, spec: Any, result: Any) -> None:
        """Reach the place where this step took effect and is not recorded."""
        if result.outcome == "ok":
            self.reach(f"after {spec.name}")


def main(state: str, run_id: str, boundary: str) -> None:
    """Book as `run_id`, which is taken up where it was begun before."""
    settings = {"state": state, "plugins": [], "engine": "sqlite"}
    killer = Killer(boundary)
    with Workspace.open(ROOT, overrides=settings, plugins={"killer": killer}) as workspace:
        result = workspace.run_sync(
            "schedule_appointment", INPUTS, ask=lambda question: True, run_id=run_id
        )
        killer.reach("at the end")
    sys.exit(0 if result.success else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
