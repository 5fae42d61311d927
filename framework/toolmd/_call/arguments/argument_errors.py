"""Rows 1 and 3 for a caller: why its arguments are refused, in words to mend them by."""

from typing import Any

from toolmd._call.denial import CallDenied
from toolmd._types.call import Call
from toolmd._types.result import Failure
from toolmd._validation import (
    InvalidArgumentsError,
    MalformedError,
    read_object,
)

MAX_TOLD = 3
"""Faults that the message names; the details hold them all."""


def read(call: Call) -> dict[str, Any]:
    """Rows 0 and 1 for themselves: one JSON object within bounds; raises a Refusal."""
    try:
        return read_object(call.arguments)
    except MalformedError as error:
        raise CallDenied(mismatch(error)) from None


def mismatch(error: MalformedError | InvalidArgumentsError) -> Failure:
    """Give `malformed_call`, or `invalid_arguments` with each thing that is wrong."""
    if isinstance(error, MalformedError):
        return Failure("malformed_call", str(error))
    told = [problem.message for problem in error.problems]
    more = f"; and {len(told) - MAX_TOLD} more" if len(told) > MAX_TOLD else ""
    return Failure("invalid_arguments", "; ".join(told[:MAX_TOLD]) + more, error.problems)
