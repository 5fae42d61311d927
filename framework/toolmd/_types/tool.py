"""What a `.tool.md` file says."""

from functools import cached_property
from typing import Any, ClassVar

from pydantic import JsonValue

from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.canonical import call_spec_json, example_json
from toolmd._types.definition import FileSpec, Noun
from toolmd._types.schema import object_schema


class Example(Noun):
    """A call that the author shows, and what must come of it."""

    title: str
    arguments: dict[str, JsonValue]
    has_result: bool = False
    result: JsonValue = None
    error: str | None = None
    """The code with which the call must be denied or fail."""


class ToolSpec(FileSpec, ToolCallSpec):
    """What a `.tool.md` file says, whole (format.md, "Tool file").

    What of it a call is held to are the fields of its contract.
    """

    kind: ClassVar[str] = "tool"
    """Always `tool`."""

    examples: tuple[Example, ...] = ()
    """Calls that the author shows, which `toolmd test` makes."""

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
