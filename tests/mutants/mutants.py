"""Break the guards on purpose, and see that a test notices: `make mutants`.

Each change of a guard's code is tested by its tests in a copy of the project; no file here is
touched. Exit code 1 where tests notice fewer than nine of ten, where one that they don't notice
has no reason in `survivors.toml`, and where a reason excuses nothing any more. `--write` puts
the rows of what was tested into the figures.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from guards import GUARDS, REASONS, ROOT
from mutant_tests import MutantResult, copies, tested

FIGURES = ROOT / "docs" / "explanation" / "figures.md"
BEGIN, END = "<!-- mutants: begin -->\n", "<!-- mutants: end -->\n"
LEAST = 0.9
"""The share that tests must notice."""


def main() -> int:
    """Test the mutants of the guard that was named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("guard", nargs="?", choices=GUARDS, help="the one to test; all without")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose path holds it")
    parser.add_argument("--quick", action="store_true", help="only the tests likely to notice")
    parser.add_argument("--write", action="store_true", help="write the rows into the figures")
    options = parser.parse_args()
    began, rows, failed = time.monotonic(), {}, []
    with tempfile.TemporaryDirectory(prefix="mutants-") as made:
        folders = list(copies(Path(made), options.jobs))
        for name in [options.guard] if options.guard else GUARDS:
            guard = GUARDS[name]._replace(broader=()) if options.quick else GUARDS[name]
            every = []
            for one in tested(guard, options.only, folders, _reason):
                every.append(one)
                if one.end == "survived":
                    print(f"survived{', as known' * bool(_reason(one))}: {_told(one)}", flush=True)
            rows[name] = _row(name, every)
            failed += _failures(name, every)
            print(rows[name], flush=True)
    print(f"{time.monotonic() - began:.0f} s")
    for one in failed:
        print(f"did not hold: {one}")
    if options.write and not (options.only or options.quick):
        _write(rows)
    return int(bool(failed))


def _reason(one: MutantResult) -> str | None:
    return REASONS.get(one.file, {}).get(one.change.said)


def _told(one: MutantResult) -> str:
    return f"{one.file}:{one.change.line}: {one.change.said}"


def _failures(name: str, every: list[MutantResult]) -> Iterator[str]:
    left = [one for one in every if one.end == "survived"]
    if len(left) > (1 - LEAST) * len(every):
        yield f"{name}: fewer than {LEAST:.0%} were noticed"
    yield from (_told(one) for one in left if not _reason(one))
    survived = {(one.file, one.change.said) for one in left}
    for file in sorted({one.file for one in every}):
        for said in REASONS.get(file, {}):
            if (file, said) not in survived:
                yield f"{file}: {said}: excused for nothing"


def _row(name: str, every: list[MutantResult]) -> str:
    ends = Counter(one.end for one in every)
    noticed = 1 - ends["survived"] / max(ends.total(), 1)
    counts = (ends.total(), ends["killed"], ends["timed out"], ends["survived"])
    return f"| {name} | {' | '.join(map(str, counts))} | {noticed:.1%} |"


def _write(rows: dict[str, str]) -> None:
    """Put rows in the place of those of the same guards; the others stay."""
    head, _, rest = FIGURES.read_text("utf-8").partition(BEGIN)
    table, _, tail = rest.partition(END)
    known = {row.split("|")[1].strip(): row for row in table.splitlines() if row}
    lines = "\n".join((known | rows).values())
    FIGURES.write_text(f"{head}{BEGIN}\n{lines}\n\n{END}{tail}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
