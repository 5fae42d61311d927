"""Two users of one server can't reach each other's calls and runs."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from test_api_calls import problem
from test_api_decisions import decide, pending_by
from test_api_runs import run

Guest = Callable[..., httpx.Client]
DECISIONS: list[dict[str, Any]] = [
    {"decision": "approve"},
    {"decision": "edit", "edit": {"count": 9}},
    {"decision": "reject"},
    {"decision": "respond", "text": "The kitchen is closed."},
]


@pytest.fixture
def guests(guest: Guest) -> tuple[httpx.Client, httpx.Client]:
    return guest("ana"), guest("eve")


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda one: one["decision"])
def test_no_user_decides_anothers_pending_call(
    guests: tuple[httpx.Client, httpx.Client], kiosk: Any, decision: dict[str, Any]
) -> None:
    ana, eve = guests
    held = pending_by(ana)

    answer = decide(eve, held, **decision)

    assert problem(answer) == (404, "confirmation_not_found")
    assert "soup" not in answer.text
    assert eve.get("/api/pending").json() == []
    assert kiosk.orders() == []
    assert decide(ana, held, "approve").json()["outcome"] == "ok"
    assert kiosk.orders() == [{"dish": "soup", "count": 1}]


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda one: one["decision"])
def test_no_user_changes_anothers_run(
    guests: tuple[httpx.Client, httpx.Client], kiosk: Any, decision: dict[str, Any]
) -> None:
    ana, eve = guests
    run_id = run(ana, "dine", {"dish": "soup"}).json()["run_id"]
    (asked,) = ana.get("/api/pending").json()

    answers = [
        eve.get(f"/api/runs/{run_id}"),
        eve.post(f"/api/runs/{run_id}/resume", json={}),
        eve.post(f"/api/runs/{run_id}/cancel", json={}),
        decide(eve, quote(asked["id"], safe=""), **decision),
    ]

    assert [problem(answer)[0] for answer in answers] == [404] * 4
    assert not any("soup" in answer.text for answer in answers)
    assert (eve.get("/api/pending").json(), eve.get("/api/runs").json()) == ([], [])
    assert kiosk.orders() == []
    assert ana.get(f"/api/runs/{run_id}").json()["state"] == "waiting"
    assert decide(ana, quote(asked["id"], safe=""), "approve").json()["outcome"] == "ok"
    assert len(kiosk.orders()) == 1


def test_no_header_changes_a_guests_user(kiosk: Any, guest: Guest) -> None:
    said = {"x-toolmd-user": "ana", "x-user": "ana", "x-forwarded-user": "ana"}
    held = pending_by(guest("ana"))

    assert problem(decide(guest("eve", **said), held, "approve"))[0] == 404
    assert kiosk.orders() == []
