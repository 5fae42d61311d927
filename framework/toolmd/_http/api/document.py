"""Build the OpenAPI 3.1 document: the operations, and a path for each tool and skill."""

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from toolmd._http.api.errors import PROBLEM
from toolmd._http.api.operation import Number, Operation, Text
from toolmd._http.api.rights import ANY, OPEN
from toolmd._http.api.schemas import SCHEMAS

_DENIALS = {
    400: "The request could not be read.",
    401: "The token is missing or not valid.",
    403: "The Origin or the context is not allowed, or the token lacks a right.",
    404: "The resource does not exist.",
    408: "The body did not arrive in time.",
    413: "The body is larger than 512 KiB.",
    415: "The body is not application/json.",
    421: "The server does not answer to this Host.",
    500: "The server failed; the detail has the reference of the log entry.",
    503: "The server is shutting down or busy, or can't reach its store.",
}
_GATE = (403, 421, 500)
"""Statuses that every route may answer."""
HEADERS = (
    ("Toolmd-Context-Patient", "A fact about the caller; the token must allow its value."),
    ("Toolmd-Conversation", "The conversation whose calls Max Calls counts together."),
)


def document(operations: Iterable[Operation], called: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document; `called` are the paths of the current tools and skills."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    for path, methods in called.items():
        paths[path] = {method: _of_a_tool(one) for method, one in methods.items()}
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Toolmd",
            "version": version("toolmd"),
            "description": "The tools and skills of a project, called through one call pipeline.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "responses": {"Problem": _problem("Problem details; `code` is stable.")},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: Operation) -> dict[str, Any]:
    statuses = {*_GATE, *operation.problems}
    if operation.body is not None:
        statuses |= {415, 503}
    open_ = operation.needs == OPEN
    if not open_:
        statuses |= {400, 401}
    told: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "responses": {
            str(operation.status): _given(operation),
            **{str(status): _problem(_DENIALS[status]) for status in sorted(statuses)},
        },
    }
    if operation.id == "runSkill":
        told["responses"]["202"] = _answer("Started", "It runs; the Location shows its progress.")
    if operation.tagged:
        told["responses"]["304"] = {"description": "The client has the current version (ETag)."}
    if described := " ".join(filter(None, (operation.details, rights_of(operation)))):
        told["description"] = described
    parameters = [*_places(operation.path), *map(_asked, operation.query)]
    if not open_:
        parameters += [
            {"name": name, "in": "header", "description": text, "schema": {"type": "string"}}
            for name, text in HEADERS
        ]
    if parameters:
        told["parameters"] = parameters
    if operation.body is not None:
        told["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": operation.body.model_json_schema()}},
        }
    if open_:
        told["security"] = []
    return told


def rights_of(operation: Operation) -> str:
    """Return a sentence about the rights that an operation needs; empty if any token will do."""
    return "" if operation.needs in {OPEN, ANY} else f"The token needs `{operation.needs}`."


def _of_a_tool(exported: dict[str, Any]) -> dict[str, Any]:
    """Return the operation of one tool, with an id of its own."""
    return {**exported, "operationId": f"call_{exported['operationId']}"}


def _given(operation: Operation) -> dict[str, Any]:
    if not operation.gives:
        return {"description": "Done."}
    return _answer(operation.gives, operation.summary, operation.kind)


def _answer(name: str, text: str, kind: str = "application/json") -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{name}"}
    return {"description": text, "content": {kind: {"schema": schema}}}


def _problem(text: str) -> dict[str, Any]:
    return _answer("Problem", text, PROBLEM)


def _places(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _asked(query: Number | Text) -> dict[str, Any]:
    if isinstance(query, Number):
        schema: dict[str, Any] = {
            "type": "integer",
            "minimum": query.least,
            "maximum": query.most,
            "default": query.default,
        }
    elif query.repeatable:
        schema = {"type": "array", "items": {"type": "string"}}
    else:
        schema = {"type": "string"}
    return {"name": query.name, "in": "query", "description": query.summary, "schema": schema}
