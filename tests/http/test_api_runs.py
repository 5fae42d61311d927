"""Skills run over HTTP."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx
from test_api_calls import problem

Guest = Callable[..., httpx.Client]


def run(client: httpx.Client, skill: str, inputs: Any = None, **more: Any) -> httpx.Response:
    return client.post(f"/api/skills/{skill}/run", json={"inputs": inputs or {}, **more})


def test_a_skill_runs_to_its_end(api: httpx.Client) -> None:
    result = run(api, "greet-guest").json()

    assert (result["success"], result["data"]["who"]["user"]) == (True, "op")
    shown = api.get(f"/api/runs/{result['run_id']}").json()
    assert (shown["state"], shown["skill"]) == ("done", "greet_guest")
    # The record counts from the beginning of the run to its end.
    assert shown["result"].pop("duration_ms") <= result.pop("duration_ms")
    assert shown["result"] == result
    assert [view["id"] for view in api.get("/api/runs").json()] == [result["run_id"]]


def test_a_run_that_waits_is_decided_and_goes_on(api: httpx.Client, kiosk: Any) -> None:
    waiting = run(api, "dine", {"dish": "soup"}).json()
    (held,) = api.get("/api/pending").json()

    assert waiting["success"] is False
    assert held["id"].startswith(f"{waiting['run_id']}/")
    answer = api.post(f"/api/pending/{quote(held['id'], safe='')}", json={"decision": "approve"})
    assert answer.json()["outcome"] == "ok"
    assert api.get(f"/api/runs/{waiting['run_id']}").json()["state"] == "done"
    assert len(kiosk.orders()) == 1


def test_a_run_may_go_on_behind_the_answer(api: httpx.Client) -> None:
    answer = run(api, "dine", {"dish": "soup"}, wait=False)

    assert answer.status_code == 202
    assert answer.headers["location"] == f"/api/runs/{answer.json()['run_id']}"
    shown = api.get(answer.headers["location"]).json()
    assert shown["state"] in {"running", "waiting"}


def test_a_run_is_scheduled_for_a_time_with_a_zone(api: httpx.Client, kiosk: Any) -> None:
    scheduled = run(api, "dine", {"dish": "soup"}, at="2999-05-04T18:30:00+02:00").json()
    shown = api.get(f"/api/runs/{scheduled['run_id']}").json()

    assert scheduled["outcome"] == "waiting"
    assert (shown["state"], shown["began"]) == ("scheduled", "2999-05-04T16:30:00+00:00")
    assert api.get("/api/pending").json() == []
    for unclear in ("2999-05-04T18:30:00", "2999", "2999-05-04", "soon", 7):
        assert run(api, "dine", {"dish": "soup"}, at=unclear).status_code == 400
    cancelled = api.post(f"/api/runs/{scheduled['run_id']}/cancel", json={}).json()
    assert cancelled["error"]["code"] == "cancelled"
    shown = api.get(f"/api/runs/{scheduled['run_id']}").json()
    assert shown["result"]["duration_ms"] == 0
    assert kiosk.orders() == []


def test_a_run_is_cancelled(api: httpx.Client, kiosk: Any) -> None:
    waiting = run(api, "dine", {"dish": "soup"}).json()

    cancelled = api.post(f"/api/runs/{waiting['run_id']}/cancel", json={})

    assert cancelled.json()["success"] is False
    assert api.get(f"/api/runs/{waiting['run_id']}").json()["state"] == "cancelled"
    assert api.get("/api/pending").json() == []
    assert kiosk.orders() == []


def test_an_unknown_skill_or_run_is_a_problem(api: httpx.Client) -> None:
    assert problem(run(api, "order")) == (404, "unknown_skill")
    assert problem(api.get("/api/runs/nothing")) == (404, "unknown_run")
    assert problem(api.post("/api/runs/nothing/cancel", json={})) == (404, "unknown_run")
    assert problem(api.post("/api/runs/nothing/resume", json={})) == (404, "unknown_run")
    odd = run(api, "dine", {"dish": 3})
    assert (odd.status_code, odd.json()["success"]) == (200, False)


def test_a_guest_sees_their_own_runs_alone(guest: Guest, api: httpx.Client) -> None:
    ana, eve = guest("ana"), guest("eve")
    mine = run(ana, "greet_guest").json()["run_id"]

    assert [view["id"] for view in ana.get("/api/runs").json()] == [mine]
    assert eve.get("/api/runs").json() == []
    assert problem(eve.get(f"/api/runs/{mine}")) == (404, "unknown_run")
    assert problem(eve.post(f"/api/runs/{mine}/cancel", json={})) == (404, "unknown_run")
    assert api.get(f"/api/runs/{mine}").status_code == 200
