"""The schemas of the API's answers: JSON Schema 2020-12, as in docs/reference/json.md."""

from typing import Any, get_args

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
                                 "replaces": TEXTS, "form": OBJECT}, "prompt"),
        "run_id": TEXT, "waiting": _list("PendingCall"),
        "parts": {"type": "array", "items": OBJECT},
    }, "success", "tool", "outcome", "attempts", "duration_ms", "crisis"),
    "PendingCall": _object({
        "id": TEXT, "kind": {"enum": ["confirm", "review"]}, "tool_call_id": TEXT, "tool": TEXT,
        "parameters": OBJECT, "prompt": TEXT, "sensitivity": TEXT, "saves": TEXT,
        "form": OBJECT,
    }, "kind", "tool", "prompt"),
    "Turn": _object({
        "clean_message": TEXT, "results": _list("Result"), "pending": _list("PendingCall"),
        "dialect": TEXT, "messages": {"type": "array", "items": OBJECT},
    }, "clean_message", "results", "pending", "dialect", "messages"),
    "Confirmation": _object({
        "id": TEXT, "kind": {"enum": ["confirm", "review"]}, "tool_call_id": _or_null(TEXT),
        "tool": TEXT, "parameters": {}, "user": _or_null(TEXT), "prompt": TEXT,
        "sensitivity": TEXT, "created": NUMBER, "expires": _or_null(NUMBER),
        "state": {"enum": list(get_args(ConfirmationState))}, "saves": TEXT, "form": OBJECT,
    }, "id", "kind", "tool", "prompt", "created", "expires", "state"),
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
    "Fleet": _object({
        "workers": _rows(name=TEXT, alive=FLAG, runs=WHOLE),
        "queue": _object({"waiting": WHOLE, "since": _or_null(NUMBER)}, "waiting", "since"),
        "runs": {**OBJECT, "additionalProperties": WHOLE},
        "schedules": _rows(skill=TEXT, schedule=TEXT, last=_or_null(TEXT), next=TEXT),
        "limits": _rows(tool=TEXT, rate=_or_null(TEXT), last=_or_null(NUMBER),
                        max_concurrent=_or_null(WHOLE), running=WHOLE,
                        max_calls=_or_null(WHOLE), most_calls=WHOLE),
    }, "workers", "queue", "runs", "schedules", "limits"),
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
    "Health": _object({"status": {"enum": ["ok", "degraded"]}}, "status"),
    "Ready": _object({"status": {"enum": ["ready"]}}, "status"),
    "Document": _object({"openapi": TEXT, "paths": OBJECT}, "openapi", "paths"),
}  # fmt: skip
"""Schemas by the names that the operations use."""
