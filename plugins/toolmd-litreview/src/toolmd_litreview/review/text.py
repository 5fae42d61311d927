"""Print a review in the terminal."""

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolmd_litreview.prisma import ITEMS
from toolmd_litreview.review.run import Review, Theme

_FIELDS = ("P", "I", "C", "O", "StudyDesign")
MOST_ROWS = 10
"""Papers of a theme that the terminal shows; the page shows all."""


def show(console: Console, review: Review) -> None:
    """Print the flow, and a table for each theme."""
    console.print(Text(review.question.text, style="bold"))
    console.print(Text(f"Handbook {review.handbook.handbook_id}, {review.handbook.status}"))
    flow = Table("Flow", "Records", box=None)
    for what, count in review.flow:
        flow.add_row(what, f"{count:,}")
    console.print(flow)
    for note in review.notes:
        console.print(Text(note))
    for theme in review.themes:
        console.print(_theme(theme))
    if review.next_question:
        console.print(Text(f"Next question: {review.next_question}"))


def _theme(theme: Theme) -> RenderableType:
    lines = [Text(f"\n{theme.label} ({theme.cluster_id}): {len(theme.papers)} papers", "bold")]
    if theme.overlap is not None:
        lines.append(Text(f"Covered by systematic reviews: {theme.overlap:.0%}"))
    lines.append(Text(prisma(theme)))
    lines += [Text(problem) for problem in theme.problems]
    table = Table("PMID", *_FIELDS)
    for row in theme.rows[:MOST_ROWS]:
        table.add_row(str(row["pmid"]), *(Text(row[name] or "-") for name in _FIELDS))
    more = len(theme.rows) - MOST_ROWS
    tail = [Text(f"and {more} more papers")] if more > 0 else []
    return Group(*lines, table, *tail)


def prisma(theme: Theme) -> str:
    """Return the result of the check by PRISMA in words."""
    if theme.missing_items is None:
        return "PRISMA: not checked"
    missing = [f"{number} {ITEMS[number].partition(':')[0]}" for number in theme.missing_items]
    return f"PRISMA: missing {', '.join(missing)}" if missing else "PRISMA: items 4 to 8 reported"
