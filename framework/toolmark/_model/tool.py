"""What a `.tool.md` file says."""

from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import JsonValue

from toolmark._model.definition import Definition, present
from toolmark._model.schema import Noun, Schema, object_schema


class Rule(Noun):
    """A condition over the arguments, and what to say when it does not hold."""

    expression: str
    """CEL over the parameters' names; must give a boolean."""
    message: str


class Safety(Noun):
    """What must be true before a call runs; a field that was not written is None."""

    min_confidence: float | None = None
    requires_confirmation: bool | None = None
    confirm_when: str | None = None
    sensitivity: Literal["low", "medium", "high", "critical"] | None = None
    explicit_intent: bool | None = None
    intent_keywords: tuple[str, ...] = ()
    escalate_when: str | None = None


class Rate(Noun):
    """At most `calls` starts in any window of `per_s` seconds."""

    calls: int
    per_s: float


class Batch(Noun):
    """Split the array `parameter` into pieces of at most `size` items."""

    parameter: str
    size: int


class Limits(Noun):
    """What a call may cost; durations in seconds, sizes in bytes."""

    timeout_s: float | None = None
    retries: int | None = None
    backoff_s: float | None = None
    rate: Rate | None = None
    max_rows: int | None = None
    max_bytes: int | None = None
    max_batch: Batch | None = None
    max_calls: int | None = None
    max_concurrent: int | None = None
    allowed_domains: tuple[str, ...] = ()


class Example(Noun):
    """A call that the author shows, and what must come of it."""

    title: str
    arguments: dict[str, JsonValue]
    has_result: bool = False
    result: JsonValue = None
    error: str | None = None
    """The code with which the call must be refused or fail."""


class ToolSpec(Definition):
    """What a `.tool.md` file says (format.md, "Tool file")."""

    kind: ClassVar[str] = "tool"
    """Always `tool`."""

    requires_auth: bool = False
    requires_patient_context: bool = False
    read_only: bool = False
    idempotent: Literal["yes", "no", "keyed"] = "no"
    unknown_parameters: Literal["reject", "ignore"] = "reject"
    returns: Schema
    """The shape of the result."""
    rules: tuple[Rule, ...] = ()
    """What must hold between the arguments."""
    # Constructed, since validating them would build validators whenever this file is imported.
    safety: Safety = Safety.model_construct()
    """What must be true before a call runs."""
    limits: Limits = Limits.model_construct()
    """What a call may cost."""
    examples: tuple[Example, ...] = ()
    """Calls that the author shows, which `toolmark test` makes."""

    @property
    def is_repeatable(self) -> bool:
        """Whether a second run of one call does no harm."""
        return self.read_only or self.idempotent != "no"

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Give the JSON Schema of the arguments."""
        return object_schema(self.parameters, open_=self.unknown_parameters == "ignore")

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Give the JSON Schema of the result."""
        return self.returns.json_schema

    def _own(self) -> dict[str, Any]:
        return {
            "requires_auth": self.requires_auth,
            "requires_patient_context": self.requires_patient_context,
            "read_only": self.read_only,
            "idempotent": self.idempotent,
            "unknown_parameters": self.unknown_parameters,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
            "rules": [r.model_dump() for r in self.rules],
            "safety": present(self.safety.model_dump(mode="json")),
            "limits": present(self.limits.model_dump(mode="json")),
            "examples": [_example(e) for e in self.examples],
        }


def _example(example: Example) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": example.title, "arguments": example.arguments}
    if example.has_result:
        shown["result"] = example.result
    if example.error is not None:
        shown["error"] = example.error
    return shown
