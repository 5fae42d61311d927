"""Send one request of an operation with the guarded client, and return the answer."""

import asyncio
import json
import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from toolmd._egress import Approved, open_client
from toolmd._remote.http.credentials import Credentials, credentials_of
from toolmd._remote.http.encode import pair
from toolmd._remote.http.slots import IN_BODY, Slot
from toolmd._remote.unsent import UnsentCallError
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.context import Context
from toolmd._types.operation import Operation, has_dots
from toolmd._types.settings import ServiceSettings

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
        import httpx

        from toolmd._remote.http.answer import read_answer

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
                return await read_answer(response, extra.hide, repeatable=repeatable)
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
        return "application/json", json.dumps(value, allow_nan=False).encode()

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
