"""Hold the line until the caller hangs up."""

import asyncio
from pathlib import Path

from toolmd import Context


async def hold(*, context: Context) -> str:
    await context.progress("holding")
    try:
        await asyncio.Event().wait()
    finally:
        Path(__file__).with_name("hung-up.txt").touch()
    return "never"
