"""The stream of events: each user gets their own, and can resume it."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx
from test_api_calls import call
from test_api_decisions import decide, pending_by
from test_api_runs import run

from toolmd._http.events import KEPT, KINDS, Feed


class Event(NamedTuple):
    kind: str
    data: Any
    id: str


def events(lines: Iterator[str]) -> Iterator[Event]:
    found: dict[str, str] = {}
    for line in lines:
        if line:
            key, _, value = line.partition(": ")
            found[key] = value
        elif "event" in found:
            yield Event(found["event"], json.loads(found["data"]), found.get("id", ""))
            found = {}


@contextmanager
def followed(client: httpx.Client, **headers: str) -> Iterator[Iterator[Event]]:
    with client.stream("GET", "/api/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        coming = events(answer.iter_lines())
        assert next(coming).kind == "hello"
        yield coming


def until(coming: Iterator[Event], what: str, /, **parts: Any) -> Event:
    """Return the first event of this kind with these values."""
    for event in coming:
        assert event.kind in KINDS
        if event.kind == what and parts.items() <= event.data.items():
            return event
    raise AssertionError(f"the stream ended before {what} {parts}")


def test_calls_and_confirmations_are_events(api: httpx.Client, kiosk: Any) -> None:
    with followed(api) as coming, kiosk.client() as other:
        held = pending_by(other)
        until(coming, "call", tool="order", outcome="confirm")
        until(coming, "pending", id=held, state="pending", tool="order")
        decide(other, held, "edit", edit={"count": 2})
        until(coming, "call", tool="order", outcome="ok")
        until(coming, "pending", id=held, state="edited")
        call(other, "order", {"count": 0})
        assert until(coming, "call", outcome="denied").data["code"] == "invalid_arguments"


def test_calls_of_the_same_process_are_events(api: httpx.Client, kiosk: Any) -> None:
    with followed(api) as coming:
        kiosk.workspace.call_sync("who_asks", {}, call_id="c7")

        assert until(coming, "call", tool="who_asks").data == {
            "tool": "who_asks", "outcome": "ok", "tool_call_id": "c7",
        }  # fmt: skip


def test_each_step_of_a_run_is_an_event(api: httpx.Client, kiosk: Any) -> None:
    with followed(api) as coming, kiosk.client() as other:
        run_id = run(other, "dine", {"dish": "soup"}, wait=False).json()["run_id"]

        until(coming, "run", run_id=run_id, skill="dine", state="running")
        until(coming, "run-step", run_id=run_id, kind="started", step="1")
        until(coming, "run-step", run_id=run_id, kind="done", step="1")
        until(coming, "run-step", run_id=run_id, kind="waiting")
        until(coming, "run", run_id=run_id, state="waiting")
        kiosk.workspace.runs.cancel_sync(run_id)
        until(coming, "run", run_id=run_id, state="cancelled")


def test_a_step_is_one_event_though_the_run_is_replayed(api: httpx.Client, kiosk: Any) -> None:
    with followed(api) as coming, kiosk.client() as other:
        run_id = run(other, "dine", {"dish": "soup"}).json()["run_id"]
        (held,) = other.get("/api/pending").json()
        other.post(f"/api/pending/{held['id']}", json={"decision": "approve"})

        steps = []
        for event in coming:
            if event.kind == "run-step":
                steps.append((event.data["kind"], event.data["step"]))
            if event.kind == "run" and event.data["state"] == "done":
                break

    assert run_id
    assert len(steps) == len(set(steps))
    assert ("done", "2") in steps


def test_a_client_that_got_only_the_greeting_misses_nothing(api: httpx.Client, kiosk: Any) -> None:
    with api.stream("GET", "/api/events") as answer:
        greeting = next(events(answer.iter_lines()))
    kiosk.workspace.call_sync("who_asks", {}, call_id="meanwhile")

    with followed(api, **{"last-event-id": greeting.id}) as coming:
        event = next(coming)

    assert (event.kind, event.data["tool_call_id"]) == ("call", "meanwhile")


def test_a_save_is_an_event(api: httpx.Client, kiosk: Any) -> None:
    file = kiosk.folder / "tools_md" / "order.tool.md"
    text = file.read_text("utf-8")
    with followed(api) as coming:
        file.write_text(text.replace("# Order", "# Order a Dish"), "utf-8")
        kiosk.workspace.reload()
        told = until(coming, "snapshot").data
        assert (told["generation"], told["changed"], told["tools"]) == (2, ["order"], 6)
        assert until(coming, "diagnostics").data == {"errors": 0, "warnings": 0, "hints": 0}

        file.write_text(text.replace("- **Requires Confirmation**: true\n", ""), "utf-8")
        kiosk.workspace.reload()
        assert until(coming, "policy-change").data == {"names": ["order"]}
        (held,) = httpx.get(f"{kiosk.url}/api/changes", headers=api.headers).json()
        assert held["name"] == "order"

        with kiosk.client() as other:
            acked = other.post("/api/changes/order/accept", json={})
            assert acked.json()["diff"] == held["diff"]
            again = other.post("/api/changes/order/accept", json={})
            assert (again.status_code, again.json()["code"]) == (404, "no_held_edit")
        assert until(coming, "policy-change").data == {"names": []}


def test_findings_are_events(api: httpx.Client, kiosk: Any) -> None:
    file = kiosk.folder / "tools_md" / "echo.tool.md"
    with followed(api) as coming:
        text = file.read_text("utf-8")
        file.write_text(text.replace("- **Type**: object", "- **Type**: objekt", 1), "utf-8")
        kiosk.workspace.reload()
        assert until(coming, "diagnostics").data["errors"] == 1

    found = api.get("/api/diagnostics").json()
    assert ("unknown-type", "error") in [(one["code"], one["severity"]) for one in found]
    assert api.get("/api/tools/echo").json()["stale"] is True


def test_a_broken_stream_continues_after_its_last_event(api: httpx.Client, kiosk: Any) -> None:
    with followed(api) as coming, kiosk.client() as other:
        call(other, "who_asks", call_id="one")
        last = until(coming, "call", tool_call_id="one").id
        call(other, "who_asks", call_id="two")
        call(other, "who_asks", call_id="three")

    with followed(api, **{"last-event-id": last}) as coming:
        assert next(coming).data["tool_call_id"] == "two"
        assert next(coming).data["tool_call_id"] == "three"


def test_a_client_that_missed_events_gets_resync(api: httpx.Client, kiosk: Any) -> None:
    with followed(api, **{"last-event-id": "another-start-3"}) as coming:
        assert next(coming).kind == "resync"
    with followed(api) as coming:
        kiosk.event_source.feed.publish("call", {"tool": "x", "outcome": "ok"})
        last = until(coming, "call").id
    for _ in range(KEPT + 1):
        kiosk.event_source.feed.publish("call", {"tool": "x", "outcome": "ok"})

    with followed(api, **{"last-event-id": last}) as coming:
        assert next(coming).kind == "resync"
        assert next(coming).kind == "call"


def test_a_guest_gets_only_their_own_events(
    guest: Callable[..., httpx.Client], api: httpx.Client, kiosk: Any
) -> None:
    with followed(guest("ana")) as coming:
        call(guest("eve"), "who_asks", call_id="eves")
        call(api, "who_asks", call_id="operators")
        file = kiosk.folder / "tools_md" / "extra.tool.md"
        file.write_text("# Extra\n", "utf-8")
        kiosk.workspace.reload()
        call(guest("ana"), "who_asks", call_id="anas")

        heard = [next(coming)]
        while heard[-1].kind != "call":
            heard.append(next(coming))

    assert heard[-1].data["tool_call_id"] == "anas"
    assert {event.kind for event in heard} <= {"call", "snapshot"}


def test_a_client_that_reads_nothing_delays_no_other(kiosk: Any, api: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", kiosk.port)) as slow:
        token = api.headers["authorization"]
        lines = ("GET /api/events HTTP/1.1", f"Host: 127.0.0.1:{kiosk.port}",
                 f"Authorization: {token}", "", "")  # fmt: skip
        slow.sendall("\r\n".join(lines).encode())
        with followed(api) as coming:
            big = {"tool": "x" * 10_000, "outcome": "ok"}
            for _ in range(3 * KEPT):
                kiosk.event_source.feed.publish("call", big)
            kiosk.event_source.feed.publish("run", {"run_id": "last"})

            until(coming, "run", run_id="last")
            assert call(api, "who_asks").status_code == 200


def test_no_event_is_lost_or_doubled_among_many_followers() -> None:
    async def follow(feed: Feed, last: str) -> list[int]:
        heard = []
        async for event in feed.follow(last, None):
            heard.append(event.data["n"])
            if event.data["n"] == 499:
                break
        return heard

    async def main() -> list[list[int]]:
        feed = Feed()
        feed.serve_here()
        followers = [asyncio.create_task(follow(feed, feed.latest)) for _ in range(20)]
        await asyncio.sleep(0)

        def tell() -> None:
            for number in range(500):
                feed.publish("call", {"n": number})

        await asyncio.to_thread(tell)
        return await asyncio.gather(*followers)

    assert asyncio.run(main()) == [list(range(500))] * 20
