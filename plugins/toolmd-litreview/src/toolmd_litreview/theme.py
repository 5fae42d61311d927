"""Ask a model for a question that the remaining papers could answer."""

from collections.abc import Sequence

from toolmd_litreview.model import objects_in, unreadable
from toolmd_litreview.paper import Paper

MOST = 60
"""Number of papers for the model, spread evenly over all."""
LONGEST = 500
"""Longest theme in characters: it becomes the next query."""
TASK = """\
Existing systematic reviews already cover a theme. Below are the papers that are left over. Propose
one new review question that these papers could answer, as one sentence that names population,
intervention, comparison and outcome. Answer in this form: {"new_PICO": "In …, does …"}"""
_SHOWN = 600


def material(papers: Sequence[Paper]) -> str:
    """Return a fixed selection of the papers as text."""
    count = min(len(papers), MOST)
    chosen = [papers[index * len(papers) // count] for index in range(count)]
    return "\n\n".join(
        f"{paper.pmid}: {paper.title}\n{paper.abstract[:_SHOWN]}".rstrip() for paper in chosen
    )


def new_theme(words: str) -> str:
    """Find the theme in a model's answer; raises ToolError without one."""
    for answer in reversed(list(objects_in(words))):
        theme = answer.get("new_PICO")
        if isinstance(theme, str) and 0 < len(theme.strip()) <= LONGEST:
            return theme.strip().encode(errors="replace").decode()
    raise unreadable("theme")
