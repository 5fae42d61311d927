"""What a `.tool.md` file says."""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, JsonValue

from toolmark._model.schema import Noun, Parameter, Schema, object_schema
from toolmark._model.source import Source


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


class ToolSpec(Noun):
    """What the file says, whole; equal meaning gives equal specs (format.md, "Tool file")."""

    name: str
    title: str
    description: str
    notes: str = ""
    when_to_use: str = ""
    version: str
    category: str
    tags: tuple[str, ...] = ()
    requires_auth: bool = False
    requires_patient_context: bool = False
    read_only: bool = False
    idempotent: Literal["yes", "no", "keyed"] = "no"
    unknown_parameters: Literal["reject", "ignore"] = "reject"
    parameters: tuple[Parameter, ...] = ()
    returns: Schema
    rules: tuple[Rule, ...] = ()
    safety: Safety = Safety()
    limits: Limits = Limits()
    examples: tuple[Example, ...] = ()
    sections: dict[str, str] = Field(default_factory=dict)
    """Prose that no field holds, under the title of its section."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Metadata that Toolmark does not know."""
    source: Source

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Give the JSON Schema of the arguments."""
        return object_schema(self.parameters, open_=self.unknown_parameters == "ignore")

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Give the JSON Schema of the result."""
        return self.returns.json_schema

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Give the canonical JSON without `hash`, `source` and `implementation`."""
        return present(
            {
                "kind": "tool",
                "name": self.name,
                "title": self.title,
                "description": self.description,
                "notes": self.notes,
                "when_to_use": self.when_to_use,
                "version": self.version,
                "category": self.category,
                "tags": list(self.tags),
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
                "sections": self.sections,
                "extra": self.extra,
            }
        )

    @cached_property
    def hash(self) -> str:
        """Give the content hash: hex sha256 of the canonical JSON."""
        return content_hash(self.canonical)


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is absent: None, and empty text, lists and maps."""
    return {k: v for k, v in values.items() if v is not None and v not in ("", [], {}, ())}


def content_hash(canonical: Mapping[str, Any]) -> str:
    """Give the hex sha256 over the sorted, compact JSON of a definition."""
    text = json.dumps(canonical, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _example(example: Example) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": example.title, "arguments": example.arguments}
    if example.has_result:
        shown["result"] = example.result
    if example.error is not None:
        shown["error"] = example.error
    return shown
