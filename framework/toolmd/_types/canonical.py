"""The canonical JSON of a tool and its hash, without pydantic, for the records of calls."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toolmd._types.call_spec import ToolCallSpec, written
from toolmd._types.schema import object_schema, plain_numbers


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Drop absent values: None, and empty text, lists and maps."""
    return {k: v for k, v in values.items() if v not in (None, "", [], {})}


def content_hash(canonical: Mapping[str, Any]) -> str:
    """Return the hex sha256 of the sorted, compact canonical JSON (format.md)."""
    text = json.dumps(canonical, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_json(kind: str, head: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the canonical JSON of a file without `hash`, `source` and `implementation`.

    `head` contains the fields of its head by name; those with a default may be absent.
    `own` is the part that only this kind has.
    """
    return present(
        {
            "kind": kind,
            "name": head["name"],
            "title": head["title"],
            "description": head["description"],
            "notes": head.get("notes"),
            "when_to_use": head.get("when_to_use"),
            "version": head["version"],
            "category": head["category"],
            "tags": list(head.get("tags", ())),
            **own,
            "sections": head.get("sections"),
            "extra": head.get("extra"),
        }
    )


def call_spec_json(tool: ToolCallSpec) -> dict[str, Any]:
    """Return the part of a tool that its calls are checked against, without its name."""
    return {
        "requires_auth": tool.requires_auth,
        "requires_context": list(tool.requires_context),
        "implemented_by": tool.implemented_by,
        "read_only": tool.read_only,
        "idempotent": tool.idempotent,
        "unknown_parameters": tool.unknown_parameters,
        "model_invocation": None if tool.model_invocation else False,
        "input_schema": object_schema(tool.parameters, open_=tool.unknown_parameters == "ignore"),
        "output_schema": tool.returns.json_schema,
        "given": [one.to_dict() for one in tool.given],
        "rules": [asdict(rule) for rule in tool.rules],
        "errors": [asdict(one) for one in tool.errors],
        "safety": written(tool.safety),
        "approvals": [one.to_dict() for one in tool.approvals],
        "allowed_roles": list(tool.allowed_roles),
        "limits": written(tool.limits),
    }


def example_json(
    title: str,
    arguments: Mapping[str, Any],
    *,
    has_result: bool = False,
    result: Any = None,
    error: str | None = None,
) -> dict[str, Any]:
    """Return an example call of a definition as JSON."""
    shown: dict[str, Any] = {"title": title, "arguments": plain_numbers(arguments)}
    if has_result:
        shown["result"] = plain_numbers(result)
    if error is not None:
        shown["error"] = error
    return shown
