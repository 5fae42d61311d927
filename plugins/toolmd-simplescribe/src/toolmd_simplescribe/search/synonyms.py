"""Widen a query by words that mean the same: abbreviations, brand names, everyday words."""

import os
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Final

from toolmd import ConfigError

VARIABLE: Final = "SIMPLESCRIBE_SYNONYMS"
"""The environment variable that names a file of your own, which is added to ours."""
_MOST: Final = 24
"""Number of synonyms that a query is widened by."""


class Synonyms:
    """Groups of terms that mean the same."""

    def __init__(self, groups: Iterable[Iterable[str]]) -> None:
        """Index the groups by term; a term may be in several."""
        self._groups: dict[str, list[tuple[str, ...]]] = {}
        for group in groups:
            terms = tuple(dict.fromkeys(" ".join(term.casefold().split()) for term in group))
            for term in terms:
                self._groups.setdefault(term, []).append(terms)
        self._longest = max((term.count(" ") + 1 for term in self._groups), default=0)

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


def synonyms_of(environ: Mapping[str, str] = os.environ) -> Synonyms:
    """Return the package's synonyms with those of the file that the environment names.

    Raises ConfigError for a file that can't be read.
    """
    ours = (files("toolmd_simplescribe.search") / "synonyms.txt").read_text("utf-8")
    if not (named := environ.get(VARIABLE, "").strip()):
        return Synonyms(_groups(ours))
    try:
        own = Path(named).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"environment: {VARIABLE}: {named} can't be read: {error}") from None
    return Synonyms([*_groups(ours), *_groups(own)])


def _groups(text: str) -> list[list[str]]:
    """Read one group a line, its terms between commas; `#` begins a comment."""
    lines = (line.partition("#")[0] for line in text.splitlines())
    groups = ([term.strip() for term in line.split(",") if term.strip()] for line in lines)
    return [group for group in groups if len(group) > 1]
