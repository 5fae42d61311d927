"""Ask the run's own user through the host's `ask`, a function or a coroutine function."""

import inspect
from collections.abc import Awaitable, Callable

from toolmd._call.threads import AROUND
from toolmd._types.run import Answer, Asker, Question


def asking(ask: Asker, by: str | None) -> Callable[[Question], Awaitable[Answer | None]]:
    """Return a coroutine function that asks a person through `ask`.

    It asks the run's own user, so a review stays open for somebody else. `by` is the person's
    name, where the host knows it.
    """

    async def asked(question: Question) -> Answer | None:
        if question.kind == "review":
            return None
        if inspect.iscoroutinefunction(ask):
            reply = await ask(question)
        else:
            # Someone at a terminal takes long: time-outs and parallel steps must not wait.
            reply = await AROUND.run(lambda: ask(question))
            reply = await reply if inspect.isawaitable(reply) else reply
        given = Answer(approved=reply) if isinstance(reply, bool) else reply
        return given and given._replace(by=given.by or by)

    return asked
