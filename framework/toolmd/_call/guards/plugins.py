"""Ask the guards of plugins; an exception or an odd answer denies the call."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from toolmd._call.denial import guard_failed
from toolmd._call.threads import AROUND, is_from_outside
from toolmd._types.call import Call
from toolmd._types.verdict import Action, Problem, Verdict
from toolmd.hooks import Guard

UNNAMED = "denied"
"""The code of a verdict without one: a model always reads a code."""
GUARD_TIMEOUT_S = 5.0
"""How long a guard may take, in seconds."""


async def ask(
    guards: Sequence[Guard],
    call: Call,
    arguments: Mapping[str, Any],
    timeout_s: float = GUARD_TIMEOUT_S,
) -> AsyncIterator[Verdict]:
    """Return each guard's verdict. Raises CallDenied for one that fails, is slow or is odd."""
    for guard in guards:
        # A copy: a guard that changes it must not change what runs.
        shown = call._replace(arguments=deepcopy(dict(arguments)))
        try:
            async with asyncio.timeout(timeout_s):
                verdict = await _answer(guard, shown)
        except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:
            if is_from_outside(error):
                raise
            raise guard_failed(call.tool, "guard", error) from None
        if verdict is not None:
            yield verdict if verdict.code else verdict._replace(code=UNNAMED)


async def _answer(guard: Guard, call: Call) -> Verdict | None:
    arguments = deepcopy(call.arguments)
    assert isinstance(arguments, dict)
    answer: Any
    if inspect.iscoroutinefunction(guard):
        answer = await guard(call, arguments)
    else:
        # In a thread, so that a slow one can be given up.
        answer = await AROUND.run(lambda: guard(call, arguments))
        if inspect.isawaitable(answer):
            answer = await answer
    if answer is None or (isinstance(answer, Verdict) and _is_sound(answer)):
        return answer
    raise TypeError(f"{guard!r} answered {type(answer).__name__}, not a Verdict with its types")


def _is_sound(verdict: Any) -> bool:
    """Return whether each part of a verdict has its type; results and records contain them."""
    texts = [verdict.code, verdict.message, *(text for one in verdict.details for text in one)]
    return (
        isinstance(verdict.action, Action)
        and all(isinstance(one, Problem) for one in verdict.details)
        and all(isinstance(text, str) for text in texts)
        and isinstance(verdict.retry_after_ms, int | None)
    )
