"""Store vectors as bytes, and measure how close two of them are."""

from collections.abc import Iterable, Sequence
from math import isfinite
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
