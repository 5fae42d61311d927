"""The export of all tools is built once a snapshot; each caller gets a copy."""

import pytest
from workspace_shop import Shop

from toolmd._export.targets import TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_the_second_export_equals_the_first_and_is_a_copy(shop: Shop, target: str) -> None:
    shop.tool("greet", "def greet(): return {}")
    shop.tool("leave", "def leave(): return {}")
    ws = shop.open()
    first = ws.exported(target)
    again = ws.exported(target)
    assert (again.items, again.losses) == (first.items, first.losses)

    taken = ws.export(target)
    if isinstance(taken, list) and taken:
        taken[0]["cache_control"] = {"type": "ephemeral"}
        taken.pop()
    elif isinstance(taken, dict):
        taken.clear()
    assert ws.export(target) == first.items
