"""The context that an implementation receives with a call."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from toolmd._types.result import Result

Thing = TypeVar("Thing")


class Context(Protocol):
    """The value of an implementation's keyword `context: Context`."""

    @property
    def user(self) -> str | None:
        """The user, as the host states it."""

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
        """The key of the call, the same for each attempt; pass it to services that accept one."""

    @property
    def deadline(self) -> float:
        """The time when the call must end, in seconds of `time.monotonic()`."""

    @property
    def http(self) -> Any:
        """An `httpx.AsyncClient` with the deadline as its timeout; closed when the call ends.

        It reaches only the tool's Allowed Domains (egress.md).
        """

    @property
    def max_rows(self) -> int | None:
        """The maximum number of rows of the result: the stricter of file and plan.

        Further rows are truncated; None sets no limit.
        """

    def clamped(self, parameter: str, most: float) -> None:
        """Report that the tool lowered a value to its maximum, so rows may be missing.

        The result then has `truncated.rows` true, and a note.

        Args:
            parameter: The name of the parameter.
            most: The maximum that the tool used.
        """

    def note(self, text: str) -> None:
        """Add a note to the result, such as what it leaves out.

        Args:
            text: One sentence, such as `2 of 14 notes are not indexed and were not searched.`
        """

    async def progress(self, text: str, fraction: float | None = None) -> None:
        """Report the progress to the observers of the call.

        Args:
            text: What is done or under way.
            fraction: The part that is done, from 0 to 1.
        """

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Call another tool through the dispatcher, with the same user and facts.

        Args:
            name: The tool.
            arguments: Its arguments.

        Returns:
            The Result; a denial or a failure is its `error`.
        """

    async def resource(self, kind: type[Thing]) -> Thing:
        """Return a resource that a plugin provides, by its type."""
