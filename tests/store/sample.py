"""Records of these tests."""

import time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from toolmd._store.limits import Claim
from toolmd._store.store import Store
from toolmd._types.call import Call, Caller
from toolmd._types.confirmation import EXPIRES_S, Confirmation
from toolmd._types.quota import Quota


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


def claims(tool: str, who: str, most: int) -> list[Claim]:
    """Return what a call needs of a quota that never ends."""
    quota = Quota(most, ("user",), "ever")
    return [Claim(f"{tool} {who}", quota, Decimal(1), ZoneInfo("UTC"), "")]


def count(store: Store, tool: str, who: str, most: int) -> bool:
    """Count one more call; False where `most` were counted already."""
    return store.limits.claim(tool, claims(tool, who, most), time.time()) is None


def uncount(store: Store, tool: str, who: str) -> None:
    """Remove a call that did not start from the count."""
    store.limits.give_back(tool, claims(tool, who, 9), time.time())


def counted(store: Store, tool: str, who: str) -> int:
    """Return how many calls were counted."""
    full = store.limits.look(claims(tool, who, 0), time.time())
    assert full is not None
    return int(full.used)
