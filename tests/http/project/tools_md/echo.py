"""Give back what came."""

from typing import Any


def echo(value: dict[str, Any] | None = None) -> dict[str, Any]:
    return value or {}
