"""Break the guards on purpose, and see that a test notices: `make mutants`.

Each change of a guard's code is judged by its tests in a copy of the project; no file here is
touched. Exit code 1 where tests notice fewer than nine of ten, where one that they don't notice
has no reason in `survivors.toml`, and where a reason excuses nothing any more. `--write` puts
the tables into the figures.
"""

import argparse
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from guards import GUARDS
from judging import ROOT, Judged, copies, judged, text_of

FIGURES = ROOT / "docs" / "explanation" / "figures.md"
BEGIN, END = "<!-- mutants: begin -->\n", "<!-- mutants: end -->\n"
LEAST = 0.9
"""The share that tests must notice."""
REASONS: dict[str, dict[str, str]] = tomllib.loads(
    text_of(Path(__file__).with_name("survivors.toml"))
)
"""Why no test notices a change, by its file and its words."""


def main() -> int:
    """Judge the mutants of the guards that were named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *GUARDS], help="which guards")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose path holds it")
    parser.add_argument("--quick", action="store_true", help="only the tests likely to notice")
    parser.add_argument("--write", action="store_true", help="write the tables into the figures")
    options = parser.parse_args()
    is_whole = not (options.names or options.only or options.quick)
    began, rows, failed, left = time.monotonic(), [], [], []
    with tempfile.TemporaryDirectory(prefix="mutants-") as made:
        folders = list(copies(Path(made), options.jobs))
        for name in options.names or GUARDS:
            guard = GUARDS[name]._replace(broader=()) if options.quick else GUARDS[name]
            counts = Counter()
            for one in judged(guard, options.only, folders, _known):
                counts[one.end] += 1
                if one.end == "survived":
                    left.append(one)
                    print(f"survived{_known(one)}: {_told(one)}", flush=True)
            rows.append(_row(name, counts))
            print(rows[-1], flush=True)
            if counts["survived"] > (1 - LEAST) * counts.total():
                failed.append(f"{name}: fewer than {LEAST:.0%} were noticed")
    failed += [_told(one) for one in left if not _known(one)]
    excused = {(one.file, one.change.said) for one in left}
    given = [(file, said) for file, reasons in REASONS.items() for said in reasons]
    failed += [f"{file}: {said}: excused for nothing" for file, said in given
               if is_whole and (file, said) not in excused]  # fmt: skip
    print(f"{time.monotonic() - began:.0f} s")
    for one in failed:
        print(f"did not hold: {one}")
    if options.write and is_whole:
        head, tail = text_of(FIGURES).split(BEGIN)[0], text_of(FIGURES).split(END)[1]
        FIGURES.write_text(head + BEGIN + "\n".join(_tables(rows, left)) + END + tail, "utf-8")
    return int(bool(failed))


def _known(one: Judged) -> str:
    return ", as known" if one.change.said in REASONS.get(one.file, {}) else ""


def _told(one: Judged) -> str:
    return f"{one.file}:{one.change.line}: {one.change.said}"


def _row(name: str, ends: Counter[str]) -> str:
    noticed = 1 - ends["survived"] / max(ends.total(), 1)
    counts = (ends.total(), ends["killed"], ends["timed out"], ends["survived"])
    return f"| {name} | {' | '.join(map(str, counts))} | {noticed:.1%} |"


def _tables(rows: list[str], left: list[Judged]) -> Iterator[str]:
    yield from ("", "| guard | mutants | killed | timed out | survived | noticed |")
    yield from ("|---|---|---|---|---|---|", *rows, "", "What no test notices, and why:", "")
    yield from ("| in | change | why |", "|---|---|---|")
    for file, said in dict.fromkeys((one.file, one.change.said) for one in left):
        shown = said.replace("|", "\\|")
        yield f"| `{file}` | `{shown}` | {REASONS.get(file, {}).get(said, 'a test is missing')} |"
    yield from ("", "")


if __name__ == "__main__":
    sys.exit(main())
