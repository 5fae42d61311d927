"""Name a group of papers by the words that distinguish its titles."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

WORDS = 3
"""Number of words in a label."""
_SHORTEST = 3
_EVERYWHERE = frozenset(
    "about after against all among analysis and are associated association based because before "
    "between both but can clinical cohort comparison compared controlled does during early effect "
    "effectiveness effects efficacy evaluation evidence following for from has have how impact "
    "into its long may meta more most new not non one other our outcome outcomes over patient "
    "patients protocol randomised randomized report results review risk role study systematic "
    "term than that the their these this through time treatment trial trials two under use used "
    "using versus was were what when which who with within without".split()
)


def labels_of(groups: Sequence[Sequence[str]]) -> list[str]:
    """Return a label for each group of titles; `papers` without a distinctive word."""
    held = [[frozenset(title_words(title)) for title in titles] for titles in groups]
    everywhere = Counter(word for titles in held for words in titles for word in words)
    total = sum(len(titles) for titles in held)
    return [_label(titles, everywhere, total) for titles in held]


def _label(titles: Iterable[frozenset[str]], everywhere: Counter[str], total: int) -> str:
    here = Counter(word for words in titles for word in words)
    # In a single group every word occurs everywhere, so rarity must not make its weight zero.
    weight = {word: n * (0.1 + math.log(total / everywhere[word])) for word, n in here.items()}
    best = sorted(weight, key=lambda word: (-weight[word], word))[:WORDS]
    return " ".join(best) or "papers"


def title_words(title: str) -> Iterator[str]:
    """Return the words that say what a text is about."""
    text = "".join(c if c.isalnum() or c == "-" else " " for c in title.casefold())
    for word in text.split():
        bare = word.strip("-")
        if len(bare) >= _SHORTEST and bare not in _EVERYWHERE and not bare.isdecimal():
            yield bare
