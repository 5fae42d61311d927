"""Group vectors by direction, deterministically."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from toolmd_litreview.vectors import Matrix, normal

ROUNDS = 50
"""Number of rounds after which the groups are final."""
_PAPERS_A_GROUP = 20
_MOST_GROUPS = 12


def groups_for(count: int) -> int:
    """Return the number of groups for a number of papers: 1 up to 44, 10 for 2,000."""
    return max(1, min(_MOST_GROUPS, round(sqrt(count / _PAPERS_A_GROUP))))


def part(rows: Matrix, groups: int) -> tuple[NDArray[np.intp], Matrix]:
    """Return each row's group and each group's centre; rows and centres have the length 1.

    Empty groups are left out, so fewer groups than requested may be returned.
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
    """Choose rows far from each other, with a probability that grows with distance."""
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
