"""Call the operations of web services: `Implemented By: http METHOD PATH`."""

import asyncio
import base64
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from email.message import Message
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import httpx

from toolmd._egress import Approved, open_client
from toolmd._gateway import UnsentCallError
from toolmd._gateway.pins import changed_diagnostic, diagnostic, name_of, unset_diagnostic
from toolmd._gateway.requests import IN_BODY, Problem, Slot, encoder_of, pair, slots_of
from toolmd._gateway.services import Services
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.code import Code
from toolmd._types.context import Context
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.parts import File
from toolmd._types.registry import Binding, Implementation
from toolmd._types.remote import Operation, has_dots
from toolmd._types.settings import ServiceSettings
from toolmd.config.services import filled, variables_of
from toolmd.errors import ImplementationError, ToolError, did_you_mean

_LEAST_SECRET = 4
"""Shorter values are not searched for: they occur in ordinary text."""


class Credentials(NamedTuple):
    """What a service's table adds to each request."""

    headers: dict[str, str]
    query: dict[str, str]
    cookies: dict[str, str]
    secrets: tuple[str, ...]
    """The values that no answer may repeat."""

    def hide(self, text: str) -> str:
        """Return a text without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, "[hidden]")
        return text


def credentials_of(name: str, service: ServiceSettings, environ: Mapping[str, str]) -> Credentials:
    """Read what a request needs; raises UnsentCallError for a variable that can't be used."""
    needed = variables_of(service)
    if lacking := [variable for variable in needed if not environ.get(variable)]:
        message = f"The service {name or 'of the tool'} needs the environment variable "
        raise UnsentCallError(f"{message}{', '.join(lacking)}.")
    for variable in needed:
        value = environ[variable]
        if not value.isascii() or not value.isprintable() or value != value.strip():
            message = f"The environment variable {variable} is not text on one line, of ASCII"
            raise UnsentCallError(f"{message} letters without space around it.")
    found = Credentials(
        {key: filled(text, environ) for key, text in service.headers.items()}, {}, {},
        tuple(v for one in needed if len(v := environ[one]) >= _LEAST_SECRET),
    )  # fmt: skip
    secrets = list(found.secrets)
    for one in service.auth:
        values = [environ[variable] for variable in one.variables]
        match one.kind:
            case "bearer":
                found.headers["Authorization"] = f"Bearer {values[0]}"
            case "basic":
                coded = base64.b64encode(":".join(values).encode()).decode()
                found.headers["Authorization"] = f"Basic {coded}"
                secrets.append(coded)
            case "header":
                found.headers[one.name] = values[0]
            case "query":
                found.query[one.name] = values[0]
            case "cookie":
                found.cookies[one.name] = values[0]
    return found._replace(secrets=tuple(sorted(secrets, key=len, reverse=True)))


MAX_ANSWER = 8 << 20
"""The most bytes of an answer; a larger one is a failure."""
_MAX_DIGITS = 4_000
"""The most digits of a whole number that Python reads by default, about."""
_MAX_QUOTED = 500
"""The most characters of an answer that a failure quotes."""
_REDIRECTS = range(300, 400)
_UNAVAILABLE = frozenset({502, 503, 504})
_TOO_MANY = 429

Hide = Callable[[str], str]


async def read_answer(
    response: Any, hide: Hide, note: Callable[[str], None], *, repeatable: bool
) -> Any:
    """Return the JSON value, the text or the file of an answer; None for an empty one.

    `note` takes what could not be read of it. Raises ToolError for a status other than 2xx, for
    an answer that is too large, and for JSON that can't be read.
    """
    if not response.is_success:
        await _fail(response, hide, repeatable=repeatable)
    data = await _bytes(response, MAX_ANSWER)
    if len(data) > MAX_ANSWER:
        raise ToolError(f"The service answered with more than {MAX_ANSWER:,} bytes.")
    if not data:
        return None
    kind, said = _kind(response)
    is_json = kind == "application/json" or kind.endswith("+json")
    encoding = said if said and _is_encoding(said) else json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeError:
        if not is_json and not kind.startswith("text/"):
            return _build_file(data, kind)
        text = data.decode(encoding if encoding[:3] == "utf" else "utf-8", errors="replace")
        note("U+FFFD stands for bytes that are no character.")
    text = hide(text.removeprefix("\ufeff"))
    if not is_json:
        return text
    try:
        # The pipeline says what becomes of NaN, Infinity and halves of characters.
        return json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError):
        raise ToolError("The service answered with JSON that can't be read.") from None


def _build_file(data: bytes, kind: str) -> File:
    try:
        return File(data, kind)
    except ValueError:
        message = f"The service answered with {len(data):,} bytes of {kind}, which is not text."
        raise ToolError(message) from None


def _is_encoding(name: str) -> bool:
    try:
        return b"a ".decode(name, errors="replace") != ""
    except (LookupError, UnicodeError):
        return False


