"""Count slowly."""

from collections.abc import AsyncIterator

from toolmd import Context


async def count(to: int, *, context: Context) -> AsyncIterator[object]:
    for number in range(1, to):
        yield number
    await context.progress("almost", 0.99)
    yield to
