"""The context of a call, for its implementation."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from toolmd._types.result import Result

Thing = TypeVar("Thing")


class Context(Protocol):
    """The value of an implementation's keyword `context: Context`."""

    @property
    def user(self) -> str | None:
        """The user that the host named."""

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
        """The idempotency key, the same for each try. Pass it to services that accept one."""

    @property
    def deadline(self) -> float:
        """The deadline, in seconds of `time.monotonic()`."""

    @property
    def http(self) -> Any:
        """An `httpx.AsyncClient` whose time-out is the deadline; closed when the call ends.

        It reaches the tool's Allowed Domains and no other host (egress.md).
        """

    @property
    def max_rows(self) -> int | None:
        """The most rows of the result, the stricter of the file and the plan.

        Further rows are cut off; None for no limit.
        """

    def clamped(self, parameter: str, most: float) -> None:
        """Report that a value was lowered to the tool's maximum, so that rows may be missing.

        The result's `truncated.rows` is then true, with a note.
        """

    def pages(self, read_on: Callable[[int], Mapping[str, Any]]) -> None:
        """Set how to read on where the result is cut: `lambda rows: {"offset": offset + rows}`.

        `read_on` receives the number of returned rows, and returns the arguments that change in the
        next call. The result's `truncated.next` contains all arguments of that call.
        """

    async def progress(self, text: str, fraction: float | None = None) -> None:
        """Report the progress of the work; `fraction` is 0..1."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Call another tool through the pipeline, for the same user with the same facts."""

    async def resource(self, kind: type[Thing]) -> Thing:
        """Return a resource that a plugin provides by its type."""