def _whole(digits: str) -> float:
    """Return a whole number; one of thousands of digits is as good as infinite."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


async def _fail(response: Any, hide: Hide, *, repeatable: bool) -> None:

    status = response.status_code
    if status in _REDIRECTS:
        message = f"The service answered {status}, a redirect, which is not followed"
        raise ToolError(f"{message}: write the final path in Implemented By.")
    data = await _bytes(response, _MAX_QUOTED * 4)
    quoted = " ".join(hide(data.decode(errors="replace")).split())[:_MAX_QUOTED]
    quoted = "".join(letter for letter in quoted if letter.isprintable())
    message = f"The service answered {status}{': ' if quoted else ''}{quoted}"
    if status not in {_TOO_MANY, *_UNAVAILABLE}:
        raise ToolError(message)
    if status != _TOO_MANY and not repeatable:
        message += " (It may have taken effect all the same: look before calling it again.)"
    # The pipeline retries by the cause.
    code = "rate_limited" if status == _TOO_MANY else ToolError.CODE
    raise ToolError(message, code=code) from httpx.HTTPStatusError(
        str(status), request=response.request, response=response
    )


async def _bytes(response: Any, most: int) -> bytes:
    """Return at most one byte more than `most`; the rest is not read."""
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        # A few compressed bytes can hold gigabytes; the request asked for none.
        raise ToolError("The service compressed its answer, although the request forbids it.")
    data = bytearray()
    async for chunk in response.aiter_raw(64 << 10):
        data += chunk
        if len(data) > most:
            break
    return bytes(data[: most + 1])


def _kind(response: Any) -> tuple[str, str]:
    """Return the media type of an answer and its charset; empty without one."""
    header = Message()
    header["content-type"] = response.headers.get("content-type", "application/octet-stream")
    return header.get_content_type()[:100], header.get_content_charset("")


CONTEXT = ""
"""The keyword of the Context: no parameter has this name."""


class OperationCall(NamedTuple):
    """An operation, its service, and the slots of its arguments."""

    operation: Operation
    service: ServiceSettings
    call_spec: ToolCallSpec
    slots: Mapping[str, Slot]

    async def send(self, arguments: dict[str, Any]) -> Any:
        """Send the request of a call, whose arguments are encoded, and return the answer.

        Raises ToolError, TimeoutError and the errors of httpx.
        """
        # Only here: most processes call no service.

        context: Context = arguments.pop(CONTEXT)
        extra = credentials_of(self.operation.service, self.service, os.environ)
        path = self._path(arguments)
        query = "&".join(
            [*(pair(*one) for one in extra.query.items()), *self._pairs("query", arguments)]
        )
        headers, content = self._head_and_body(arguments, extra, context)
        url = f"{self.service.url}{path}{'?' if query else ''}{query}"
        approved = Approved(self.call_spec.source.path, origins=(origin_of(self.service),))
        seconds = min(self.service.timeout, context.deadline - time.monotonic())
        client = open_client(self.call_spec.name, approved, seconds)
        async with asyncio.timeout(max(seconds, 0.001)), client:
            request = client.build_request(
                self.operation.method, url, headers=headers, content=content
            )
            self._check_path(request.url, path)
            try:
                response = await client.send(request, stream=True, follow_redirects=False)
            except httpx.LocalProtocolError as error:
                raise UnsentCallError("The request can't be sent as HTTP.") from error
            try:
                repeatable = self.call_spec.is_repeatable
                return await read_answer(response, extra.hide, context.note, repeatable=repeatable)
            finally:
                await response.aclose()

    def _path(self, arguments: Mapping[str, Any]) -> str:
        path = self.operation.fill(self._of("path", arguments))
        # Two harmless parts in one segment may make a harmful one.
        if has_dots(path):
            raise UnsentCallError("The arguments lead to another path.")
        return path

    def _check_path(self, url: Any, path: str) -> None:
        expected = urlsplit(self.service.url).path + path
        if url.raw_path.partition(b"?")[0].decode() != expected:
            raise UnsentCallError("The arguments lead to another path.")

    def _head_and_body(
        self, arguments: dict[str, Any], extra: Credentials, context: Context
    ) -> tuple[dict[str, str], bytes | None]:
        headers = {"accept": "application/json, */*;q=0.5", "accept-encoding": "identity"}
        headers |= {name.lower(): value for name, value in extra.headers.items()}
        given = self._of("header", arguments)
        headers |= {name.lower(): value for name, value in given.items() if value is not None}
        given = self._of("cookie", arguments)
        cookies = extra.cookies | {name: text for name, text in given.items() if text is not None}
        if cookies:
            headers["cookie"] = "; ".join(f"{name}={text}" for name, text in cookies.items())
        if self.call_spec.idempotent == "keyed":
            headers.setdefault("idempotency-key", quote(context.idempotency_key, safe=""))
        kind, content = self._body(arguments)
        if content is not None:
            headers["content-type"] = kind
        return headers, content

    def _body(self, arguments: Mapping[str, Any]) -> tuple[str, bytes | None]:
        """Return the content type and the body; none for a tool without parameters in the body."""
        kinds = {slot.kind for slot in self.slots.values()} & {*IN_BODY}
        if not kinds:
            return "", None
        (kind,) = kinds
        if kind == "form":
            return "application/x-www-form-urlencoded", "&".join(
                self._pairs(kind, arguments)
            ).encode()
        given = self._of(kind, arguments)
        if kind == "whole body":
            if not given:
                return "", None
            (value,) = given.values()
        else:
            value = given
        style = next((slot.style for slot in self.slots.values() if slot.kind == kind), "")
        return style or "application/json", json.dumps(value, allow_nan=False).encode()

    def _pairs(self, kind: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return each `key=value` of the query or the form."""
        return [pair for pairs in self._of(kind, arguments).values() for pair in pairs]

    def _of(self, kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given arguments of one kind of slot, by their names there."""
        return {
            slot.name: arguments[name]
            for name, slot in self.slots.items()
            if slot.kind == kind and name in arguments
        }


def origin_of(service: ServiceSettings) -> str:
    """Return the scheme and the host of a service: all that its requests may reach."""
    parts = urlsplit(service.url)
    return f"{parts.scheme}://{parts.netloc}"


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
        return (
            *_told(call_spec, problems),
            *(unset_diagnostic(call_spec, name, "service") for name in unset),
            *changed,
        )

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
    code = Code.INVALID_OPERATION
    return tuple(diagnostic(call_spec, code, one.message, one.help) for one in problems)


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
    return (changed_diagnostic(call_spec, f"the service {name} changed", name, changes),)
