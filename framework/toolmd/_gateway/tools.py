"""Call the tools of MCP servers: `Implemented By: mcp SERVER TOOL`."""

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from toolmd._call.invoke import NotSentError
from toolmd._gateway import NotStartedError, OldSessionError, UnsentCallError
from toolmd._gateway.pins import (
    changed_diagnostic,
    diagnostic,
    differences,
    names_of,
    unset_diagnostic,
)
from toolmd._gateway.servers import Servers
from toolmd._gateway.session import ProgressReports, Session, following
from toolmd._types.asked import Asked, InputRequiredError
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.code import Code
from toolmd._types.context import Context
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.registry import Binding, Implementation
from toolmd._types.remote import RemoteTool
from toolmd._types.settings import ServerSettings
from toolmd.config.services import names_caller, needed_variables
from toolmd.errors import ImplementationError, NotFoundError

_CONTEXT = ""
"""The keyword of the Context: no parameter has this name."""


def bind_remote_tool(
    remote: RemoteTool, call_spec_of: Callable[[], CallSpec], servers: Servers
) -> Binding:
    """Bind a tool to a server's tool; no server starts before a call."""
    servers.want(remote)

    def spec() -> ToolCallSpec:
        call_spec = call_spec_of()
        assert isinstance(call_spec, ToolCallSpec)  # only a tool's file has Implemented By
        return call_spec

    def load() -> Implementation:
        try:
            table = servers.table(remote.server)
        except NotFoundError as error:
            found = diagnostic(spec(), Code.INVALID_OPERATION, str(error), "")
            raise ImplementationError(str(error), diagnostics=(found,)) from None
        digest = hashlib.sha256(_meant(remote, table).encode()).hexdigest()
        function = _RemoteCall(remote, spec(), servers)
        return Implementation(
            str(remote), digest, function.send, "async", context=_CONTEXT,
            may_answer=servers.may_answer,
        )  # fmt: skip

    def inspect() -> tuple[Diagnostic, ...]:
        return tuple(_found(remote, spec(), servers))

    return Binding(
        "remote",
        str(remote),
        load,
        inspect,
        lambda: remote.server in servers.tables,
        lambda _seconds: True,
    )


def _meant(remote: RemoteTool, table: ServerSettings) -> str:
    """Return what a call reaches, as text."""
    named = [[*table.env.items()], [*table.headers.items()]]
    return json.dumps([str(remote), table.command, table.url, *named, table.shared])


class CallerContext(Context, Protocol):
    """The context of a call, with the answer to what the server asked."""

    @property
    def asked(self) -> Asked | None:
        """The server's last question with the person's answer, if it asked."""


class _RemoteCall:
    """Calls one tool of a server."""

    def __init__(self, remote: RemoteTool, call_spec: ToolCallSpec, servers: Servers) -> None:
        self._remote = remote
        self._call_spec = call_spec
        self._servers = servers

    async def send(self, **arguments: Any) -> Any:
        """Call the server's tool with a call's arguments, and return its value.

        Raises ToolError, InputRequiredError where the server asks for input, and LostAnswerError
        where nobody knows whether the tool ran.
        """
        context: CallerContext = arguments.pop(_CONTEXT)
        server, answered = self._remote.server, context.asked
        if answered is not None and (next_one := following(answered)) is not None:
            raise InputRequiredError(next_one)
        try:
            if answered is not None and answered.parked:
                session, outcome = await self._servers.resume(answered)
            else:
                session, outcome = await self._called(arguments, context, answered)
        except NotStartedError as error:
            raise UnsentCallError(f"The server {server} {error.problem}: {error}.") from error
        if isinstance(outcome, Asked):
            raise InputRequiredError(outcome)
        from toolmd._gateway.answers import value_of

        return value_of(outcome, self._call_spec, session.hide, context.note)

    async def _called(
        self, arguments: dict[str, Any], context: CallerContext, answered: Asked | None
    ) -> tuple[Session, Any]:
        """Return the session and the outcome of a call."""
        session = await self._session(context)
        try:
            return session, await self._sent(session, arguments, context, answered)
        except NotStartedError:
            if session.is_open:
                raise
        # It ended before anything was sent.
        session = await self._session(context)
        return session, await self._sent(session, arguments, context, answered)

    async def _session(self, context: CallerContext) -> Session:
        name = self._remote.server
        if context.user is None and names_caller(self._servers.table(name)):
            raise NotStartedError(f"{name} must know who calls, and this call has no user")
        with _unsent():
            return await self._servers.session(self._remote.server, context.user)

    async def _sent(
        self,
        session: Session,
        arguments: dict[str, Any],
        context: CallerContext,
        answered: Asked | None,
    ) -> Any:
        """Check the tool's definition and call it."""
        with _unsent():
            listing = await session.listing()
            definition = await self._servers.accepted(self._remote, listing)
        if listing.definitions.get(self._remote.tool) != definition:
            # It was accepted from another session: this one, or its process, is older.
            session.retire()
            raise OldSessionError("call again")
        given = self._named(arguments, definition)
        report = ProgressReports(context).add
        return await session.call(self._remote.tool, definition, given, report, answered)

    def _named(self, arguments: dict[str, Any], accepted: str) -> dict[str, Any]:
        """Return the arguments by the server's names; raises UnsentCallError for one without."""
        names = names_of(accepted, list(arguments))
        if lacking := [name for name in arguments if name not in names]:
            message = f"The server's {self._remote.tool} has no parameter {', '.join(lacking)}"
            raise UnsentCallError(f"{message}.")
        return {names[name]: value for name, value in arguments.items()}


@contextmanager
def _unsent() -> Iterator[None]:
    """Raise NotSentError where the caller is cancelled within."""
    try:
        yield
    except asyncio.CancelledError:
        raise NotSentError from None


def _found(remote: RemoteTool, call_spec: ToolCallSpec, servers: Servers) -> list[Diagnostic]:
    try:
        table = servers.table(remote.server)
    except NotFoundError as error:
        help_ = "write the table with `command` or `url` into toolmd.toml"
        return [diagnostic(call_spec, Code.INVALID_OPERATION, str(error), help_)]
    unset = [name for name in needed_variables(table) if not os.environ.get(name)]
    found = [unset_diagnostic(call_spec, name, "server") for name in unset]
    if table.command and shutil.which(table.command[0]) is None:
        message = f"the server's program {table.command[0]!r} is not installed here"
        help_ = "install it, or correct command in the settings; its calls fail until then"
        code = Code.INVALID_OPERATION
        found.append(diagnostic(call_spec, code, message, help_, Severity.WARNING))
    try:
        pin = servers.changed([remote]).get(remote)
        changes = () if pin is None else differences(pin.accepted, pin.seen)
    except Exception as error:  # noqa: BLE001 - a store that can't be read says nothing of changes
        changes = (f"the accepted definition can't be read: {error}",)
    if changes:
        what = f"the server changed {remote.tool}"
        found.append(changed_diagnostic(call_spec, what, remote.server, changes))
    return found
