"""The content of a `.tool.md` file, and the part that tools and skills share."""

from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.canonical import call_spec_json, canonical_json, content_hash, example_json
from toolmd._types.field import Row
from toolmd._types.schema import object_schema


class Noun(BaseModel):
    """A frozen model that forbids unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class FileSpec(Noun, CallSpec):
    """The content of a definition file; files with equal meaning give equal specs (format.md).

    `CallSpec` declares the fields that a call needs; pydantic inherits them.
    """

    kind: ClassVar[str]
    """`tool` or `skill`."""

    title: str
    """The heading of the file."""
    description: str
    notes: str = ""
    """The paragraphs behind the description."""
    when_to_use: str = ""
    """The text of the section of that name, for the model."""
    version: Annotated[
        str, Row("line", "The version. It is kept as text: `1.10` stays `1.10`.", "1.0.0")
    ]
    category: Annotated[str, Row("line", "A word that groups the file with others.", "general")]
    tags: Annotated[
        tuple[str, ...],
        Row(
            "list",
            "Words by which people can find the file.",
            aliases=("Tag", "Labels", "Keywords"),
        ),
    ] = ()
    sections: dict[str, str] = Field(default_factory=dict)
    """Prose that belongs to no field, by the title of its section."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Metadata keys that Toolmd does not know."""

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Return the canonical JSON without `hash`, `source` and `implementation`."""
        return canonical_json(self.kind, vars(self), self._own())

    @cached_property
    def hash(self) -> str:
        """Return the content hash: hex sha256 of the sorted, compact canonical JSON."""
        return content_hash(self.canonical)

    def _own(self) -> dict[str, Any]:
        """Return the part of the canonical JSON that only this kind has."""
        raise NotImplementedError


class Example(Noun):
    """An example call, with its expected result or error."""

    title: str
    arguments: dict[str, JsonValue]
    has_result: bool = False
    result: JsonValue = None
    error: str | None = None
    """The expected code of the denial or failure."""


class ToolSpec(FileSpec, ToolCallSpec):
    """The content of a `.tool.md` file (format.md, "Tool file").

    Calls are checked against the fields that `ToolCallSpec` declares.
    """

    kind: ClassVar[str] = "tool"
    """Always `tool`."""

    examples: tuple[Example, ...] = ()
    """The example calls, which `toolmd test` runs."""

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return object_schema(self.parameters, open_=self.unknown_parameters == "ignore")

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the result."""
        return self.returns.json_schema

    def _own(self) -> dict[str, Any]:
        return {**call_spec_json(self), "examples": [_example(e) for e in self.examples]}


def _example(one: Example) -> dict[str, Any]:
    has, result, error = one.has_result, one.result, one.error
    return example_json(one.title, one.arguments, has_result=has, result=result, error=error)
