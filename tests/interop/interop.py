"""Check the MCP server with third-party programs.

Run `python tests/interop/interop.py [CHECKER…]`.

Each checker has an environment of its own, made on demand; if it is not available, the checker is
skipped with the reason. Exit code 1: a check that applies fails.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from applies import REASONS
from checkers import CHECKERS, Row, public_skills
from environments import MissingError


def main() -> int:
    """Run the named checkers, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *CHECKERS, "skills"], help="whom to ask")
    parser.add_argument(
        "--skills", type=Path, metavar="FOLDER", help="public Agent Skills to import and serve"
    )
    options = parser.parse_args()
    guards = dict(CHECKERS)
    if options.skills is not None:
        guards["skills"] = partial(public_skills, options.skills)
    began = time.monotonic()
    rows, skipped = [], []
    for name in options.names or guards:
        try:
            for row in guards[name]():
                _say(f"{row.guard}, {row.what}: {row.passed} held, {len(row.failed)} did not")
                rows.append(row)
        except (MissingError, subprocess.TimeoutExpired) as error:
            _say(f"skipped {name}: {error}")
            skipped.append(name)
    failed = [f"{row.guard}, {row.what}: {one}" for row in rows for one in row.failed]
    _say("")
    if rows:
        print("\n".join([*table(rows), "", "What does not apply, and why:", "", *reasons()]))
    _say(
        f"\n{time.monotonic() - began:.0f} s" + (f", skipped: {', '.join(skipped)}" * bool(skipped))
    )
    for one in failed:
        _say(f"did not hold: {one}")
    return int(bool(failed))


def table(rows: list[Row]) -> Iterator[str]:
    """Return the table of the results."""
    yield "| client or suite | part | passed | of those that apply | does not apply |"
    yield "|---|---|---|---|---|"
    for row in rows:
        applies = row.passed + len(row.failed)
        share = 100 * row.passed / applies if applies else 0
        counts = f"{row.passed} | {applies} ({share:.0f} %) | {row.beside}"
        yield f"| {row.guard} | {row.what} | {counts} |"


def reasons() -> Iterator[str]:
    """Return the list of checks that do not apply."""
    for reason, patterns in REASONS.items():
        scenarios = dict.fromkeys(pattern.partition(":")[0] for pattern in patterns)
        yield f"- {reason}: {', '.join(f'`{one}`' for one in scenarios)}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
