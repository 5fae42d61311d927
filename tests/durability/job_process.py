"""One process that runs the skill `job`, and may be killed before or after one of its calls."""

import os
import signal
import sys
from typing import Any

from toolmark import Workspace, hookimpl


class Killer:
    """Kills its process, as a power cut would, when it comes to a boundary."""

    def __init__(self, boundary: str) -> None:
        self.boundary = boundary

    def reach(self, boundary: str) -> None:
        if boundary == self.boundary:
            os.kill(os.getpid(), signal.SIGKILL)

    @hookimpl
    def toolmark_before_call(self, call: Any, spec: Any) -> None:
        self.reach(f"before {call.arguments['what']}")

    @hookimpl
    def toolmark_after_call(self, call: Any, spec: Any, result: Any) -> None:
        self.reach(f"after {call.arguments['what']}")


def main(root: str, boundary: str) -> None:
    """Run, or take up, `run-1`."""
    killer = Killer(boundary)
    overrides = {"engine": "sqlite"}
    with Workspace.open(root, overrides=overrides, plugins={"killer": killer}) as workspace:
        result = workspace.run_sync("job", {}, ask=lambda question: True, run_id="run-1")
        killer.reach("at the end")
    print(result.message)
    sys.exit(0 if result.success else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
