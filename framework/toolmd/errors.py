"""The exceptions of Toolmd; an author's mistake is a diagnostic, a denied call is a result."""

import logging
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copyreg import __newobj__  # type: ignore[attr-defined]
from typing import Any, ClassVar

from toolmd._types.diagnostic import Diagnostic

NO_POSTGRES_DRIVER = (
    "Postgres' driver, psycopg, is missing; install it: pip install 'toolmd[fleet]'"
)
"""The message if `store` names a Postgres and the extra `fleet` is not installed."""
NO_MCP_SDK = "MCP needs the package mcp 2.3 or later ({}): pip install 'toolmd[mcp]'"
"""The message if the extra `mcp` is not installed; it names the error of the import."""
SEE_NAMES = "`toolmd list` shows what is there, and `toolmd check` what is broken"
"""The remedy for a name that nothing has."""


class ToolmdError(Exception):
    """The base class of all exceptions that Toolmd raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Without `__init__`, whose parameters are not `args`: an error may cross processes.
        return __newobj__, (type(self), *self.args), self.__dict__


class ConfigError(ToolmdError):
    """The project's settings are invalid; the message names the file, the key and the remedy."""


class ArgumentError(ToolmdError):
    """A method received an invalid argument; the message names it and the expected value."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        """The name of the argument."""
        self.problem = problem
        """The expected value, and what the argument is instead; it never holds the value."""


class NotFoundError(ToolmdError):
    """No tool, skill, run or confirmation has this name."""


class UnreachableError(ToolmdError):
    """A store of runs or other records is unavailable; the message names it and the remedy."""


class ImplementationError(ToolmdError):
    """The Python of a definition can't be used; the message names the problem and the remedy."""

    def __init__(self, message: str, *, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        """The diagnostics of the Python; empty if it was not checked."""


class NotLoadedError(ImplementationError):
    """The Python of a definition was not imported in time; a later try may succeed."""


class ForeignExitError(Exception):
    """Foreign code raised what would end the program, such as KeyboardInterrupt."""


class ToolError(ToolmdError):
    """An error that an implementation raises to send the model a message and a stable code.

    `raise ToolError("Only 3 are left.", code="sold_out")`. For any other exception the model
    receives only a reference; the log has the trace under that reference.
    """

    CODE: ClassVar[str] = "tool_error"
    """The default code."""

    def __init__(self, message: str, *, code: str = CODE) -> None:
        super().__init__(message)
        given: Any = code
        self.code: str = given if isinstance(given, str) and given else self.CODE


class MalformedReplyError(ToolmdError):
    """A model's reply can't be parsed, so none of its calls runs; the message is for the model."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "malformed_call",
        clean_message: str = "",
        calls: Sequence[tuple[str | None, str]] = (),
    ) -> None:
        super().__init__(message)
        self.calls = tuple(calls)
        """The id and the tool's name of each call whose id can be read: each gets a result."""
        self.custom: frozenset[str] = frozenset()
        """The ids among them of custom tool calls, whose results have a form of their own."""
        self.code = code
        """`malformed_call`, or `invalid_plan` for a plan without a budget."""
        self.clean_message = clean_message
        """The text before the malformed call."""
        self.dialect = ""
        """The dialect of the malformed call, where it was detected; empty otherwise."""


class ModelError(ToolmdError):
    """A model's endpoint returned no usable answer; the message names the endpoint and remedy."""

    def __init__(self, message: str, *, code: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        """`unauthorized`, `not_paid`, `not_found`, `rejected`, `rate_limited`, `unavailable`,
        `timeout`, `unreachable`, or `unreadable` for an answer that does not follow the API."""
        self.retry_after_s = retry_after_s
        """The endpoint's `Retry-After` in seconds; None if it sent none."""


def near_words(word: str, words: Iterable[str], most: int = 1, *, alike: float = 0.6) -> list[str]:
    """Return the known words that are similar, the nearest first.

    Args:
        word: The unknown word; only its first 64 characters are compared, ignoring case, and with
            `-` for `_`.
        words: The known words.
        most: The maximum number of words to return.
        alike: The minimum similarity, 0..1.
    """
    folded: dict[str, str] = {}
    for known in words:
        folded.setdefault(known.casefold().replace("-", "_"), known)
    wanted = word[:_COMPARED].casefold().replace("-", "_")
    ends = {name: _ends_alike(wanted, name) for name in folded}
    best = max(ends, key=ends.__getitem__, default="")
    if most == 1 and ends.get(best, 0.0) >= max(_SURE, alike):
        return [folded[best]]
    # Imported late: it costs a millisecond of each start, and only a misspelt word needs it.
    from difflib import get_close_matches

    # It takes up to 0.1 ms for a word, and a model may misspell hundreds among hundreds.
    likely: Iterable[str] = folded
    if len(folded) > _LIKELY:
        letters = set(wanted)
        rank = {name: same + len(letters & set(name)) / (len(letters) + len(name))
                for name, same in ends.items()}  # fmt: skip
        likely = sorted(rank, key=rank.__getitem__, reverse=True)[:_LIKELY]
    return [folded[name] for name in get_close_matches(wanted, [*likely], most, alike)]


_COMPARED = 64
_LIKELY = 8
"""The most words that difflib compares with one unknown word."""
_SURE = 0.8
"""The similarity of the ends from which a word needs no further comparison."""


def _ends_alike(word: str, known: str) -> float:
    """Return which part of two words is the same at the beginning and at the end, 0..1."""
    shorter, start, end = min(len(word), len(known)), 0, 0
    while start < shorter and word[start] == known[start]:
        start += 1
    while end < shorter - start and word[-1 - end] == known[-1 - end]:
        end += 1
    return 2 * (start + end) / (len(word) + len(known) or 1)


def near_tools(name: str, known: Mapping[str, object]) -> list[str]:
    """Return the tools that an unknown name may stand for, the nearest first.

    A tool that is not Read Only must be nearer: a model may call it at once.

    Args:
        name: The unknown name.
        known: The specs of the tools that may be named.
    """
    sure = near_words(name, known, 3, alike=_SURE)
    near = near_words(name, known, 3)
    return [one for one in near if one in sure or getattr(known[one], "read_only", False)]


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


def logged(error: BaseException, text: str, *values: object, trace: bool = True) -> str:
    """Log a crash and return its reference in the log; without `trace`, in one line.

    Within `hiding` the trace is logged as text, because the exception itself contains the values.
    """
    import secrets

    reference = secrets.token_hex(4)
    hide = _hide.get()
    if not trace:
        line = hidden(f"{text % values}: {type(error).__name__}: {error}")
        _crashes.error("%s: %s", reference, " ".join(line.split()))
    elif hide is None:
        _crashes.error("%s: %s", reference, text % values, exc_info=error)
    else:
        whole = "".join(traceback.format_exception(error)).rstrip()
        _crashes.error("%s: %s\n%s", reference, hide(text % values), hide(whole))
    return reference


def hidden(text: str) -> str:
    """Return a text without the Sensitive values of the call that runs."""
    hide = _hide.get()
    return text if hide is None else hide(text)


def hidden_values(value: Any) -> Any:
    """Return a JSON value without the Sensitive values of the call and of the run around it."""
    hide = _hide.get()
    return value if hide is None else hidden_in(value, hide)


def hidden_in(value: Any, hide: Hide) -> Any:
    """Return a JSON value whose texts, keys and numbers lack what `hide` removes."""
    if isinstance(value, dict):
        return {hidden_in(name, hide): hidden_in(item, hide) for name, item in value.items()}
    if isinstance(value, list):
        return [hidden_in(item, hide) for item in value]
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = str(value)
        return value if (shown := hide(text)) == text else shown
    return value


@contextmanager
def hiding(hide: Hide | None) -> Iterator[None]:
    """Apply `hide` to all that the block logs; None hides nothing.

    Nested blocks hide the values of both.
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


class SuspendedToolError(ToolError):
    """The tool of a server or a service is not the accepted one; nothing was sent."""

    CODE = "suspended_tool"

    def __init__(self, message: str) -> None:
        """Keep the message."""
        super().__init__(message, code=self.CODE)
