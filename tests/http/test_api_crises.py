"""An operator sees the conversations with a crisis flag, and clears them."""

from collections.abc import Callable
from typing import Any

import httpx
from test_api_calls import problem

Guest = Callable[..., httpx.Client]
HERE = {"Toolmd-Conversation": "c1"}
ORDER = {"arguments": {"dish": "soup"}}


def escalating(kiosk: Any, when: str) -> None:
    definition = kiosk.folder / "tools_md" / "order.tool.md"
    text = definition.read_text("utf-8")
    field = f"## Safety\n\n- **Crisis When**: {when}\n"
    definition.write_text(text.replace("## Safety\n", field, 1))
    kiosk.workspace.reload()


def test_an_operator_lists_and_clears_a_crisis(kiosk: Any, guest: Guest, api: httpx.Client) -> None:
    escalating(kiosk, "dish == 'help'")
    ana = guest("ana")
    help_ = {"arguments": {"dish": "help"}}
    assert ana.post("/api/tools/order/call", json=help_, headers=HERE).json()["crisis"]
    later = ana.post("/api/tools/order/call", json=ORDER, headers=HERE).json()
    assert (later["outcome"], later["crisis"]) == ("review", True)

    assert problem(ana.get("/api/crises")) == (403, "not_permitted")
    clear = {"conversation": "c1", "user": "ana"}
    assert problem(ana.post("/api/crises/clear", json=clear)) == (403, "not_permitted")
    (crisis,) = api.get("/api/crises").json()
    assert (crisis["conversation"], crisis["user"]) == ("c1", "ana")
    other = api.post("/api/crises/clear", json={"conversation": "c1"})
    assert problem(other) == (404, "no_crisis")
    assert api.post("/api/crises/clear", json=clear).json() == clear
    assert api.get("/api/crises").json() == []
    again = ana.post("/api/tools/order/call", json=ORDER, headers=HERE).json()
    assert (again["outcome"], again["crisis"]) == ("confirm", False)
