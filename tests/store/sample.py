"""Records of these tests."""

import time
from typing import Any

from toolmd._types.call import Call, Caller
from toolmd._types.confirmation import EXPIRES_S, Confirmation


def confirmation(
    name: str, tool: str = "act", user: str | None = "ana", **more: Any
) -> Confirmation:
    """Return a pending call."""
    now = more.pop("created", time.time())
    return Confirmation(
        name, "confirm", Call(tool, {"pin": "1234"}, caller=Caller(user, message="My pin is 1234")),
        "bound", "Shall I?", "low", now, now + EXPIRES_S, shown={"pin": "•••"}, **more,
    )  # fmt: skip
