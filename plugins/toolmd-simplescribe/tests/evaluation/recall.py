"""Measure how often the search finds the right note among its first three: `make recall`.

It prints a table for words alone, meaning alone and both, on both halves of the evaluation set.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import typer
import yaml

from toolmd_simplescribe.search.embedder import embedder_of
from toolmd_simplescribe.search.method import Method
from toolmd_simplescribe.search.note_index import IndexedNote, NoteIndex

HERE = Path(__file__).parent
BEST = 3


class Half(NamedTuple):
    """A half of the evaluation set."""

    name: str
    notes: dict[str, str]
    queries: list[tuple[str, str, str]]
    """The query, the note that answers it, and what makes it hard."""


class MeaningAlone(Method):
    """The method without its words."""

    def words(self, query: str) -> str:
        """Return no query."""
        del query
        return ""


def halves() -> list[Half]:
    """Return the parts of the evaluation set that exist."""
    found = []
    for name in ("first", "second"):
        if (file := HERE / f"{name}.yaml").exists():
            body: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
            found.append(Half(name, body["notes"], [tuple(one) for one in body["queries"]]))
    return found


def misses(index: NoteIndex, half: Half, notes: Sequence[str]) -> list[str]:
    """Return the queries of a half whose note is not among the first three."""
    missed = []
    for query, wanted, kind in half.queries:
        best = [item["note_id"] for item in index.search(query, notes, BEST)]
        if wanted not in best:
            missed.append(f"{query} ({kind}): {wanted}, found {', '.join(best) or 'nothing'}")
    return missed


def main() -> None:
    """Print the table, and each miss with `--misses`."""
    parts = halves()
    texts = {id_: text for half in parts for id_, text in half.notes.items()}
    embedder = embedder_of()
    ways = {"words": Method()}
    if embedder is not None:
        ways |= {"meaning": MeaningAlone(embedder), "both": Method(embedder)}
    else:
        typer.echo("No embedder is installed: pip install 'toolmd-simplescribe[meaning]'")
    typer.echo(f"{len(texts)} notes; recall@{BEST}")
    with TemporaryDirectory() as folder:
        for way, method in ways.items():
            index = NoteIndex(Path(folder) / f"{way}.sqlite3", method)
            notes = [IndexedNote(id_, id_, text) for id_, text in texts.items()]
            index.update(notes, "2026-01-01T00:00:00Z")
            for half in parts:
                missed = misses(index, half, list(texts))
                asked = len(half.queries)
                typer.echo(f"{way:8} {half.name:7} {asked - len(missed)}/{asked} = "
                      f"{1 - len(missed) / asked:.2f}")  # fmt: skip
                if "--misses" in sys.argv:
                    typer.echo("".join(f"    {one}\n" for one in missed), nl=False)


if __name__ == "__main__":
    main()
