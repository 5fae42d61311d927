"""Write a review as one HTML page with the flow diagram and the table of fields."""

from importlib.resources import files
from itertools import pairwise

from toolmd_litreview.review.run import Review
from toolmd_litreview.review.text import prisma

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
