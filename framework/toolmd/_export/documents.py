"""Write documents: the canonical JSON of a definition, a text for a prompt, and OpenAPI."""

from typing import Any, get_args

from toolmd._export.exported import Loss
from toolmd._export.function import (
    CONFIDENCE,
    SURE,
    Function,
    argument_lines,
    compact,
    loser,
    plain,
    type_of,
)
from toolmd._export.mcp import skill_result
from toolmd._types.model_view import seen_shape
from toolmd._types.registry import AnySpec, Bound
from toolmd._types.result import Outcome
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec

_LISTED = ("kind", "name", "title", "description", "version", "category", "tags", "source",
           "implementation")  # fmt: skip


def describe_bound(bound: Bound[Any]) -> dict[str, Any]:
    """Return the JSON of a tool or skill of a project (json.md, "A definition")."""
    return describe(bound.spec, bound.binding.kind, bound.binding.target)


def list_entry(bound: Bound[Any]) -> dict[str, Any]:
    """Return an entry for a list of tools and skills: no schemas, and whether it is stale."""
    described = describe_bound(bound)
    entry = {key: described[key] for key in _LISTED if key in described}
    return {**entry, "stale": True} if bound.stale else entry


def describe(spec: "AnySpec", kind: str, target: str) -> dict[str, Any]:
    """Return the JSON of a definition, with the kind and the place of its implementation."""
    if kind == "none" and isinstance(spec, SkillSpec) and spec.executable:
        kind = "steps"
    runs = {"kind": kind, "target": target} if target else {"kind": kind}
    source = {"path": spec.source.path, "line": spec.source.line}
    return {**spec.canonical, "hash": spec.hash, "source": source, "implementation": runs}


def prompt_part(function: Function, _losses: list[Loss]) -> str:
    """Return one tool's paragraph: its purpose, arguments, result and an example."""
    parts = [f"## {function.name}", function.description]
    if lines := argument_lines(function.parameters):
        parts.append("Arguments:\n" + "\n".join(lines))
    else:
        parts.append("No arguments.")
    spec = function.spec
    if isinstance(spec, ToolSpec):
        returned = seen_shape(spec.returns).json_schema
        parts.append(f"Returns {type_of(returned)}: {returned.get('description', '')}".rstrip(": "))
        parts += [
            f"Example ({example.title}): {compact(_with_confidence(function, example.arguments))}"
            for example in spec.examples
            if example.error is None
        ]
    return "\n\n".join(parts)


def prompt(items: list[str]) -> str:
    """Return the text of all tools."""
    return "# Tools\n\n" + "\n\n".join(items) + "\n" if items else "# Tools\n\nNone.\n"


def _with_confidence(function: Function, arguments: dict[str, Any]) -> dict[str, Any]:
    return (
        {**arguments, CONFIDENCE: SURE}
        if CONFIDENCE in function.parameters["properties"]
        else arguments
    )


def operation(function: Function, losses: list[Loss]) -> tuple[str, dict[str, Any]]:
    """Return the path of a function and its one operation."""
    spec = function.spec
    lose = loser(losses, spec.name)
    if isinstance(spec, SkillSpec):
        path, key = f"/api/skills/{function.name}/run", "inputs"
        data = skill_result(spec)["properties"]["data"]
    else:
        path, key = f"/api/tools/{function.name}/call", "arguments"
        data = plain(spec.output_schema, lambda path, what: lose(f"returns {path}".strip(), what))
    answer = {"description": "The result, whatever its outcome.", "content": _json(_result(data))}
    written = {
        "operationId": function.name,
        "summary": spec.title,
        "description": function.description,
        "tags": [spec.category],
        "requestBody": {"required": True, "content": _json(_request(function, key))},
        "responses": {
            "200": answer,
            "default": {"$ref": "#/components/responses/Problem"},
        },
    }
    return path, {"post": written}


def openapi(items: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return the whole document, `openapi` first."""
    problem = {
        "type": "object",
        "description": "RFC 9457 problem details.",
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
        },
    }
    answer = {
        "description": "The request can't be read, or is not allowed.",
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        },
    }
    return {
        "openapi": "3.1.1",
        "info": {"title": "Toolmd", "version": "1"},
        "security": [{"token": []}],
        "paths": dict(items),
        "components": {
            "schemas": {"Problem": problem},
            "responses": {"Problem": answer},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _request(function: Function, key: str) -> dict[str, Any]:
    arguments = dict(function.parameters)
    asked = CONFIDENCE in arguments["properties"]
    if asked:
        # Over HTTP the confidence is a field next to the arguments, not one of them.
        arguments["properties"] = {
            k: v for k, v in arguments["properties"].items() if k != CONFIDENCE
        }
        arguments["required"] = [n for n in arguments["required"] if n != CONFIDENCE]
    fields: dict[str, Any] = {
        key: arguments,
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "message": {"type": "string", "description": "The user's own words."},
    }
    if key == "arguments":
        fields["dry_run"] = {"type": "boolean"}
    required = [key, "confidence"] if asked else [key]
    closed = {"additionalProperties": False}
    return {"type": "object", "properties": fields, "required": required, **closed}


def _result(data: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a Result, shared by calls and runs, with this schema of its data."""
    outcomes = [*get_args(Outcome)]
    return {
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "tool": {"type": "string"},
            "outcome": {"type": "string", "enum": outcomes},
            "message": {"type": "string"},
            "data": data,
            "error": {"type": "object"},
        },
        "required": ["success", "tool", "outcome"],
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
