"""Extract P, I, C, O and the study design with a model; each field needs its quotation."""

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from toolmd_litreview.asking import Model, objects_in
from toolmd_litreview.library import Library
from toolmd_litreview.paper import Paper, fingerprint, line

BATCH = 40
"""Abstracts in one request (seed 004)."""
FIELDS = ("P", "I", "C", "O", "StudyDesign")
_VERSION = 2
"""Version of what counts as supported; earlier extractions are made again."""
_LONGEST = 2_000
"""Longest field in characters, since a copied abstract is not an extraction."""
SHARE = 0.5
"""More than this share of a field's words must be in its quotation."""
_STEM = 5
_LITTLE = frozenset("a an and as at by for from in is of on or the to was were who with".split())
_NOT = frozenset("no not neither nor never none without fails failed lack absence cannot".split())
_TASK = """\
Extract from each abstract: P (who was studied), I (the intervention or exposure), C (what it was
compared with), O (the outcomes) and StudyDesign. Use the abstract alone, at most 30 words a field,
and null for what it does not say. In "quotes", copy for each field the words of the title or the
abstract that say it, letter by letter; a field without its quote is thrown away. Answer in this
form, with each paper of the message once:
{"papers": [{"pmid": 1, "P": "…", "I": "…", "C": "…", "O": "…", "StudyDesign": "…",
"quotes": {"P": "…", "I": "…", "C": "…", "O": "…", "StudyDesign": "…"}}]}"""

Fields = dict[str, Any]
"""The five fields, and `quotes` with the words of the paper for each."""
Tell = Callable[[int, int], Awaitable[None]]
"""Receives the number of finished and of all abstracts."""


class Extractor:
    """Extracts fields, and reuses earlier extractions by this model from the same text."""

    def __init__(self, library: Library, model: Model, http: Any) -> None:
        """Prepare the extractor; `http` is the client of the call."""
        self._library = library
        self._model = model
        self._http = http
        self.unsupported = 0
        """Number of fields of this call that an abstract does not support."""

    async def extract(self, papers: Sequence[Paper], tell: Tell) -> dict[int, Fields]:
        """Return the fields by PMID, without papers that the model omitted.

        Each finished batch is stored, so that a retried call asks only for the rest.
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
        return fingerprint(_VERSION, _TASK, self._model.endpoint.model, *paper[:3])

    async def _read(self, batch: Sequence[Paper]) -> dict[int, Fields]:
        """Ask for a batch, and once more for the papers that the answer lacks."""
        found: dict[int, Fields] = {}
        for _ in range(2):
            missing = [paper for paper in batch if paper.pmid not in found]
            if missing:
                material = "\n".join(
                    line({"pmid": paper.pmid, "title": paper.title, "abstract": paper.abstract})
                    for paper in missing
                )
                words = await self._model.answer(self._http, _TASK, material)
                read, unsupported = read_fields(words, {paper.pmid: paper for paper in missing})
                found |= read
                self.unsupported += unsupported
        return found


def read_fields(words: str, asked: Mapping[int, Paper]) -> tuple[dict[int, Fields], int]:
    """Find the fields of the requested papers in a model's answer.

    Returns:
        The fields that their papers support, and the number of those that they do not.
    """
    found: dict[int, Fields] = {}
    unsupported = 0
    for answer in objects_in(words):
        rows = answer.get("papers", [answer])
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and (pmid := _number(row.get("pmid"))) in asked:
                fields = {name: _text(row.get(name)) for name in FIELDS}
                if not row.keys().isdisjoint(FIELDS):
                    kept, quotes = supported(fields, row.get("quotes"), asked[pmid].text)
                    found[pmid] = {**kept, "quotes": quotes}
                    unsupported += sum(fields[name] != kept[name] for name in FIELDS)
    return found, unsupported


def _number(value: Any) -> int:
    """Return a PMID from a number or a text; 0 for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value) if len(value) < len("1000000000") else 0
    return value if type(value) is int else 0


def _text(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "; ".join(value)
    if not isinstance(value, str) or not value.strip():
        return None
    # JSON can express an unpaired surrogate, but a file can't contain it.
    return value.strip()[:_LONGEST].encode(errors="replace").decode()


def is_supported(value: str, quote: Any, text: str) -> bool:
    """Return whether a quotation from a text says what was extracted from it.

    The quotation must occur in the text as it is, apart from white space, case and quotation
    marks. It must have each number of the value, more than half of its words by their beginning,
    and a negation exactly where the value has one. An abbreviation may stand for words of the
    quotation with its initials.
    """
    if not isinstance(quote, str) or not (said := _plain(quote)) or said not in _plain(text):
        return False
    if not set(re.findall(r"\d+", value)) <= set(re.findall(r"\d+", said)):
        return False
    words = _words(value)
    quoted = _words(said)
    if bool(_NOT & set(words)) != bool(_NOT & set(quoted)):
        return False
    initials = "".join(word[0] for word in quoted)
    stems = {word[:_STEM] for word in quoted}
    telling = [word for word in words if word not in _LITTLE | _NOT]
    found = sum(word[:_STEM] in stems or word in initials for word in telling)
    return found > SHARE * len(telling) if telling else bool(re.search(r"\d", value))


def supported(
    fields: Mapping[str, str | None], quotes: Any, text: str
) -> tuple[dict[str, str | None], dict[str, str]]:
    """Return the fields, null where no quotation supports them, and the quotations of the rest."""
    given = quotes if isinstance(quotes, dict) else {}
    kept = {
        name: value if value is None or is_supported(value, given.get(name), text) else None
        for name, value in fields.items()
    }
    return kept, {name: given[name] for name, value in kept.items() if value is not None}


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", _plain(text).replace("n't", " not"))


def _plain(text: str) -> str:
    bare = "".join(letter for letter in text.casefold() if not _is_quotation_mark(letter))
    return " ".join(bare.split()).strip(" .…")


def _is_quotation_mark(letter: str) -> bool:
    return letter in "\"'" or unicodedata.category(letter) in ("Pi", "Pf")
