"""Report each check of a client to the harness, one JSON line per check."""

import json
import sys
from collections.abc import Callable
from typing import Any

ASKED = {"message": "hello", "username": "ben"}
EDIT = {"message": "hello", "username": "ana", "email": "ana@example.org"}
ANSWERS: tuple[tuple[str, dict[str, Any] | None, str], ...] = (
    ("accept", EDIT, "ana <ana@example.org>"),
    ("accept", {}, "ben <nobody@example.org>"),
    ("decline", None, "rejected"),
    ("cancel", None, "confirmation_required"),
)
"""What a person answers to the form of a call, and what the model reads then."""


def told(check: str, ok: object, note: object = "") -> None:
    """Say whether a check held."""
    print(json.dumps({"check": check, "ok": bool(ok), "note": str(note)[:300]}), flush=True)


def texts(result: Any) -> str:
    """Give the words of a result."""
    return " ".join(block.text for block in result.content if block.type == "text")


def kinds(result: Any) -> list[str]:
    """Give the kinds of a result's content."""
    return [block.type for block in result.content]


def server_of(arguments: list[str]) -> tuple[str, Any]:
    """Read how to reach the server: `http URL TOKEN` or `stdio COMMAND…`."""
    kind, *rest = arguments
    return (kind, (rest[0], rest[1])) if kind == "http" else (kind, rest)


async def attempt(check: str, work: Callable[[], Any]) -> None:
    """Do a check that tells of itself; what it raises is its failure."""
    try:
        await work()
    except Exception as error:  # noqa: BLE001 - a client's own exceptions are what is looked for
        print(f"{check}: {error!r}", file=sys.stderr)
        told(check, ok=False, note=repr(error))
