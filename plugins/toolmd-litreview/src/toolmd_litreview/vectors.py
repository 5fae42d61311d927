"""Store vectors as bytes, measure how close two of them are, and group them by direction."""

from collections.abc import Iterable, Sequence
from math import isfinite, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 1024
"""Numbers in a vector (seed 004)."""
Matrix: TypeAlias = NDArray[np.float32]
"""One vector per row."""


def is_vector(value: Any) -> bool:
    """Return whether JSON contains a vector of the right length, of finite numbers."""
    return (
        isinstance(value, list)
        and len(value) == DIMENSIONS
        and all(type(number) in (int, float) and isfinite(number) for number in value)
    )


def to_bytes(vector: Sequence[float] | Matrix) -> bytes:
    """Return a vector as float32, for SQLite and for memory."""
    return np.asarray(vector, dtype="<f4").tobytes()


def unit(rows: Iterable[bytes]) -> Matrix:
    """Return stored vectors as rows of length 1, so that a product is a cosine; zeros stay."""
    held = np.frombuffer(b"".join(rows), dtype="<f4").reshape(-1, DIMENSIONS)
    return normal(held)


def normal(rows: Matrix) -> Matrix:
    """Scale each row to the length 1; a row of zeros stays unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: Matrix = (rows / lengths).astype(np.float32)
    return scaled


def cosines(rows: Iterable[bytes], other: bytes) -> list[float]:
    """Return the cosine of each stored vector with the other, -1..1."""
    held = unit(rows)
    return [float(cosine) for cosine in np.clip(held @ unit([other])[0], -1, 1)]


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
