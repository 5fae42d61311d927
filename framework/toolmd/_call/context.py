"""The Context of an implementation: the caller, the deadline, and calls to other tools."""

import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol, TypeVar

from toolmd._call.cut import Remarks, bounds_of
from toolmd._types.asked import Asked
from toolmd._types.call import Call
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.result import Event, EventListener, Result
from toolmd.errors import hidden, logged

Thing = TypeVar("Thing")


class ResourceScope(Protocol):
    """The resources of one call."""

    async def get(self, kind: type[Thing]) -> Thing:
        """Return the resource of this type; raises where no plugin provides it."""

    async def close(self) -> None:
        """Close what was opened for this call."""


class Resources(Protocol):
    """The resources of plugins, by type."""

    async def scope(self) -> ResourceScope:
        """Open the resources of one call."""


class CallServices(Protocol):
    """What a running call needs of its dispatcher."""

    resources: Resources | None

    def open_client(self, call_spec: CallSpec, seconds: float) -> Any:
        """Open the HTTP client of one call with its deadline in seconds."""

    async def dispatch(self, call: Call, on_event: EventListener | None = None) -> Result:
        """Run another call through the same pipeline."""


class CallContext:
    """The value of `context: Context`; its client and resources open on first use."""

    def __init__(
        self,
        call: Call,
        call_spec: CallSpec,
        dispatcher: CallServices,
        seconds: float,
        on_event: EventListener | None,
    ) -> None:
        self._call = call
        self._call_spec = call_spec
        self._dispatcher = dispatcher
        self._on_event = on_event
        self._client: Any = None
        self._scope: ResourceScope | None = None
        self._calls = 0
        self._part = ""
        self.deadline = time.monotonic() + seconds
        self.remarks = Remarks()

    @cached_property
    def _key(self) -> str:
        # Most tools need none, and a secret costs as much as their call.
        import secrets

        return self._call.key or secrets.token_hex(16)

    @property
    def idempotency_key(self) -> str:
        """The same for each try of one call, and of one part of its work."""
        return f"{self._key}#{self._part}" if self._part else self._key

    @property
    def tool(self) -> str:
        """The tool that was called."""
        return self._call_spec.name

    def is_sensitive(self, name: str) -> bool:
        """Return whether a parameter holds Sensitive values, at any depth."""
        return any(p.name == name and p.shape.holds_sensitive for p in self._call_spec.parameters)

    @property
    def user(self) -> str | None:
        """The user that the host named."""
        return self._call.caller.user

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts that the host supplied."""
        return self._call.caller.context

    @property
    def message(self) -> str:
        """The user's own words."""
        return self._call.caller.message

    @property
    def call_id(self) -> str | None:
        """The caller's name for this call."""
        return self._call.id

    @property
    def asked(self) -> Asked | None:
        """The question of the call's server with the person's answer, if it asked."""
        return self._call.asked

    @property
    def http(self) -> Any:
        """An `httpx.AsyncClient` that is closed when the call ends."""
        if self._client is None:
            self._client = self._dispatcher.open_client(
                self._call_spec, self.deadline - time.monotonic()
            )
        return self._client

    @property
    def max_rows(self) -> int | None:
        """The most rows of the result; None for no limit."""
        call_spec = self._call_spec
        if not isinstance(call_spec, ToolCallSpec):
            return None
        return bounds_of(call_spec.limits, self._call.budget).rows

    def clamped(self, parameter: str, most: float) -> None:
        """Report that a value was lowered to the tool's maximum."""
        self.remarks.lowered[parameter] = most

    def note(self, text: str) -> None:
        """Add a note to the result."""
        self.remarks.notes.append(str(text))

    async def progress(self, text: str, fraction: float | None = None) -> None:
        """Report the progress of the work; `fraction` is 0..1."""
        await self.send(Event("progress", self._call_spec.name, self.call_id,
                              {"text": hidden(text), "fraction": fraction}))  # fmt: skip

    async def send(self, event: Event) -> None:
        """Hand an event to the listener, if there is one; what it raises stops no call."""
        if self._on_event is None:
            return
        try:
            if (waiting := self._on_event(event)) is not None:
                await waiting
        except Exception as error:  # noqa: BLE001 - the tool may have taken effect
            logged(error, "the listener to %s failed", event.tool)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Call another tool through the pipeline, for the same user with the same facts."""
        self._calls += 1
        key = f"{self.idempotency_key}/{self._calls}"
        made = Call(name, arguments, None, self._call.confidence, self._call.caller, key=key,
                    depth=self._call.depth + 1)  # fmt: skip
        return await self._dispatcher.dispatch(made, self._on_event)

    async def resource(self, kind: type[Thing]) -> Thing:
        """Return a resource that a plugin provides by its type."""
        if self._dispatcher.resources is None:
            raise LookupError(f"no plugin provides {kind.__qualname__} (hook toolmd_resources)")
        if self._scope is None:
            self._scope = await self._dispatcher.resources.scope()
        return await self._scope.get(kind)

    async def again(self, part: str = "") -> None:
        """Prepare one more try, or another `part` of the work with its own key.

        What a try opened is closed; all tries of a part have the same key, and so have their calls.
        """
        await self.close()
        self._client = self._scope = None
        self._calls = 0
        self.remarks = Remarks()
        self._part = part or self._part

    async def close(self) -> None:
        """Close the client and the resources."""
        try:
            if self._client is not None:
                await self._client.aclose()
        finally:
            if self._scope is not None:
                await self._scope.close()
