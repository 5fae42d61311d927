"""Export an OpenAPI 3.1 document of the tools behind `toolmd serve --transport http`."""

from typing import Any, get_args

from toolmd._export.exported import Loss
from toolmd._export.function import CONFIDENCE, Function, loser
from toolmd._export.mcp import skill_result
from toolmd._export.names import MCP
from toolmd._export.plain import plain
from toolmd._types.result import Outcome
from toolmd._types.skill import SkillSpec

RULE = MCP


def item(function: Function, losses: list[Loss]) -> tuple[str, dict[str, Any]]:
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
    operation = {
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
    return path, {"post": operation}


def document(items: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
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
