"""What a programmer did wrong; an author's mistake is a diagnostic, a refused call a result."""

from collections.abc import Iterable
from typing import ClassVar

from toolmd._types.diagnostic import Diagnostic

NO_POSTGRES_DRIVER = (
    "Postgres' driver, psycopg, is missing; install it: pip install 'toolmd[postgres]'"
)
"""What to do where `engine` names a Postgres and the extra `postgres` is not installed."""


class ToolmdError(Exception):
    """The root of everything that Toolmd raises."""


class ConfigError(ToolmdError):
    """The project's settings can't be used; says the file, the key and the remedy."""


class ArgumentError(ToolmdError):
    """A method was given an odd value; says which argument, what it must be, and what it is."""


class NotFoundError(ToolmdError):
    """No tool, skill, run or held call has this name."""


class UnreachableError(ToolmdError):
    """A store of runs or other records can't be used now; says where, why, and what to do."""


class ImplementationError(ToolmdError):
    """The Python behind a definition can't be used; says what is wrong, where, and what to do."""

    def __init__(self, message: str, *, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        """The findings; empty where nothing was held against anything."""


class ToolError(ToolmdError):
    """Raised by an implementation to give the model a message of its own, with a stable code.

    `raise ToolError("Only 3 are left.", code="sold_out")`. Of any other exception the model is told
    a reference alone, under which the log has the trace.
    """

    CODE: ClassVar[str] = "tool_error"
    """The code where none is given."""

    def __init__(self, message: str, *, code: str = CODE) -> None:
        super().__init__(message)
        self.code = code


class MalformedReplyError(ToolmdError):
    """A model's reply can't be read, so none of its calls runs; the message is for the model."""

    def __init__(
        self, message: str, *, code: str = "malformed_call", clean_message: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        """`malformed_call`, or `invalid_plan` for a plan without a budget."""
        self.clean_message = clean_message
        """What stood before the call that could not be read."""


class ModelError(ToolmdError):
    """A model's endpoint gave no answer that can be used; says which, why, and the remedy."""

    def __init__(self, message: str, *, code: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        """`unauthorized`, `not_paid`, `not_found`, `rejected`, `rate_limited`, `unavailable`,
        `timeout`, `unreachable`, or `unreadable` for an answer that is not of the API's form."""
        self.retry_after_s = retry_after_s
        """When the endpoint would listen again, in seconds, where it says so."""


def near_words(word: str, words: Iterable[str], most: int = 1, *, alike: float = 0.6) -> list[str]:
    """Give the known words that may be meant, the nearest first.

    `alike` says how near, 0..1; of the word its first 64 characters are compared, in any case.
    """
    # Its import costs a millisecond of each start, and only a slip needs it.
    from difflib import get_close_matches

    folded: dict[str, str] = {}
    for known in words:
        folded.setdefault(known.casefold(), known)
    near = get_close_matches(word[:64].casefold(), folded, most, alike)
    return [folded[name] for name in near]


def did_you_mean(word: str, words: Iterable[str], most: int = 1, *, alike: float = 0.6) -> str:
    """Give `did you mean 'x' or 'y'?`, as `near_words` finds them; empty where none is near."""
    near = near_words(word, words, most, alike=alike)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


def is_a_skill(name: str) -> str:
    """Return the message about a skill's name where a tool's is expected."""
    return f"{name!r} is a skill: run it with `toolmd run {name}`"


def is_a_tool(name: str) -> str:
    """Return the message about a tool's name where a skill's is expected."""
    return f"{name!r} is a tool: call it with `toolmd call {name}`"
