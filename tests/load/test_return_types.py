"""What a function gives, by its return annotation, against Returns."""

import dataclasses
import datetime as dt
import decimal
import enum
import uuid
from collections import OrderedDict, deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Optional,
    Protocol,
    Union,
)

import pytest
from annotated import COLOURS, PLACE, Colour, Data, Name, of
from bind_project import Project
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    Field,
    RootModel,
    computed_field,
    field_serializer,
    model_serializer,
)
from typing_extensions import TypedDict
from workspace_of_return_types import called

from toolmd._load.fits import unwritable
from toolmd._types.parts import File, Image
from toolmd._types.result import Result
from toolmd._types.schema import Parameter, Schema


class Mixed(enum.Enum):
    RED = "red"
    ONE = 1


class Dict(TypedDict):
    city: str
    number: NotRequired[int]


class Whole(TypedDict):
    city: str
    number: int


class Whispered(Dict):
    message: str


@dataclasses.dataclass
class Maybe:
    city: str
    number: int | None = None


class Model(BaseModel):
    city: str = Field(alias="town")
    number: int = 0
    secret: bytes = Field(b"", exclude=True)


class Computed(BaseModel):
    city: str

    @computed_field
    def more(self) -> int:
        return 1


class Rewritten(BaseModel):
    city: int
    number: int = 0

    @field_serializer("city")
    def written(self, value: int) -> str:
        return str(value)


class Own(BaseModel):
    what: int

    @model_serializer
    def written(self) -> dict[str, str]:
        return {"city": "x"}


class Root(RootModel[list[int]]):
    pass


class Pair(NamedTuple):
    city: str
    number: int


class Odd(NamedTuple):
    city: "NoSuchClass"  # noqa: F821 - such annotations exist


class Unrelated:
    """No type of which JSON is made."""


class Shaped(Protocol):
    city: str


CERTAIN = of("object", properties=(Parameter(name="number", shape=of("integer"), required=True),))
STRINGS = of("array", items=of("string"))

FITS = [
    (of("string"), str),
    (of("string"), Name),
    (of("string"), dt.datetime),
    (of("string", format="date"), dt.date),
    (of("string"), decimal.Decimal),
    (of("string"), uuid.UUID),
    (of("string"), Annotated[str, "words"]),
    (of("string", format="email"), str),
    (COLOURS, str),
    (COLOURS, Colour),
    (COLOURS, Literal["red"]),
    (of("string", "integer"), Mixed),
    (of("integer"), int),
    (of("number"), int),
    (of("number"), float),
    (of("boolean"), bool),
    (of("null"), None),
    (of("string", "null"), Optional[str]),  # noqa: UP045
    (of(), int | None),
    (of("object"), dict),
    (of("object"), dict[str, object]),
    (PLACE, dict[str, Any]),
    (PLACE, dict[str, str | int]),
    (PLACE, Mapping[str, str]),
    (of("object"), OrderedDict[str, int]),
    (of("object", values=of("integer")), dict[str, int]),
    (PLACE, Dict),
    (PLACE, Whole),
    (PLACE, Data),
    (PLACE, Whispered),
    (PLACE, Model),
    (PLACE, Rewritten),
    (PLACE, Own),
    (of("object"), Computed),
    (PLACE, Any),
    (PLACE, object),
    (PLACE, Result),
    (of(), Image),
    (of("object"), File),
    (of("object", values=of("object", "string")), dict[str, Image | str]),
    (of("array", items=of("object")), list[Image]),
    (of("array"), list),
    (STRINGS, list[str]),
    (STRINGS, tuple[str, ...]),
    (STRINGS, set[str]),
    (STRINGS, Sequence[str]),
    (STRINGS, Iterator[str]),
    (STRINGS, Generator[str, None, None]),
    (STRINGS, deque[str]),
    (of("array", items=of("string", "integer")), Pair),
    (of("array"), Odd),
    (of("array"), Root),
    (of("array", items=PLACE), list[Data]),
    (STRINGS, Awaitable[list[str]]),
    (STRINGS, Coroutine[Any, Any, list[str]]),
]


