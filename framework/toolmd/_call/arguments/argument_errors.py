"""The syntax and arguments checks: each error says what would be valid."""

from typing import Any

from toolmd._call.denial import CallDenied, Explained
from toolmd._types.call import Call
from toolmd._types.result import Failure
from toolmd._validation import (
    InvalidArgumentsError,
    MalformedError,
    read_object,
)

MAX_TOLD = 3
"""The most errors in the message; the details list all of them."""
_CODE = "invalid_arguments"


def read(call: Call) -> dict[str, Any]:
    """Parse one JSON object within bounds. Raises CallDenied."""
    try:
        return read_object(call.arguments)
    except MalformedError as error:
        raise CallDenied(mismatch(error)) from None


def mismatch(error: MalformedError | InvalidArgumentsError) -> Failure | Explained:
    """Return `malformed_call`, or `invalid_arguments` with every error."""
    if isinstance(error, MalformedError):
        return Failure("malformed_call", str(error))
    return Explained(_CODE, error.names, lambda: _explained(error))


def _explained(error: InvalidArgumentsError) -> Failure:
    problems = error.problems
    told = "; ".join([problem.message for problem in problems[:MAX_TOLD]])
    more = f"; and {len(problems) - MAX_TOLD} more" if len(problems) > MAX_TOLD else ""
    return Failure(_CODE, told + more, problems)
