"""Compare what a server or a service has with what was accepted, and report the difference."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolmd._store.records import Pin
from toolmd._store.store import Store
from toolmd._types.call_spec import CallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity, Span
from toolmd._types.remote import Operation, read_operation, read_remote_tool
from toolmd._types.settings import ServiceSettings

_KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What a pin covers; the rest of a listed tool does not change what it does."""
_MAX_SHOWN = 200
_MOST_SHOWN = 20


def canonical(tool: Mapping[str, Any]) -> str:
    """Return the definition of a listed tool as JSON that does not depend on the keys' order."""
    kept = {key: tool[key] for key in _KEYS if tool.get(key) is not None}
    return _written(kept)


def _written(value: Any) -> str:
    # Python's own comparison takes 1, 1.0 and true for the same, also within a list.
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def differences(accepted: str, seen: str) -> tuple[str, ...]:
    """Return a line for each change from one canonical definition to another."""
    if not seen:
        return ("it is not listed exactly once any more",)
    found = list(_changes("", json.loads(accepted), json.loads(seen)))
    more = len(found) - _MOST_SHOWN
    return (*found[:_MOST_SHOWN], *([f"and {more} more changes"] if more > 0 else []))


def _changes(path: str, old: Any, new: Any) -> Iterator[str]:
    if _written(old) == _written(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            at = f"{path}.{key}" if path else key
            if key not in new:
                yield f"{at} was removed: {_shown(old[key])}"
            elif key not in old:
                yield f"{at} was added: {_shown(new[key])}"
            else:
                yield from _changes(at, old[key], new[key])
    else:
        yield f"{path} was {_shown(old)}, and is {_shown(new)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def names_of(accepted: str, parameters: Sequence[str]) -> Mapping[str, str]:
    """Return the server's name of each parameter that it has: its letters and digits are the same.

    A parameter that fits none or several of the server's is left out.
    """
    schema = json.loads(accepted).get("inputSchema")
    fields = schema.get("properties") if isinstance(schema, dict) else None
    known = fields if isinstance(fields, dict) else {}
    found = {}
    for name in parameters:
        alike = [one for one in known if _folded(one) == _folded(name)]
        if name in known:
            found[name] = name
        elif len(alike) == 1:
            found[name] = alike[0]
    if isinstance(schema, dict) and not known and schema.get("additionalProperties", True):
        return {name: name for name in parameters}
    return found


def _folded(name: str) -> str:
    return "".join(sign for sign in name if sign.isalnum()).casefold()


def pin_of(named_by: str, services: Mapping[str, ServiceSettings]) -> tuple[str, str] | None:
    """Return where the pin of an Implemented By is: its server or service, and its name there."""
    if (remote := read_remote_tool(named_by)) is not None:
        return remote.server, remote.tool
    if (operation := read_operation(named_by)) is not None:
        return f"[services.{name_of(operation, services)}]", key_of(operation)
    return None


def name_of(operation: Operation, tables: Mapping[str, ServiceSettings]) -> str:
    """Return the name of an operation's service: its own, or that of the only one."""
    return operation.service or (next(iter(tables)) if len(tables) == 1 else "")


def key_of(operation: Operation) -> str:
    """Return the key of an operation in its document: `GET /pets/{id}`."""
    return f"{operation.method} {operation.path}"


async def read_pins(store: Store, *names: tuple[str, str]) -> tuple[Pin | None, ...]:
    """Return the pin of each place and name there, as the store has it now."""
    known = store.pins.recent(*names)
    return await asyncio.to_thread(store.pins.get, *names) if known is None else known


def look(
    store: Store,
    place: str,
    files: Mapping[str, str],
    seen: Mapping[str, str],
    *,
    accept: bool = False,
) -> list[dict[str, Any]]:
    """Compare what a server or a service has with what was accepted; it blocks.

    Args:
        store: The project's store.
        place: The server or service, as `pin_of` names it.
        files: The tool of the project for each name there that a file names.
        seen: The definitions now, by name.
        accept: Whether to accept the definitions with a file as they are now.

    Returns:
        For each name `tool`, `file`, `state` (`accepted`, `changed` or `closed`) and `changes`,
        which with `accept` are those that were accepted.
    """
    before = store.pins.of(place)
    if accept:
        store.pins.accept(place, {name: seen.get(name, "") for name in files})
    pins = store.pins.see(place, seen, files)
    rows: list[dict[str, Any]] = []
    for name in {**files, **seen}:
        if name in files:
            changes = _changes_of(before.get(name), pins.get(name), seen.get(name, ""))
            state = "accepted" if (pin := pins.get(name)) and not pin.is_changed else "changed"
            rows.append({"tool": name, "file": files[name], "state": state, "changes": changes})
        else:
            rows.append({"tool": name, "file": None, "state": "closed", "changes": []})
    return rows


def _changes_of(before: Pin | None, pin: Pin | None, seen: str) -> list[str]:
    """Return the differences that wait, or those that were accepted now."""
    if pin is None:
        return [*differences("{}", seen)]
    if pin.is_changed:
        return [*differences(pin.accepted, pin.seen)]
    return [] if before is None else [*differences(before.accepted, pin.accepted)]


def changed_diagnostic(
    call_spec: CallSpec, what: str, name: str, changes: Sequence[str]
) -> Diagnostic:
    """Return the error of a tool whose server or service `name` changed `what`."""
    message = f"{what} since it was accepted: {'; '.join(changes)}"
    help_ = f"look at it, then `toolmd servers {name} --accept`; calls are denied"
    return diagnostic(call_spec, Code.CHANGED_REMOTE_TOOL, message, help_)


def unset_diagnostic(call_spec: CallSpec, variable: str, whose: str) -> Diagnostic:
    """Return the warning of an environment variable that a server or a service needs."""
    message = f"the environment variable {variable} is not set, which the {whose} needs"
    help_ = "set it where Toolmd runs; its calls fail until then"
    return diagnostic(call_spec, Code.UNSET_VARIABLE, message, help_, Severity.WARNING)


def diagnostic(
    call_spec: CallSpec, code: Code, message: str, help_: str, severity: Severity = Severity.ERROR
) -> Diagnostic:
    """Return a diagnostic at the title of a tool's file."""
    line = call_spec.source.line
    return Diagnostic(Span(call_spec.source.path, line, 1, line, 2), code, severity, message, help_)