@pytest.mark.parametrize(("shape", "annotation"), FITS)
def test_a_result_that_fits_is_not_reported(shape: Schema, annotation: Any) -> None:
    assert unwritable(shape, annotation, "sync") is None


@pytest.mark.parametrize(
    ("shape", "annotation", "says"),
    [
        (of("string"), int, "an integer, not a string"),
        (of("string"), None, "null"),
        (of("string"), Image, "an object, not a string"),
        (of("integer", "null"), str, "a string, not an integer or null"),
        (of("number"), decimal.Decimal, "a string"),
        (of("integer"), bool, "a boolean"),
        (of("string", format="date"), dt.datetime, "format date-time, not format date"),
        (COLOURS, Literal["green"], "'green'"),
        (of("integer"), Colour, "'red'"),
        (of("object"), list[str], "an array"),
        (of("object"), Pair, "an array"),
        (STRINGS, list[int], "among the items"),
        (STRINGS, Pair, "an integer"),
        (STRINGS, tuple[str, int], "an integer"),
        (of("object", values=of("string")), dict[str, int], "an integer"),
        (PLACE, dict[str, int], "as `city`"),
        (PLACE, Computed, "an object with `more`"),
        (CERTAIN, list, "an object"),
        (
            of("object", properties=(Parameter("zip", of("string"), required=True),)),
            TypedDict("No", {}),
            "without `zip`",
        ),
        (of("array", items=PLACE), list[Whispered], "`message`"),
        (
            of("object", properties=(Parameter("place", PLACE),)),
            TypedDict("In", {"place": int}),
            "as `place`",
        ),
    ],
)
def test_a_result_that_can_not_fit_is_an_error(shape: Schema, annotation: Any, says: str) -> None:
    found = unwritable(shape, annotation, "sync")

    assert found is not None
    assert not found.partly
    assert says in f"{found.what}, not {found.wanted}"


@pytest.mark.parametrize(
    ("shape", "annotation", "says"),
    [
        (of(), Unrelated, "unlike `Unrelated`"),
        (of("array"), list[Unrelated], "unlike `list["),
        (PLACE, Shaped, "unlike `Shaped`"),
        (of(), Callable[[], int], "Callable"),
        (of("string"), str | None, "null"),
        (of("integer"), float, "2.5"),
        (COLOURS, Literal["red", "green"], "'green'"),
        (of("string"), Mixed, "1"),
        (PLACE, Maybe, "as `number`"),
        (CERTAIN, TypedDict("Some", {"number": NotRequired[int]}), "without `number`"),
    ],
)
def test_a_result_that_may_fit_is_a_warning(shape: Schema, annotation: Any, says: str) -> None:
    found = unwritable(shape, annotation, "sync")

    assert found is not None
    assert found.partly
    assert says in f"{found.what}, not {found.wanted}"


def test_the_items_of_a_stream_are_compared() -> None:
    assert unwritable(PLACE, AsyncIterator[Data], "stream") is None
    assert unwritable(PLACE, AsyncIterator, "stream") is None
    assert unwritable(PLACE, AsyncIterator[int], "stream") is not None


@pytest.mark.parametrize(
    ("python", "severity"),
    [
        ("def one() -> bytes: ...", "error"),
        ("async def one() -> list[str]: ...", "error"),
        ("def one() -> dict | None: ...", "warning"),
        ("def one() -> Nowhere: ...", "warning"),
    ],
)
def test_a_result_is_reported_with_both_places(
    project: Project, python: str, severity: str
) -> None:
    project.tool("one", python=f"from __future__ import annotations\n\n{python}")

    (found,) = project.inspect("one")

    assert (found.code, found.severity) == ("type-drift", severity)
    assert "Python: tools_md/one.py:3" in found.message
    lines = (project.root / "tools_md/one.tool.md").read_text().splitlines()
    assert lines[found.span.line - 1] == "## Returns"


@pytest.mark.parametrize(
    "python",
    [
        "def one(): ...",
        "def one() -> dict[str, object]: ...",
        "async def one() -> dict: ...",
        "import typing\nasync def one() -> typing.AsyncIterator[dict]: yield {}",
        "from typing import Any\ndef one() -> Any: ...",
    ],
)
def test_a_result_that_fits_or_has_no_type_has_no_finding(project: Project, python: str) -> None:
    project.tool("one", python=python)

    assert project.inspect("one") == []


