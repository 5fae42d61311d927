"""Run a plain tool in one closure: its arguments judged, its function awaited, its answer read.

Plain is an async function of the arguments alone, which most tools are. What a call does not need
is left out here beforehand; it costs about seven times the bare function.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from pydantic_core import ValidationError

from toolmark._call.answer import Answer
from toolmark._call.deadline import rest_of
from toolmark._call.misfit import explain
from toolmark._model.call import Call, Caller
from toolmark._model.result import Failure, Result
from toolmark._model.tool import ToolSpec
from toolmark._values import ArgumentsValidator


class PlainRun(Protocol):
    """Runs a call of these arguments, or of JSON text that is judged first."""

    def __call__(
        self,
        call_id: str | None,
        text: str,
        arguments: dict[str, Any] | None = None,
        user: str | None = None,
        patient: str | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Make the coroutine of the call."""


class Ways(NamedTuple):
    """How a call ends."""

    answer: Answer
    settle: Callable[[BaseException, str | None, float], Result]
    """Makes a Result of what the function raised."""
    take: Callable[[Call], Coroutine[Any, Any, Result]]
    """The ladder in full, for text in doubt."""


def plain_run(
    spec: ToolSpec,
    function: Callable[..., Coroutine[Any, Any, Any]],
    seconds: float,
    validator: ArgumentsValidator,
    ways: Ways,
) -> PlainRun:
    """Specialise the run of one tool."""
    name, (answer, settle, take) = spec.name, ways
    needs_user, needs_patient = spec.requires_auth, spec.requires_patient_context
    validate_text, texts_in = validator.validate_text, validator.texts_in

    async def run(
        call_id: str | None,
        text: str,
        arguments: dict[str, Any] | None = None,
        user: str | None = None,
        patient: str | None = None,
    ) -> Result:
        began = perf_counter()
        if arguments is None:
            if (needs_user and not user) or (needs_patient and not patient):
                return await take(Call(name, text, call_id, None, Caller(user, patient)))
            try:
                arguments = validate_text(text)
            except ValidationError:
                return _refused(name, call_id, partial(explain, validator, text), began)
            if text.count('"') != 2 * texts_in(arguments) or "\\" in text:
                return await take(Call(name, text, call_id, None, Caller(user, patient)))
        try:
            coroutine = function(**arguments)
            try:
                waiting = coroutine.send(None)
            except StopIteration as done:
                value = done.value
            else:
                value = await rest_of(coroutine, waiting, seconds)
            return answer(value, call_id, began)
        except BaseException as error:  # noqa: BLE001 - `settle` lets cancellation pass
            return settle(error, call_id, began)

    return run


def _refused(name: str, call_id: str | None, why: Callable[[], Failure], began: float) -> Result:
    ms = (perf_counter() - began) * 1000
    return tuple.__new__(Result, (False, name, "denied", "", None, why, call_id, None, 0, ms,
                                  False, (), None, None, False))  # fmt: skip
