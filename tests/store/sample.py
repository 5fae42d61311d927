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
    caller = Caller(user, message="My pin is 1234")
    return Confirmation(
        id=name, prompt="Shall I?", call=Call(tool, {"pin": "1234"}, caller=caller),
        bound_to="bound", created=now, expires=now + EXPIRES_S, shown={"pin": "•••"}, **more,
    )  # fmt: skip
