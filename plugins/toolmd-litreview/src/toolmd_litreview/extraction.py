"""Have a model read P, I, C, O and the study design off abstracts, forty at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toolmd_litreview.fingerprint import fingerprint
from toolmd_litreview.json_lines import line
from toolmd_litreview.library import Library
from toolmd_litreview.model import Model, objects_in
from toolmd_litreview.paper import Paper

BATCH = 40
"""Abstracts in one question (seed 004)."""
FIELDS = ("P", "I", "C", "O", "StudyDesign")
_LONGEST = 2_000
"""Characters of one field; a model that copies the abstract has not extracted anything."""
_TASK = """\
Extract from each abstract: P (who was studied), I (the intervention or exposure), C (what it was
compared with), O (the outcomes) and StudyDesign. Use the abstract alone, at most 30 words a field,
and null for what it does not say. Answer in this form, with each paper of the message once:
{"papers": [{"pmid": 1, "P": "…", "I": "…", "C": "…", "O": "…", "StudyDesign": "…"}]}"""

Fields = dict[str, str | None]
Tell = Callable[[int, int], Awaitable[None]]
"""Hears how many abstracts of how many are done."""


class Extractor:
    """Extracts fields; what was extracted before, by this model from this text, is not again."""

    def __init__(self, library: Library, model: Model, http: Any) -> None:
        """`http` is the client of the call."""
        self._library = library
        self._model = model
        self._http = http

    async def extract(self, papers: Sequence[Paper], tell: Tell) -> dict[int, Fields]:
        """Give the fields by PMID; a paper of which the model said nothing is left out.

        Each batch is kept when it is done: a call that is tried again asks for the rest only.
        """
        key_of = {paper.pmid: self._key(paper) for paper in papers}
        known = await asyncio.to_thread(self._library.extracted, key_of.values())
        done = {pmid: known[key] for pmid, key in key_of.items() if key in known}
        wanted = [paper for paper in papers if paper.pmid not in done]
        tried = len(papers) - len(wanted)
        for start in range(0, len(wanted), BATCH):
            await tell(tried + start, len(papers))
            batch = wanted[start : start + BATCH]
            read = await self._read(batch)
            kept = {key_of[pmid]: fields for pmid, fields in read.items()}
            await asyncio.to_thread(self._library.keep_extracted, kept)
            done |= read
        await tell(len(papers), len(papers))
        return done

    def _key(self, paper: Paper) -> str:
        return fingerprint(_TASK, self._model.name, *paper)

    async def _read(self, batch: Sequence[Paper]) -> dict[int, Fields]:
        """Ask for a batch, and once more for those that the answer lacks."""
        found: dict[int, Fields] = {}
        for _ in range(2):
            missing = [paper for paper in batch if paper.pmid not in found]
            if missing:
                material = "\n".join(line(paper._asdict()) for paper in missing)
                words = await self._model.answer(self._http, _TASK, material)
                found |= read_fields(words, {paper.pmid for paper in missing})
        return found


def read_fields(words: str, asked: set[int]) -> dict[int, Fields]:
    """Find in a model's words the fields of the papers that were asked for, and of no others."""
    found: dict[int, Fields] = {}
    for answer in objects_in(words):
        rows = answer.get("papers", [answer])
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and (pmid := _number(row.get("pmid"))) in asked:
                fields = {name: _text(row.get(name)) for name in FIELDS}
                if not row.keys().isdisjoint(FIELDS):
                    found[pmid] = fields
    return found


def _number(value: Any) -> int:
    """Give a PMID as a model writes it, as a number or as text; 0 for what is none."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value) if len(value) < len("1000000000") else 0
    return value if type(value) is int else 0


def _text(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "; ".join(value)
    if not isinstance(value, str) or not value.strip():
        return None
    # A lone surrogate, which JSON can spell, is no text that a file can hold.
    return value.strip()[:_LONGEST].encode(errors="replace").decode()
