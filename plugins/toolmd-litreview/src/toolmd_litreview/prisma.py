"""Ask a model about a review: what it does not report of PRISMA, and what to ask next."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from toolmd_litreview.asking import objects_in, unreadable
from toolmd_litreview.library import Library
from toolmd_litreview.paper import Cluster, Paper

ITEMS = {
    4: "Objectives: an explicit statement of the question that the review addresses",
    5: "Eligibility criteria: what includes or excludes a study",
    6: "Information sources: the databases that were searched, and when last",
    7: "Search strategy: the full queries, with filters and limits",
    8: "Selection process: how it was decided whether a study met the criteria",
}
"""The items of PRISMA 2020 that a review must settle before the reading of studies."""
_LISTED = "\n".join(f"{number}. {item}." for number, item in ITEMS.items())
PRISMA_TASK = f"""\
Decide which of these items of PRISMA 2020 the record of a systematic review does not report:
{_LISTED}
Count an item as reported only where the record says it. Answer in this form, with the numbers of
the items that are missing, or an empty list: {{"missing_items": [4, 7]}}"""
_SEARCHES = 20
MOST = 60
"""Number of papers for the model, spread evenly over all."""
LONGEST = 500
"""Longest theme in characters: it becomes the next query."""
THEME_TASK = """\
Existing systematic reviews already cover a theme. Below are the papers that are left over. Propose
one new review question that these papers could answer, as one sentence that names population,
intervention, comparison and outcome. Answer in this form: {"new_PICO": "In …, does …"}"""
_SHOWN = 600


def record(library: Library, user: str | None, cluster: Cluster) -> str:
    """Return what this review has settled on each item: its question, rules, sources, choice."""
    shelf, handbook = library.of(user), library.goals(user).all()[0]
    papers = shelf.papers(cluster.cluster_id)
    eligibility = handbook.eligibility or (
        "not stated by a person; languages, dates and study designs are not restricted"
    )
    screened = Counter((one.decision, one.reason) for one in shelf.decisions().values())
    selection = handbook.selection or (
        "a person decided on records one by one"
        if screened
        else "no person has screened the records"
    )
    if screened:
        told = (f"{word}d {count}: {reason}" for (word, reason), count in screened.items())
        selection = f"{selection} ({'; '.join(told)})"
    lines = [
        f"Objective (the question of the handbook): {handbook.seed_query}",
        f"Theme of this cluster: {cluster.label}",
        f"Eligibility criteria: {eligibility}",
        "Information source: PubMed by the E-utilities, sorted by relevance; no other database",
        "Search strategy, in full:",
    ]
    for search in shelf.searches()[-_SEARCHES:]:
        unknown = f"; PubMed did not know: {search.not_found}" if search.not_found else ""
        lines.append(
            f"- {search.query} ({search.at[:10]}: {search.found} found, {search.kept} kept, "
            f"at most {search.retmax}, expanded: {search.expand_mode}{unknown})"
        )
    lines.append(
        f"Selection process: {selection}. By the program: duplicates removed by PMID, "
        f"{len(shelf.papers())} candidates grouped by closeness of meaning of title and abstract "
        f"(k-means over embeddings), {len(papers)} of them in this cluster, of which "
        f"{sum(not paper.abstract for paper in papers)} have no abstract"
    )
    return "\n".join(lines)


def missing_items(words: str) -> list[int]:
    """Find the missing items in a model's answer; raises ToolError without a list."""
    for answer in reversed(list(objects_in(words))):
        items = answer.get("missing_items")
        if isinstance(items, list) and all(_is_item(item) for item in items):
            return sorted(set(items))
    raise unreadable("list of PRISMA items")


def _is_item(item: Any) -> bool:
    return type(item) is int and item in ITEMS


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
