"""One process that runs the skill `job`, and may be killed before or after one of its calls."""

import sys

from killer import Killer

from toolmd import Workspace


def main(root: str, boundary: str) -> None:
    """Run or resume `run-1`."""
    killer = Killer(boundary, lambda call: str(call.arguments["what"]))
    overrides = {"store": "sqlite"}
    with Workspace.open(root, overrides=overrides, plugins={"killer": killer}) as workspace:
        result = workspace.run_sync("job", {}, ask=lambda question: True, run_id="run-1")
        killer.reach("at the end")
    print(result.message)
    sys.exit(0 if result.success else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
