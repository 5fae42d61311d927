"""Write a review as one HTML page with the flow diagram and the table of fields."""

from importlib.resources import files

from toolmd_litreview.review.run import Review
from toolmd_litreview.review.text import prisma

_WHY = (
    "",
    "beyond the number asked for",
    "without a cluster",
    "without an abstract",
    "not extracted",
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
    boxes = [
        {"what": what, "count": count, "y": number * _BOX,
         "left": flow[number - 1][1] - count if number else 0, "why": _WHY[number]}
        for number, (what, count) in enumerate(flow)
    ]  # fmt: skip
    titles = {paper.pmid: paper.title for theme in review.themes for paper in theme.papers}
    return template.render(
        review=review, boxes=boxes, height=len(boxes) * _BOX, titles=titles, prisma=prisma
    )
