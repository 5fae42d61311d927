"""One process of the clinic that books a visit, and may be killed at a boundary of a step."""

import sys
from pathlib import Path

from killer import Killer

from toolmd import Workspace

ROOT = Path(__file__).parents[2]
INPUTS = {
    "patientId": "P-1001",
    "date": "2026-03-04",
    "timeRange": "morning",
    "numChildren": 2,
    "parentPhone": "+1 214 555 0142",
}


def main(state: str, run_id: str, boundary: str) -> None:
    """Book as `run_id`; an existing run is resumed."""
    settings = {"state": state, "plugins": [], "store": "sqlite"}
    killer = Killer(boundary, lambda call: call.tool)
    with Workspace.open(ROOT, overrides=settings, plugins={"killer": killer}) as workspace:
        result = workspace.run_sync(
            "schedule_appointment", INPUTS, ask=lambda question: True, run_id=run_id
        )
        killer.reach("at the end")
    sys.exit(0 if result.success else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
