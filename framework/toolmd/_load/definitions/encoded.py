"""Definitions as JSON: written whole, and read whole or as far as a call needs.

A spec is made by pydantic, which takes longer to import than a thousand tools take to open; so
the contract that a call is held to is read without it, from the same JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from pydantic_core import from_json

from toolmd._load.source.files import DefinitionKind
from toolmd._types.call_spec import Batch, Limits, Rate, Rule, Safety, ToolCallSpec
from toolmd._types.canonical import call_spec_json, canonical_json, content_hash, example_json
from toolmd._types.registry import AnySpec
from toolmd._types.schema import Parameter, Schema
from toolmd._types.source import Source


def encode(spec: AnySpec) -> bytes:
    """Return a spec as JSON; empty for what JSON can't hold, such as an unpaired surrogate."""
    try:
        return spec.model_dump_json(exclude_defaults=True).encode()
    except ValueError:
        return b""


def decode(kind: DefinitionKind, encoded: bytes) -> AnySpec:
    """Read what `encode` wrote; raises ValueError where that isn't a spec."""
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec

    noun = ToolSpec if kind == "tool" else SkillSpec
    return noun.model_validate_json(encoded, strict=True)


def decode_call_spec(encoded: bytes) -> ToolCallSpec:
    """Decode the part of a tool that its calls need; raises NONSENSE where it isn't a tool."""
    said = from_json(encoded)
    return ToolCallSpec(**_made({name: said[name] for name in _NAMES & said.keys()}, _PARTS))


def hash_of(call_spec: ToolCallSpec, encoded: bytes) -> str:
    """Return the content hash of a tool. Raises NONSENSE as decode_call_spec does."""
    said = from_json(encoded)
    examples = [example_json(**example) for example in said.get("examples", ())]
    own = {**call_spec_json(call_spec), "examples": examples}
    return content_hash(canonical_json("tool", said, own))


def _made(said: Mapping[str, Any], makers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    return {name: makers[name](v) if name in makers else v for name, v in said.items()}


def _schema(said: Mapping[str, Any]) -> Schema:
    return Schema(**_made(said, _OF_SCHEMA))


def _parameters(said: list[Mapping[str, Any]]) -> tuple[Parameter, ...]:
    return tuple(Parameter(**_made(one, {"shape": _schema})) for one in said)


def _limits(said: Mapping[str, Any]) -> Limits:
    return Limits(**_made(said, _OF_LIMITS))


def _safety(said: Mapping[str, Any]) -> Safety:
    return Safety(**_made(said, {"intent_keywords": tuple}))


def _rules(said: list[Mapping[str, str]]) -> tuple[Rule, ...]:
    return tuple(Rule(**rule) for rule in said)


_NAMES = {field.name for field in fields(ToolCallSpec)}
_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "parameters": _parameters,
    "requires_context": tuple,
    "source": Source._make,
    "returns": _schema,
    "rules": _rules,
    "safety": _safety,
    "limits": _limits,
}
_OF_SCHEMA: Mapping[str, Callable[[Any], Any]] = {
    "types": tuple,
    "enum": tuple,
    "items": _schema,
    "properties": _parameters,
    "values": _schema,
    "one_of": _parameters,
    "to_model": lambda said: None if said is None else tuple(said),
}
_OF_LIMITS: Mapping[str, Callable[[Any], Any]] = {
    "rate": lambda said: Rate(**said),
    "max_batch": lambda said: Batch(**said),
    "allowed_domains": tuple,
}
