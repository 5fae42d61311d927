"""Sell flowers."""

from toolmd import ToolError


async def sell_flowers(kind: str, number: int, note: str | None = None) -> str:
    if kind == "iris":
        raise ToolError("There are no irises left.", code="sold_out")
    return f"{number} x {kind}" + (f" ({note})" if note else "")
