"""Import OpenAI's tools: Chat Completions, Responses, and the older bare functions."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolmd._import.functions import add_function, is_function, read_json
from toolmd._import.names import tool_name
from toolmd._import.policy import policy_of
from toolmd._import.report import ImportReport
from toolmd._types.imported import Imported

_AROUND = frozenset(("type", "function", "strict"))
_LISTS = ("tools", "functions", "function_declarations", "functionDeclarations")


def read(text: str, _name: str) -> Imported:
    """Read a JSON list of tools, one tool, or a request with tools."""
    report = ImportReport()
    value = read_json(text)
    report.note(
        "",
        "",
        "no version, category or result in this form: 1.0.0, `general`, any value",
    )
    found = [(entry, *function_of(entry)) for entry in entries(value)]
    names = [tool_name(function["name"]) for _, function, _ in found if function is not None]
    is_document = isinstance(value, Mapping) and not is_function(value) and "type" not in value
    around = {key: value[key] for key in value if key not in _LISTS} if is_document else {}
    policy, unread = policy_of(around, names)
    report.note_unread("", unread)
    for entry, function, strict in found:
        if function is None:
            report.reject(_kind(entry), "no function: only the host can run it")
            continue
        own = policy[tool_name(function["name"])]
        about = {} if function is entry else {k: v for k, v in entry.items() if k not in _AROUND}
        add_function({**about, **function}, report, strict=strict, policy=own)
    if not found:
        report.reject("", "no tool in it: expected a list of tools, or an object with `tools`")
    return report.close()


def entries(value: Any) -> Iterator[Any]:
    """Return each tool of a list, of an object with a list, or a single tool."""
    if isinstance(value, list):
        for item in value:
            has_list = isinstance(item, Mapping) and any(key in item for key in _LISTS)
            yield from entries(item) if has_list else [item]
    elif isinstance(value, Mapping):
        for key in _LISTS:
            if isinstance(value.get(key), list):
                yield from entries(value[key])
                return
        if is_function(value) or "type" in value:
            yield value


def function_of(entry: Any) -> tuple[Mapping[str, Any] | None, bool]:
    """Return the function within a tool of either form, and whether it is strict."""
    inner = entry
    if isinstance(entry, Mapping) and isinstance(entry.get("function"), Mapping):
        inner = entry["function"]
    if not is_function(inner):
        return None, False
    strict = inner.get("strict") is True or (
        isinstance(entry, Mapping) and bool(entry.get("strict"))
    )
    return inner, strict


def _kind(entry: Any) -> str:
    kind = entry.get("name") or entry.get("type") if isinstance(entry, Mapping) else None
    return str(kind or type(entry).__name__)
