"""Run a review from a question to clusters, extracted fields and the check by PRISMA."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from toolmd import Result, ToolmdError, Workspace
from toolmd_litreview.library import Decision, Handbook, Library, Search
from toolmd_litreview.paper import Paper

COVERED: Final = 0.5
"""The overlap with systematic reviews from which a theme counts as covered."""

Ask = Callable[[str], bool]
"""Asks a person a question; returns whether the answer is yes."""
Tell = Callable[[str], None]
"""Receives what is being done."""


class Question(NamedTuple):
    """What a person wants reviewed."""

    text: str
    """The question, which is the Seed_query of the handbook."""
    query: str
    """The query for PubMed."""
    retmax: int
    expand_mode: str
    eligibility: str = ""
    selection: str = ""


class Theme(NamedTuple):
    """A cluster with what the tools found on it."""

    cluster_id: str
    label: str
    papers: tuple[Paper, ...]
    rows: tuple[dict[str, Any], ...]
    """The extracted fields, a row a paper."""
    pico: dict[str, Any]
    """The report of run_pico."""
    overlap: float | None
    sr_pmids: tuple[int, ...]
    missing_items: tuple[int, ...] | None
    problems: tuple[str, ...]
    """What could not be done, in words."""


class Review(NamedTuple):
    """The result of a review."""

    question: Question
    handbook: Handbook
    search: Search
    themes: tuple[Theme, ...]
    unclustered: int
    """Candidates outside of all clusters."""
    decisions: Mapping[int, Decision]
    """What a person decided, by PMID."""
    next_question: str | None = None
    """The question of the next handbook, where themes are covered already."""
    notes: tuple[str, ...] = ()

    @property
    def flow(self) -> list[tuple[str, int]]:
        """Return the numbers of PRISMA's flow diagram, from found to extracted."""
        there = [paper for theme in self.themes for paper in theme.papers]
        excluded = {pmid for pmid, one in self.decisions.items() if one.decision == "exclude"}
        out = sum(paper.pmid in excluded for paper in there)
        flow = [
            ("Records that PubMed has for the query", self.search.found),
            ("Records that were read", self.search.kept),
            ("Records in a cluster, without duplicates", len(there)),
            ("Records with an abstract", sum(bool(paper.abstract) for paper in there)),
            ("Records with extracted fields", sum(t.pico.get("extracted", 0) for t in self.themes)),
        ]
        return [*flow, ("Records that a person did not exclude", len(there) - out)] if out else flow


class Reviewer:
    """Calls the tools in order for one person, as a model would."""

    def __init__(
        self, workspace: Workspace, library: Library, user: str | None, ask: Ask, tell: Tell
    ) -> None:
        """Use a workspace with the tools, and the library of its state folder."""
        self._workspace = workspace
        self._library = library
        self._user = user
        self._ask = ask
        self._tell = tell

    async def review(self, question: Question) -> Review:
        """Run the review; raises ToolmdError if nothing was found or the search fails."""
        goals = self._library.goals(self._user)
        goals.begin(question.text)
        self._tell("Searching PubMed")
        names = ("query", "retmax", "expand_mode")
        asked = {name: getattr(question, name) for name in names}
        found = await self._call("search_pubmed", asked)
        if not found.success or not found.data["clusters"]:
            raise ToolmdError(found.message or _reason(found))
        if question.eligibility or question.selection:
            goals.settle(question.eligibility, question.selection)
        shelf = self._library.of(self._user)
        themes = [await self._theme(one.cluster_id, one.label) for one in shelf.clusters()]
        handbook = goals.all()[0]
        question_next = await self._next(themes)
        # A proposed question has a handbook of its own; this review stays the current one.
        goals.begin(question.text)
        return Review(
            question,
            handbook,
            shelf.searches()[-1],
            tuple(sorted(themes, key=lambda theme: -len(theme.papers))),
            len(shelf.papers()) - sum(len(theme.papers) for theme in themes),
            shelf.decisions(),
            question_next,
            tuple(found.notes),
        )

    async def _theme(self, cluster_id: str, label: str) -> Theme:
        self._tell(f"Reading {label}")
        papers = self._library.papers(self._user, cluster_id)
        reviews = await self._call("find_existing_sr", {"cluster_id": cluster_id})
        pico = await self._call("run_pico", {"cluster_id": cluster_id})
        prisma = await self._call("prisma_check", {"cluster_id": cluster_id})
        rows = self._library.read_lines(pico.data["file"]) if pico.success else []
        return Theme(
            cluster_id,
            label,
            tuple(papers),
            tuple(rows),
            pico.data if pico.success else {},
            reviews.data["overlap"] if reviews.success and not reviews.notes else None,
            tuple(reviews.data["sr_pmids"]) if reviews.success else (),
            tuple(prisma.data["missing_items"]) if prisma.success else None,
            (*reviews.notes, *(_reason(one) for one in (reviews, pico, prisma) if not one.success)),
        )

    async def _next(self, themes: list[Theme]) -> str | None:
        """Return a new question if a theme is covered by systematic reviews already."""
        covered = [t for t in themes if t.overlap is not None and t.overlap >= COVERED]
        if not covered or len(covered) == len(themes):
            return None
        excluded = [paper.pmid for theme in covered for paper in theme.papers]
        result = await self._call("propose_alternative_pico", {"exclude_pmids": excluded})
        return str(result.data["new_PICO"]) if result.success else None

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Result:
        result = await self._workspace.call(tool, arguments, user=self._user)
        asked = result.confirmation
        if asked is None:
            return result
        confirmations = self._workspace.confirmations
        decide = confirmations.approve if self._ask(asked.prompt) else confirmations.reject
        return await decide(asked.id, user=self._user)


def _reason(result: Result) -> str:
    error = result.error
    return f"{result.tool}: {error.message if error else result.message or result.outcome}"


def to_json(review: Review) -> str:
    """Return the review as JSON: its question, flow and themes."""
    shown = ("cluster_id", "label", "overlap", "missing_items", "rows", "problems")
    body = {
        "question": review.question.text,
        "flow": dict(review.flow),
        "themes": [
            {"papers": len(theme.papers), **{name: getattr(theme, name) for name in shown}}
            for theme in review.themes
        ],
        "next_question": review.next_question,
    }
    return json.dumps(body, ensure_ascii=False)
