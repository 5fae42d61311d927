"""Build the OpenAPI 3.1 document: operations, answers, and a path for each tool and skill."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, get_args

from pydantic import BaseModel

from toolmd._http.operations import ANY, OPEN, OPERATIONS, PROBLEM, Operation
from toolmd._types.confirmation import ConfirmationState
from toolmd._types.result import Outcome
from toolmd._types.run import RunState

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
WHOLE: dict[str, Any] = {"type": "integer"}
FLAG: dict[str, Any] = {"type": "boolean"}
OBJECT: dict[str, Any] = {"type": "object"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _ref(name)}


def _rows(**columns: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(columns, *columns)}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


_PROBLEM = _object({"path": TEXT, "message": TEXT}, "path", "message")
_SOURCE = _object({"path": TEXT, "line": WHOLE}, "path", "line")
_EDIT = _object({"line": WHOLE, "column": WHOLE, "end_line": WHOLE, "end_column": WHOLE,
                 "text": TEXT}, "line", "column", "end_line", "end_column", "text")  # fmt: skip

SCHEMAS: dict[str, dict[str, Any]] = {
    "Problem": {
        **_object({"type": TEXT, "title": TEXT, "status": WHOLE, "detail": TEXT,
                   "code": TEXT, "errors": {"type": "array", "items": _PROBLEM},
                   "result": _ref("Result")}, "type", "title", "status", "detail", "code"),
        "description": "RFC 9457 problem details; `code` is stable, the text is not.",
    },
    "Entry": _object({
        "kind": {"enum": ["tool", "skill"]}, "name": TEXT, "title": TEXT, "description": TEXT,
        "version": TEXT, "category": TEXT, "tags": TEXTS, "source": _SOURCE,
        "implementation": OBJECT, "stale": FLAG,
    }, "kind", "name", "source", "implementation"),
    "Entries": _list("Entry"),
    "Definition": {
        **_object({"kind": {"enum": ["tool", "skill"]}, "name": TEXT, "hash": TEXT,
                   "input_schema": OBJECT, "source": _SOURCE, "implementation": OBJECT,
                   "stale": FLAG, "diagnostics": _list("Diagnostic")},
                  "kind", "name", "hash", "source", "implementation", "stale", "diagnostics"),
        "description": "The canonical JSON; docs/reference/json.md lists more keys.",
    },
    "Failure": _object({
        "code": TEXT, "message": TEXT, "retry_after_ms": WHOLE,
        "details": {"type": "array", "items": _object(
            {"code": TEXT, "path": TEXT, "message": TEXT, "expected": TEXT, "got": TEXT},
            "code", "path", "message")},
    }, "code", "message"),
    "Result": _object({
        "success": FLAG, "tool_call_id": TEXT, "tool": TEXT,
        "outcome": {"enum": list(get_args(Outcome))}, "message": TEXT, "data": {},
        "error": _ref("Failure"), "truncated": OBJECT, "attempts": WHOLE, "duration_ms": NUMBER,
        "crisis": FLAG, "api_offline": FLAG, "notes": TEXTS, "source": OBJECT,
        "confirmation": _object({"id": TEXT, "prompt": TEXT, "sensitivity": TEXT,
                                 "replaces": TEXTS, "form": OBJECT, "code": TEXT}, "prompt"),
        "run_id": TEXT, "waiting": _list("Confirmation"),
        "parts": {"type": "array", "items": OBJECT},
    }, "success", "tool", "outcome", "attempts", "duration_ms", "crisis"),
    "Turn": _object({
        "clean_message": TEXT, "results": _list("Result"), "pending": _list("Confirmation"),
        "dialect": TEXT, "messages": {"type": "array", "items": OBJECT},
    }, "clean_message", "results", "pending", "dialect", "messages"),
    "Confirmation": _object({
        "id": TEXT, "kind": {"enum": ["confirm", "review"]}, "tool_call_id": TEXT,
        "tool": TEXT, "parameters": OBJECT, "user": TEXT, "prompt": TEXT,
        "sensitivity": TEXT, "created": NUMBER, "expires": NUMBER,
        "state": {"enum": list(get_args(ConfirmationState))}, "saves": TEXT, "form": OBJECT,
        "code": TEXT, "can_approve": FLAG,
    }, "kind", "tool", "prompt", "state"),
    "Confirmations": _list("Confirmation"),
    "Started": _object({"run_id": TEXT}, "run_id"),
    "Run": _object({
        "id": TEXT, "skill": TEXT, "state": {"enum": list(get_args(RunState))}, "inputs": OBJECT,
        "began": TEXT, "steps": {"type": "array", "items": OBJECT},
        "questions": {"type": "array", "items": OBJECT},
        "result": _or_null(_ref("Result")),
    }, "id", "skill", "state", "inputs", "began", "steps", "questions", "result"),
    "Runs": _list("Run"),
    "Diagnostic": _object({
        "path": TEXT, "line": WHOLE, "column": WHOLE, "end_line": WHOLE, "end_column": WHOLE,
        "code": TEXT, "severity": {"enum": ["error", "warning", "hint"]}, "message": TEXT,
        "help": _or_null(TEXT), "fix": {"type": "array", "items": _EDIT},
    }, "path", "line", "column", "end_line", "end_column", "code", "severity", "message", "help",
       "fix"),
    "Diagnostics": _list("Diagnostic"),
    "PendingChange": _object({
        "name": TEXT, "kind": {"enum": ["tool", "skill"]}, "path": TEXT, "line": WHOLE,
        "weakened": {"type": "array", "items": _object({"place": TEXT, "before": {}, "after": {}},
                                                       "place", "before", "after")},
        "diff": TEXT,
    }, "name", "kind", "path", "line", "weakened", "diff"),
    "PendingChanges": _list("PendingChange"),
    "Crisis": _object({"conversation": TEXT, "user": _or_null(TEXT), "since": NUMBER},
                      "conversation", "user", "since"),
    "Crises": _list("Crisis"),
    "Cleared": _object({"conversation": TEXT, "user": _or_null(TEXT)}, "conversation", "user"),
    "Export": _object({"target": TEXT, "items": {}, "losses": TEXTS}, "target", "items", "losses"),
    "Decision": _object({"id": TEXT, "number": WHOLE, "file": TEXT, "hash": TEXT, "at": TEXT,
                         "decision": TEXT, "tool": TEXT},
                        "id", "number", "file", "hash", "at", "decision"),
    "Decisions": _list("Decision"),
    "Verified": _object({"sound": FLAG, "records": WHOLE, "file": _or_null(TEXT),
                         "first_bad": _or_null(WHOLE), "problem": TEXT},
                        "sound", "records", "file", "first_bad", "problem"),
    "Events": {**TEXT, "description": "A stream of server-sent events."},
    "CallerFacts": _object({"user": _or_null(TEXT), "roles": TEXTS, "context": OBJECT, "may": TEXTS,
                            "project": TEXT, "trust_edits": FLAG}, "user", "context", "may"),
    "Picture": {**TEXT, "description": "An SVG."},
    "RunEvents": _rows(run_id=TEXT, kind=TEXT, skill=TEXT, step=TEXT, title=TEXT, text=TEXT),
    "Health": _object(
        {"status": {"enum": ["ok"]}, "pending_changes": {"type": "integer"}},
        "status", "pending_changes",
    ),
    "Ready": _object(
        {"status": {"enum": ["ready"]}, "pending_changes": {"type": "integer"},
         "broken_files": {"type": "integer"}, "policy": {"type": "string"}},
        "status", "pending_changes", "broken_files", "policy",
    ),
    "Document": _object({"openapi": TEXT, "paths": OBJECT}, "openapi", "paths"),
}  # fmt: skip
"""The schemas of answers (JSON Schema 2020-12), by the names that the operations use."""

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
_HEADERS = (
    ("Toolmd-User", "Another user to call for; the token must have `act_as`."),
    ("Toolmd-Roles", "The roles of that user, separated by commas; the token must allow them."),
    ("Toolmd-Conversation", "The conversation, for a Quota per conversation."),
)


def document(called: Mapping[str, Any], facts: Iterable[str] = ()) -> dict[str, Any]:
    """Return the document.

    Args:
        called: The paths of the current tools and skills.
        facts: The names of the facts that a request may state.
    """
    about = "A fact about the caller; the token must allow its value."
    named = [(f"Toolmd-Context-{one.replace('_', '-').title()}", about) for one in sorted(facts)]
    paths: dict[str, Any] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method.lower()] = describe(one, named)
    for path, methods in called.items():
        paths[path] = {
            method: {**own, "operationId": f"call_{own['operationId']}"}
            for method, own in methods.items()
        }
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
            "responses": {"Problem": _answer("Problem", "Problem details.", PROBLEM)},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def describe_text(one: Operation, *, with_right: bool = True) -> tuple[str, str]:
    """Return the summary of an operation and its details, with the right that it needs."""
    summary, _, details = (one.act.__doc__ or "").partition("\n")
    states = with_right and one.needs not in {OPEN, ANY}
    needs = f"The token needs `{one.needs}`." if states else ""
    return summary, " ".join([*details.split(), *needs.split()])


def describe(one: Operation, facts: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return an operation as the document has it, with the headers of these facts."""
    summary, details = describe_text(one)
    is_open = one.needs == OPEN
    responses: dict[str, Any] = {
        str(int(one.status)): _answer(one.gives, summary, one.kind)
        if one.gives
        else {"description": "Done."}
    }
    if one.id == "runSkill":
        responses["202"] = _answer("Started", "It runs; the Location shows its progress.")
    for status in sorted(_statuses(one)):
        responses[str(status)] = _answer("Problem", _DENIALS[status], PROBLEM)
    described: dict[str, Any] = {"operationId": one.id, "summary": summary, "responses": responses}
    if details:
        described["description"] = details
    described["parameters"] = [
        *({"name": name, "in": "path", "required": True, "schema": TEXT}
          for name in re.findall(r"{(\w+)}", one.path)),
        *_query(one.query),
        *({"name": name, "in": "header", "description": text, "schema": TEXT}
          for name, text in (*_HEADERS, *facts) if not is_open),
    ]  # fmt: skip
    if one.body is not None:
        content = {"application/json": {"schema": one.body.model_json_schema()}}
        described["requestBody"] = {"required": True, "content": content}
    if is_open:
        described["security"] = []
    return described


def _statuses(one: Operation) -> set[int]:
    """Return the statuses of an operation's errors."""
    statuses = {403, 421, 500, 503, *one.problems}
    if one.needs != OPEN:
        statuses |= {400, 401}
    if "{" in one.path or (one.query is not None and "after" in one.query.model_fields):
        statuses.add(404)
    return statuses if one.body is None else {*statuses, 400, 408, 413, 415}


def _query(kind: type[BaseModel] | None) -> list[dict[str, Any]]:
    fields = {} if kind is None else kind.model_json_schema()["properties"]
    return [
        {
            "name": name,
            "in": "query",
            "description": field["description"],
            "schema": field.get("anyOf", [field])[0],
        }
        for name, field in fields.items()
    ]


def _answer(name: str, text: str, kind: str = "application/json") -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{name}"}
    return {"description": text, "content": {kind: {"schema": schema}}}
