"""Types by which the tests annotate, and shapes that values of them fit."""

import dataclasses
import enum
from typing import Any, NewType

from toolmd._types.schema import Parameter, Schema

Name = NewType("Name", str)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Data:
    city: str
    number: int = 0


def of(*types: str, **more: Any) -> Schema:
    return Schema(types=types, **more)


PLACE = of(
    "object",
    properties=(
        Parameter(name="city", shape=of("string"), required=True),
        Parameter(name="number", shape=of("integer")),
    ),
)
COLOURS = of("string", enum=("red", "blue"))
