"""What an implementation is told about the call that it serves."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from toolmd._types.result import Result

Thing = TypeVar("Thing")


class Context(Protocol):
    """What the keyword `context: Context` gives an implementation."""

    @property
    def user(self) -> str | None:
        """Who the host says is calling."""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts that the host supplies about the caller, such as `facts["patient"]`."""

    @property
    def message(self) -> str:
        """The user's own words."""

    @property
    def call_id(self) -> str | None:
        """The caller's name for this call."""

    @property
    def idempotency_key(self) -> str:
        """The same for each try of one call, made by the runtime: hand it on where one is taken."""

    @property
    def deadline(self) -> float:
        """When time is up, in seconds of `time.monotonic()`."""

    @property
    def http(self) -> Any:
        """An `httpx.AsyncClient` whose time-out is the deadline; closed when the call ends.

        It reaches the tool's Allowed Domains and no other host (egress.md).
        """

    @property
    def max_rows(self) -> int | None:
        """How many rows the result may have, by the stricter of the file and the plan.

        What a tool gives beyond that is cut off; None bounds nothing.
        """

    def clamped(self, parameter: str, most: float) -> None:
        """Say that a value was lowered to the most that the tool gives, so rows may be missing.

        The result's `truncated.rows` is then true, with a note.
        """

    def pages(self, read_on: Callable[[int], Mapping[str, Any]]) -> None:
        """Say how to read on where the result is cut: `lambda rows: {"offset": offset + rows}`.

        `read_on` takes the number of rows that are given, and gives the arguments that change in
        the next call. With the others, which stay, they stand in the result's `truncated.next`.
        """

    async def progress(self, text: str, fraction: float | None = None) -> None:
        """Tell whoever waits how far the work is; `fraction` is 0..1."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Call another tool through the one door, for the same user, with the same facts."""

    async def resource(self, kind: type[Thing]) -> Thing:
        """Give a resource that a plugin provides by its type."""
