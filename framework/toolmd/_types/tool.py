"""The content of a `.tool.md` file."""

from functools import cached_property
from typing import Any, ClassVar

from pydantic import JsonValue

from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.canonical import call_spec_json, example_json
from toolmd._types.definition import FileSpec, Noun
from toolmd._types.schema import object_schema


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
