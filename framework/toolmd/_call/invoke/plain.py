"""Run a plain tool in one closure: its arguments judged, its function awaited, its answer read.

Plain is an async function of the arguments alone, which most tools are. What its file does not
ask for is left out here beforehand.
"""

import dis
import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from pydantic_core import ValidationError

from toolmd._call.arguments.misfit import explain
from toolmd._call.limits.deadline import Deadlines
from toolmd._call.result.answer import MakeResult
from toolmd._model.call import Call, Caller
from toolmd._model.contract import ToolContract
from toolmd._model.result import Failure, Result
from toolmd._values import ArgumentsValidator


class PlainRun(Protocol):
    """Runs a call of JSON text, or of arguments that passed the ladder since `began`."""

    def __call__(  # noqa: PLR0913, PLR0917 - by place, which costs a third of by name
        self,
        text: str,
        call_id: str | None,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        arguments: dict[str, Any] | None = None,
        began: float = 0.0,
    ) -> Coroutine[Any, Any, Result]:
        """Make the coroutine of the call."""


class Ways(NamedTuple):
    """How a call ends."""

    answer: MakeResult
    settle: Callable[[BaseException, str | None, float], Result]
    """Makes a Result of what the function raised."""
    take: Callable[[Call], Coroutine[Any, Any, Result]]
    """The ladder in full, for a call in doubt."""


Clear = Callable[[float | None, str, Mapping[str, Any]], bool]
"""Tells whether no rule and no row of the ladder stops a call of this confidence, this message of
its user and these arguments."""


def plain_run(
    contract: ToolContract,
    function: Callable[..., Coroutine[Any, Any, Any]],
    seconds: float,
    validator: ArgumentsValidator,
    is_clear: Clear | None,
    ways: Ways,
) -> PlainRun:
    """Specialise the run of one tool; without `is_clear` its arguments are all that is judged."""
    name, (answer, settle, take) = contract.name, ways
    needs_user, needs_patient = contract.requires_auth, contract.requires_patient_context
    pick, quotes_in, defaults = validator.pick, validator.quotes_in, validator.defaults
    waits, within = may_wait(function), Deadlines().within

    async def run(  # noqa: PLR0913, PLR0917 - see PlainRun
        text: str,
        call_id: str | None,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        arguments: Any = None,
        began: float = 0.0,
    ) -> Result:
        if arguments is None:
            began = perf_counter()
            sure = (
                (patient or not needs_patient)
                and (user or not needs_user)
                and (confidence is None or (type(confidence) is float and 0.0 <= confidence <= 1.0))
            )
            if sure:
                try:
                    arguments = pick(text)
                except ValidationError:
                    return _refused(name, call_id, partial(explain, validator, text), began)
                sure = text.count('"') == quotes_in(arguments)
                if defaults:
                    for default, value in defaults:
                        arguments.setdefault(default, value)
            if not sure or not (is_clear is None or is_clear(confidence, message, arguments)):
                caller = Caller(user, patient, message, conversation)
                return await take(Call(name, text, call_id, confidence, caller))
        try:
            if waits:
                with within(seconds):
                    value = await function(**arguments)
            else:
                value = await function(**arguments)
            return answer(value, call_id, began)
        except BaseException as error:  # noqa: BLE001 - `settle` lets cancellation pass
            return settle(error, call_id, began)

    return run


def may_wait(function: Callable[..., Any]) -> bool:
    """Tell whether a coroutine of the function can suspend; where it can't, nothing makes it late.

    Only what awaits, or loops asynchronously, has a place at which it yields.
    """
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & inspect.CO_COROUTINE:
        return True
    return any(step.opname in _YIELDS for step in dis.get_instructions(code))


_YIELDS = frozenset({"SEND", "YIELD_VALUE"})
# A refusal is made for each refused call: its fields in order, without naming defaults.
_make = tuple.__new__


def _refused(name: str, call_id: str | None, why: Callable[[], Failure], began: float) -> Result:
    ms = (perf_counter() - began) * 1000
    return _make(Result, (False, name, "denied", "", None, why, call_id, None, 0, ms,
                          False, (), None, None, False, None, ()))  # fmt: skip
