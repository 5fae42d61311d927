"""Bind a tool to an operation of a web service, and report what does not fit."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from toolmd._egress import Approved
from toolmd._remote.http.encode import encoder_of
from toolmd._remote.http.operation_call import CONTEXT, OperationCall
from toolmd._remote.http.slots import Problem, slots_of
from toolmd._remote.services import Services, name_of
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.operation import Operation
from toolmd._types.registry import Binding, Implementation
from toolmd._types.settings import ServiceSettings
from toolmd._types.source import Span
from toolmd.config.services import variables_of
from toolmd.errors import ImplementationError, did_you_mean

_PORTS = {"http": 80, "https": 443}


def bind_operation(
    operation: Operation,
    call_spec_of: Callable[[], CallSpec],
    services: Services,
) -> Binding:
    """Bind a tool to an operation; nothing is sent before a call."""

    def load() -> Implementation:
        call_spec = _tool(call_spec_of())
        service, call, problems = _bound(operation, call_spec, services)
        if problems or call is None or service is None:
            message = f"{call_spec.name} does not fit {operation}: "
            message += "; ".join(f"{one.message} ({one.help})" for one in problems)
            raise ImplementationError(message, diagnostics=_told(call_spec, problems))
        return _implementation(call, services)

    def inspect() -> tuple[Diagnostic, ...]:
        call_spec = _tool(call_spec_of())
        service, _, problems = _bound(operation, call_spec, services)
        unset = [v for v in variables_of(service) if not os.environ.get(v)] if service else []
        changed = () if service is None else _changed(call_spec, operation, services)
        return (*_told(call_spec, problems), *(_unset(call_spec, name) for name in unset), *changed)

    def ready() -> bool:
        return not _bound(operation, _tool(call_spec_of()), services)[2]

    return Binding("remote", str(operation), load, inspect, ready, lambda _seconds: True)


def _tool(call_spec: CallSpec) -> ToolCallSpec:
    assert isinstance(call_spec, ToolCallSpec)  # only a tool's file has Implemented By
    return call_spec


def _bound(
    operation: Operation, call_spec: ToolCallSpec, services: Services
) -> tuple[ServiceSettings | None, OperationCall | None, tuple[Problem, ...]]:
    """Return the service, the call, and everything that does not fit."""
    service = services.tables.get(name_of(operation, services.tables))
    if service is None:
        return None, None, (_no_service(operation, services.tables),)
    slots, problems = slots_of(operation, call_spec, service)
    parts = urlsplit(service.url)
    domains = call_spec.limits.allowed_domains
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if domains and Approved("", domains).permit(host, port, parts.scheme) is None:
        message = f"the service is at {parts.netloc}, which Allowed Domains does not name"
        help_ = "add the host there, or remove Allowed Domains: a service reaches its own host only"
        problems = (*problems, Problem("", message, help_))
    return service, OperationCall(operation, service, call_spec, slots), problems


def _no_service(operation: Operation, services: Mapping[str, ServiceSettings]) -> Problem:
    known = ", ".join(sorted(services))
    if not services:
        name = operation.service or "NAME"
        help_ = f"write the table [services.{name}] with its url into toolmd.toml"
        return Problem("", f"the settings have no service for {operation}", help_)
    if not operation.service:
        help_ = f"write `http {operation.method} NAME:{operation.path}`"
        return Problem("", f"{operation} does not say which service: {known}", help_)
    help_ = did_you_mean(operation.service, services) or f"known services: {known}"
    return Problem("", f"the settings have no service {operation.service!r}", help_)


def _implementation(call: OperationCall, services: Services) -> Implementation:
    async def function(**arguments: Any) -> Any:
        await services.check(call.operation)
        return await call.send(arguments)

    service = call.service
    auth = [[one.kind, *one.variables, one.name] for one in service.auth]
    meant = [str(call.operation), service.url, [*service.headers.items()], auth]
    # Recorded answers are bound to the hash, so it has texts alone, which no release changes.
    meant.append([[name, *slot] for name, slot in call.slots.items()])
    encoders = {name: encoder_of(slot) for name, slot in call.slots.items()}
    return Implementation(
        str(call.operation),
        hashlib.sha256(json.dumps(meant).encode()).hexdigest(),
        function,
        "async",
        converters={name: one for name, one in encoders.items() if one is not None},
        context=CONTEXT,
    )


def _told(call_spec: ToolCallSpec, problems: tuple[Problem, ...]) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(_place(call_spec), Code.INVALID_OPERATION, Severity.ERROR, one.message, one.help)
        for one in problems
    )


def _changed(
    call_spec: ToolCallSpec, operation: Operation, services: Services
) -> tuple[Diagnostic, ...]:
    try:
        changes = services.changes(operation)
    except Exception as error:  # noqa: BLE001 - a store that can't be read says nothing of changes
        changes = (f"what was accepted can't be read: {error}",)
    if not changes:
        return ()
    name = name_of(operation, services.tables)
    message = f"the service {name} changed since it was accepted: {'; '.join(changes)}"
    help_ = f"look at it, then `toolmd servers {name} --accept`; calls are denied"
    place = _place(call_spec)
    return (Diagnostic(place, Code.CHANGED_REMOTE_TOOL, Severity.ERROR, message, help_),)


def _unset(call_spec: ToolCallSpec, variable: str) -> Diagnostic:
    message = f"the environment variable {variable} is not set, which the service needs"
    help_ = "set it where Toolmd runs; its calls fail until then"
    return Diagnostic(_place(call_spec), Code.UNSET_VARIABLE, Severity.WARNING, message, help_)


def _place(call_spec: ToolCallSpec) -> Span:
    line = call_spec.source.line
    return Span(call_spec.source.path, line, 1, line, 2)
