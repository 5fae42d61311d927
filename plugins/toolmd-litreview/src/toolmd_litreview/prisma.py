"""Ask a model which of PRISMA's items 4 to 8 a cluster's review does not report."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from toolmd_litreview.goals import Handbook
from toolmd_litreview.model import objects_in, unreadable
from toolmd_litreview.paper import Cluster
from toolmd_litreview.shelf import Decision, Search

ITEMS = {
    4: "Objectives: an explicit statement of the question that the review addresses",
    5: "Eligibility criteria: what includes or excludes a study",
    6: "Information sources: the databases that were searched, and when last",
    7: "Search strategy: the full queries, with filters and limits",
    8: "Selection process: how it was decided whether a study met the criteria",
}
"""The items of PRISMA 2020 that a review must settle before the reading of studies."""
_LISTED = "\n".join(f"{number}. {item}." for number, item in ITEMS.items())
TASK = f"""\
Decide which of these items of PRISMA 2020 the record of a systematic review does not report:
{_LISTED}
Count an item as reported only where the record says it. Answer in this form, with the numbers of
the items that are missing, or an empty list: {{"missing_items": [4, 7]}}"""
_SHOWN = 20


class Counts(NamedTuple):
    """The numbers of a review's papers."""

    candidates: int
    """Papers of all searches, without duplicates."""
    cluster: int
    without_abstract: int
    """Papers of the cluster whose fields can't be extracted."""


def record(
    cluster: Cluster,
    counts: Counts,
    searches: Sequence[Search],
    handbook: Handbook | None,
    decisions: Iterable[Decision] = (),
) -> str:
    """Return what this review has settled on each item: its question, rules, sources, choice."""
    question = handbook.seed_query if handbook else "not recorded"
    eligibility = (handbook.eligibility if handbook else "") or (
        "not stated by a person; languages, dates and study designs are not restricted"
    )
    screened = Counter((one.decision, one.reason) for one in decisions)
    selection = (handbook.selection if handbook else "") or (
        "a person decided on records one by one"
        if screened
        else "no person has screened the records"
    )
    if screened:
        told = (f"{word}d {count}: {reason}" for (word, reason), count in screened.items())
        selection = f"{selection} ({'; '.join(told)})"
    lines = [
        f"Objective (the question of the handbook): {question}",
        f"Theme of this cluster: {cluster.label}",
        f"Eligibility criteria: {eligibility}",
        "Information source: PubMed by the E-utilities, sorted by relevance; no other database",
        "Search strategy, in full:",
    ]
    for search in searches[-_SHOWN:]:
        unknown = f"; PubMed did not know: {search.not_found}" if search.not_found else ""
        lines.append(
            f"- {search.query} ({search.at[:10]}: {search.found} found, {search.kept} kept, "
            f"at most {search.retmax}, expanded: {search.expand_mode}{unknown})"
        )
    lines.append(
        f"Selection process: {selection}. By the program: duplicates removed by PMID, "
        f"{counts.candidates} candidates grouped by closeness of meaning of title and abstract "
        f"(k-means over embeddings), {counts.cluster} of them in this cluster, of which "
        f"{counts.without_abstract} have no abstract"
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
