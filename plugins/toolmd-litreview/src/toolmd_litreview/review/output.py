"""Show a review: as text, as an HTML page, and its papers as RIS or CSV."""

import csv
from collections.abc import Iterator
from importlib.resources import files
from io import StringIO
from itertools import pairwise

from toolmd_litreview.extraction import FIELDS
from toolmd_litreview.library import Library
from toolmd_litreview.prisma import ITEMS
from toolmd_litreview.review.run import Review, Theme

_WHY = (
    "",
    "beyond the number asked for",
    "without a cluster",
    "without an abstract",
    "not extracted",
    "excluded by a person",
)
"""Why records are left out on the way to each box."""
_BOX = 96
"""Height of a box of the diagram and the arrow below it, in pixels."""


def lines(review: Review) -> Iterator[str]:
    """Return the review in lines: its flow, and what was found on each theme."""
    yield review.question.text
    yield f"Handbook {review.handbook.handbook_id}, {review.handbook.status}"
    yield from (f"{count:>8,}  {what}" for what, count in review.flow)
    yield from review.notes
    for theme in review.themes:
        yield f"\n{theme.label} ({theme.cluster_id}): {len(theme.papers)} papers"
        if theme.overlap is not None:
            yield f"  Covered by systematic reviews: {theme.overlap:.0%}"
        yield f"  {prisma(theme)}"
        if theme.pico:
            count, file = theme.pico["extracted"], theme.pico["file"]
            yield f"  Fields: {count} papers, in {file} of the state folder"
        yield from (f"  {problem}" for problem in theme.problems)
    if review.next_question:
        yield f"\nNext question: {review.next_question}"


def prisma(theme: Theme) -> str:
    """Return the result of the check by PRISMA in words."""
    if theme.missing_items is None:
        return "PRISMA: not checked"
    missing = [f"{number} {ITEMS[number].partition(':')[0]}" for number in theme.missing_items]
    return f"PRISMA: missing {', '.join(missing)}" if missing else "PRISMA: items 4 to 8 reported"


def page(review: Review) -> str:
    """Return the page; everything that others wrote is escaped."""
    from jinja2 import Environment

    text = (files("toolmd_litreview.review") / "page.html").read_text("utf-8")
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(text)
    flow = review.flow
    # What a person excluded is counted from all records, not from those with fields.
    excluded = sum(one.decision == "exclude" for one in review.decisions.values())
    lefts = [before - after for (_, before), (_, after) in pairwise(flow)]
    lefts[len(_WHY) - 2 :] = [excluded][: len(flow) - len(_WHY) + 1]
    boxes = [
        {"what": what, "count": count, "y": number * _BOX,
         "left": (0, *lefts)[number], "why": _WHY[number]}
        for number, (what, count) in enumerate(flow)
    ]  # fmt: skip
    papers = {paper.pmid: paper for theme in review.themes for paper in theme.papers}
    return template.render(
        review=review, boxes=boxes, height=len(boxes) * _BOX, papers=papers, prisma=prisma
    )


def export(library: Library, user: str | None, handbook_id: str | None, form: str) -> str:
    """Return the candidates of a review, the current one by default, with the decisions."""
    shelf = library.of(user, handbook_id)
    decisions = shelf.decisions()
    more: dict[int, dict[str, object]] = {}
    for cluster in shelf.clusters():
        read = {one["pmid"]: one for one in library.read_lines(f"pico/{cluster.cluster_id}.jsonl")}
        for paper in shelf.papers(cluster.cluster_id):
            more[paper.pmid] = {"theme": cluster.label, **read.get(paper.pmid, {})}
    rows = []
    for paper in shelf.papers():
        decided = decisions.get(paper.pmid)
        row = more.get(paper.pmid, {}) | ({} if decided is None else decided._asdict())
        columns = ("theme", "decision", "reason", *FIELDS)
        rows.append(paper._asdict() | {name: row.get(name) or "" for name in columns})
    return _ris(rows) if form == "ris" else _csv(rows)


def _csv(rows: list[dict[str, object]]) -> str:
    text = StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\r\n")
        writer.writeheader()
        # A spreadsheet would run a text that begins like a formula.
        writer.writerows(
            {name: f"'{v}" if isinstance(v, str) and v[:1] in "=+-@\t" and v else v
             for name, v in row.items()} for row in rows
        )  # fmt: skip
    return text.getvalue()


def _ris(rows: list[dict[str, object]]) -> str:
    tags = {"TI": "title", "AB": "abstract", "PY": "year", "JO": "journal", "DO": "doi",
            "AN": "pmid", "KW": "theme", "N1": "reason"}  # fmt: skip
    return "".join(
        "TY  - JOUR\r\n"
        + "".join(
            f"{tag}  - {' '.join(str(row[name]).split())}\r\n"
            for tag, name in tags.items()
            if row[name]
        )
        + (f"C1  - {row['decision']}\r\n" if row["decision"] else "")
        + "ER  - \r\n"
        for row in rows
    )
