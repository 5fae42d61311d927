"""Tell how far it is."""

from toolmd import Context


async def test_tool_with_progress(*, context: Context) -> str:
    for fraction in (0.0, 0.5, 1.0):
        await context.progress("going on", fraction)
    return "Done."
