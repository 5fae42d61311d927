"""Errors of programmers; an author's mistake is a diagnostic, a denied call a result."""

import logging
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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
    """No tool, skill, run or confirmation has this name."""


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

    `raise ToolError("Only 3 are left.", code="sold_out")`. For any other exception the model
    reads only a reference, under which the log has the trace.
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
    """Return the known words that may be meant, the nearest first.

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
    """Return `did you mean 'x' or 'y'?`, as `near_words` finds them; empty where none is near."""
    near = near_words(word, words, most, alike=alike)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


def is_a_skill(name: str) -> str:
    """Return the message about a skill's name where a tool's is expected."""
    return f"{name!r} is a skill: run it with `toolmd run {name}`"


def is_a_tool(name: str) -> str:
    """Return the message about a tool's name where a skill's is expected."""
    return f"{name!r} is a tool: call it with `toolmd call {name}`"


_crashes = logging.getLogger("toolmd.crash")
Hide = Callable[[str], str]
"""Returns a text without the Sensitive values of one call."""
_hide: ContextVar[Hide | None] = ContextVar("toolmd_hide", default=None)


def logged(error: BaseException, text: str, *values: object) -> str:
    """Log a crash and return the reference under which it stands there.

    Within `hiding` the log has the trace as text: the exception itself would tell the values.
    """
    import secrets

    reference = secrets.token_hex(4)
    hide = _hide.get()
    if hide is None:
        _crashes.error("%s: %s", reference, text % values, exc_info=error)
    else:
        trace = "".join(traceback.format_exception(error)).rstrip()
        _crashes.error("%s: %s\n%s", reference, hide(text % values), hide(trace))
    return reference


def hidden(text: str) -> str:
    """Return a text without the Sensitive values of the call that runs."""
    hide = _hide.get()
    return text if hide is None else hide(text)


@contextmanager
def hiding(hide: Hide | None) -> Iterator[None]:
    """Keep the values that `hide` takes out of texts from what the block logs; None hides none.

    Within another such block both hide theirs.
    """
    around = _hide.get()
    if hide is not None and around is not None:
        inner = hide
        hide = lambda text: around(inner(text))  # noqa: E731 - two functions in one
    token = _hide.set(hide) if hide is not None else None
    try:
        yield
    finally:
        if token is not None:
            _hide.reset(token)
