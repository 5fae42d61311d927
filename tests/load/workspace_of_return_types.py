"""Turn a value into the result of a call, as the call pipeline does."""

from time import perf_counter
from typing import Any

from toolmd._call.result import AnswerError, answer_of
from toolmd._types.schema import Schema


def called(returns: Schema, value: Any) -> tuple[str, ...]:
    """Return what the pipeline says of a value that a tool with these Returns gave."""
    try:
        return answer_of("one", returns)(value, None, perf_counter()).notes
    except AnswerError as error:
        return (str(error),)
