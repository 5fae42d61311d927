"""Taste a dish."""

from toolmd import Context


async def taste(dish: str, *, context: Context) -> str:
    await context.progress("Tasting", 0.5)
    return f"good {dish}"
