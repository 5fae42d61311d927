"""Part vectors into groups of one direction; the same vectors always part in the same way."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from toolmd_litreview.vectors import Matrix, normal

ROUNDS = 50
"""After so many rounds the groups are taken as they are."""
_PAPERS_A_GROUP = 20
_MOST_GROUPS = 12


def groups_for(count: int) -> int:
    """Give into how many groups so many papers are parted: 1 up to 44, 10 for 2,000."""
    return max(1, min(_MOST_GROUPS, round(sqrt(count / _PAPERS_A_GROUP))))


def part(rows: Matrix, groups: int) -> tuple[NDArray[np.intp], Matrix]:
    """Give each row's group and each group's centre; rows and centres have the length 1.

    Groups that would be empty are left out, so there may be fewer than asked for.
    """
    centres = _first_centres(rows, groups)
    belongs = np.full(len(rows), -1, dtype=np.intp)
    for _ in range(ROUNDS):
        nearest = np.argmax(rows @ centres.T, axis=1)
        if np.array_equal(nearest, belongs):
            break
        kept, belongs = np.unique(nearest, return_inverse=True)
        centres = normal(np.stack([rows[belongs == g].mean(axis=0) for g in range(len(kept))]))
    return belongs, centres


def _first_centres(rows: Matrix, groups: int) -> Matrix:
    """Choose rows that are far from one another, each with a chance that grows with distance."""
    chance = np.random.default_rng(0)
    chosen = [int(chance.integers(len(rows)))]
    far = np.full(len(rows), np.inf)
    while len(chosen) < min(groups, len(rows)):
        far = np.minimum(far, np.maximum(0, 1 - rows @ rows[chosen[-1]]).astype(np.float64))
        far[chosen] = 0
        if far.sum() <= 0:
            break
        chosen.append(int(chance.choice(len(rows), p=far / far.sum())))
    return rows[chosen]
