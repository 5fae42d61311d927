"""Widen a query by words that mean the same, and rank texts by their words and meanings."""

import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from typing import Any, Final

from toolmd_simplescribe.search.embedder import Embedder

_MOST: Final = 24
"""Number of synonyms that a query is widened by."""
_MOST_WORDS: Final = 64
"""Number of words of a query that are searched; the rest is ignored."""
_COMMON: Final = frozenset(
    "a an and any anything are as at be been by can did do does for from had has have he her his "
    "how i in is it its last me most much of on or our patient patients s she should that the "
    "their them there these they this to was we were what when where which who why will with "
    "you".split()
)
"""Words that say nothing about a note; they count if a query has no others."""


class Synonyms:
    """Groups of terms that mean the same, one a line of `synonyms.txt`."""

    def __init__(self) -> None:
        """Index the groups by term; a term may be in several."""
        text = (files("toolmd_simplescribe.search") / "synonyms.txt").read_text("utf-8")
        self._groups: dict[str, list[list[str]]] = {}
        for line in text.splitlines():
            found = (" ".join(one.casefold().split()) for one in line.partition("#")[0].split(","))
            terms = [term for term in dict.fromkeys(found) if term]
            for term in terms:
                self._groups.setdefault(term, []).append(terms)
        self._longest = max(term.count(" ") + 1 for term in self._groups)

    def of(self, query: str) -> list[str]:
        """Return the other terms of each group that the query names, the longest match first."""
        words = re.findall(r"[\w/+'-]+", query.casefold())
        found: dict[str, None] = {}
        at = 0
        while at < len(words):
            for size in range(min(self._longest, len(words) - at), 0, -1):
                term = " ".join(words[at : at + size])
                if term in self._groups:
                    found |= dict.fromkeys(chain.from_iterable(self._groups[term]))
                    found.pop(term, None)
                    at += size - 1
                    break
            at += 1
        return list(found)[:_MOST]


class Method:
    """Widens queries, and ranks by vectors where there is an embedder."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        """Use an embedder; without one, words and their synonyms alone are searched."""
        self._synonyms = Synonyms()
        self.embedder = embedder
        self.embedder_name = "" if embedder is None else embedder.name

    def words(self, query: str) -> str:
        """Return an FTS5 query for any of the query's words and synonyms, without operators."""
        found = _pieces(query)
        telling = [piece for piece in found if piece.casefold() not in _COMMON] or found
        phrases = [" ".join(_pieces(synonym)) for synonym in self._synonyms.of(query)]
        unique = dict.fromkeys([*telling[:_MOST_WORDS], *filter(None, phrases)])
        return " OR ".join(f'"{piece}"' for piece in unique)

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """Return a float32 vector for each text; none without an embedder."""
        if self.embedder is None or not texts:
            return []
        return [row.tobytes() for row in self.embedder.embed(texts).astype("<f4")]

    def nearest(self, query: str, rows: Sequence[tuple[int, bytes]]) -> list[int]:
        """Return the numbers of vectors by their closeness to a query, each number once."""
        if self.embedder is None or not rows:
            return []
        import numpy as np

        synonyms = self._synonyms.of(query)[:4]
        asked = f"{query} ({', '.join(synonyms)})" if synonyms else query
        vector: Any = self.embedder.embed([asked]).astype("<f4")[0]
        known = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4")
        close = known.reshape(len(rows), -1) @ vector
        order = [i for i in np.argsort(-close, kind="stable") if close[i] >= self.embedder.floor]
        return list(dict.fromkeys(rows[index][0] for index in order))


def _pieces(text: str) -> list[str]:
    # FTS5 splits the text between ASCII signs into words itself.
    pieces = re.split(r"[\x00-/:-@\[-`{-\x7f\s]+", text.encode("utf-8", "replace").decode())
    return [piece for piece in pieces if piece]
