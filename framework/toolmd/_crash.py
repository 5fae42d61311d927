"""Log a crash under a reference, without the Sensitive values of the call in which it happened."""

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

logger = logging.getLogger("toolmd.crash")
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
        logger.error("%s: %s", reference, text % values, exc_info=error)
    else:
        trace = "".join(traceback.format_exception(error)).rstrip()
        logger.error("%s: %s\n%s", reference, hide(text % values), hide(trace))
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