CASES: dict[str, list[tuple[Any, st.SearchStrategy[Any]]]] = {
    "string": [
        (str, st.text(max_size=3)),
        (dt.date, st.dates()),
        (decimal.Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
        (uuid.UUID, st.uuids()),
        (Colour, st.sampled_from(Colour)),
    ],
    "integer": [(int, st.integers()), (Literal[1, 2], st.sampled_from([1, 2]))],
    "number": [(float, st.floats(allow_nan=False, allow_infinity=False))],
    "boolean": [(bool, st.booleans())],
    "null": [(None, st.none())],
    "object": [
        (Whole, st.fixed_dictionaries({"city": st.text(max_size=3), "number": st.integers()})),
        (
            Dict,
            st.fixed_dictionaries(
                {"city": st.text(max_size=3)}, optional={"number": st.integers()}
            ),
        ),
        (Data, st.builds(Data, st.text(max_size=3), st.integers())),
        (Maybe, st.builds(Maybe, st.text(max_size=3), st.none() | st.integers())),
        (Model, st.builds(Model, town=st.text(max_size=3), number=st.integers())),
        (Computed, st.builds(Computed, city=st.text(max_size=3))),
    ],
    "array": [(Pair, st.builds(Pair, st.text(max_size=3), st.integers()))],
}
LEAVES = [case for cases in CASES.values() for case in cases]


@st.composite
def annotated(draw: st.DrawFn, depth: int = 2) -> tuple[Any, st.SearchStrategy[Any]]:
    """Give an annotation and the values of its type."""
    way = draw(st.sampled_from(["leaf", "list", "dict", "union"] if depth else ["leaf"]))
    if way == "leaf":
        return draw(st.sampled_from(LEAVES))
    annotation, values = draw(annotated(depth - 1))
    if way == "union":
        other, more = draw(annotated(depth - 1))
        return Union[annotation, other], values | more  # noqa: UP007
    if way == "list":
        return list[annotation], st.lists(values, max_size=2)
    return dict[str, annotation], st.dictionaries(st.text("k", max_size=2), values, max_size=2)


shapes = st.recursive(
    st.lists(st.sampled_from([*CASES]), max_size=3, unique=True).map(lambda kinds: of(*kinds))
    | st.sampled_from([PLACE, CERTAIN, STRINGS]),
    lambda inner: st.one_of(
        inner.map(lambda shape: of("array", items=shape)),
        inner.map(lambda shape: of("object", values=shape)),
    ),
    max_leaves=3,
)


@settings(max_examples=5 * settings.default.max_examples)
@given(shape=shapes, pair=annotated(), data=st.data())
def test_without_a_finding_every_value_of_the_type_passes(
    shape: Schema, pair: tuple[Any, st.SearchStrategy[Any]], data: st.DataObject
) -> None:
    annotation, values = pair
    # Which keys a dict has, its type does not say.
    assume("dict" not in str(annotation) or "properties=(" not in repr(shape))
    found = unwritable(shape, annotation, "sync")
    if found is None:
        assert called(shape, data.draw(values)) == ()


def tells_nothing(value: Any) -> bool:
    """Check whether a value fits more types than its own: it has no leaf."""
    items = value.values() if isinstance(value, dict) else value
    return isinstance(value, list | dict) and all(map(tells_nothing, items))


valued = annotated().flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1]))
"""An annotation, and a value of its type."""


@settings(max_examples=3 * settings.default.max_examples)
@given(shape=shapes, pair=valued)
@example(
    shape=of("object", values=of("array", items=CERTAIN)), pair=(dict[str, list[str]], {"k": []})
)
def test_with_an_error_no_value_of_the_type_passes(shape: Schema, pair: tuple[Any, Any]) -> None:
    annotation, value = pair
    found = unwritable(shape, annotation, "sync")
    if found is not None and not found.partly:
        assert tells_nothing(value) or called(shape, value)
