"""Ask the judges that plugins bring; whatever breaks or answers oddly refuses the call."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from toolmd._call.refusal import guard_failed
from toolmd._call.threads import AROUND
from toolmd._model.call import Call
from toolmd._model.verdict import Ruling, Verdict
from toolmd.hooks import Judge

UNNAMED = "denied"
"""The code of a verdict that has none: what a model reads always has one."""
PATIENCE_S = 5.0
"""How long a judge may take, in seconds."""


async def ask(
    judges: Sequence[Judge],
    call: Call,
    arguments: Mapping[str, Any],
    patience: float = PATIENCE_S,
) -> AsyncIterator[Verdict]:
    """Give each judge's verdict; raises a Refusal for one that fails, is slow or answers oddly."""
    for judge in judges:
        # Of its own: a judge that changes what it was shown must not change what runs.
        shown = call._replace(arguments=deepcopy(dict(arguments)))
        try:
            async with asyncio.timeout(patience):
                verdict = await _answer(judge, shown)
        except Exception as error:  # noqa: BLE001 - whatever breaks in a guard refuses
            raise guard_failed(call.tool, "judge", error) from None
        if verdict is not None:
            yield verdict if verdict.code else verdict._replace(code=UNNAMED)


async def _answer(judge: Judge, call: Call) -> Verdict | None:
    arguments = deepcopy(call.arguments)
    assert isinstance(arguments, dict)
    answer: Any
    if inspect.iscoroutinefunction(judge):
        answer = await judge(call, arguments)
    else:
        # In a thread, so that a slow one can be given up.
        answer = await AROUND.run(lambda: judge(call, arguments))
        if inspect.isawaitable(answer):
            answer = await answer
    if answer is None or (isinstance(answer, Verdict) and isinstance(answer.ruling, Ruling)):
        return answer
    raise TypeError(f"{judge!r} answered {type(answer).__name__}, not a Verdict")
