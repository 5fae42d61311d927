"""A token may call, decide or operate: each route states what it needs, and denies the rest."""

import hashlib
import re
from collections.abc import Callable
from itertools import chain, combinations, product
from typing import Any

import httpx
import pytest
from kiosk import Kiosk
from test_api_calls import problem
from test_api_decisions import decide, pending_by

import toolmd._http.api  # noqa: F401 - declares the operations
from toolmd._auth import ALL_RIGHTS
from toolmd._http.console import PAGES
from toolmd._http.operations import ANY, OPEN, OPERATIONS
from toolmd._types.settings import TokenSettings

NEEDS = {
    **{f"{one.method} {one.path}": one.needs for one in OPERATIONS},
    **{f"GET {path}": ANY for path in PAGES},
    **dict.fromkeys(("GET /enter", "GET /assets/{name}"), OPEN),
}
SETS = [*chain.from_iterable(combinations(ALL_RIGHTS, n) for n in (1, 2, 3))]
REVIEWED = "## Safety\n\n- **Crisis When**: true\n"


@pytest.fixture
def holder(kiosk: Kiosk) -> Any:
    """Make the client of a user whose token has these rights."""
    opened: list[httpx.Client] = []

    def make(*may: Any, user: str = "ana", roles: tuple[str, ...] = ()) -> httpx.Client:
        token = f"{user}-{'-'.join(roles)}-may-{'-'.join(may)}-and-no-more"
        digest = hashlib.sha256(token.encode()).hexdigest()
        kiosk.known = [*kiosk.known, TokenSettings(digest, user, may, roles=roles)]
        opened.append(kiosk.client(token))
        return opened[-1]

    yield make
    for client in opened:
        client.close()


def routes_of(kiosk: Kiosk) -> set[str]:
    return {
        f"{method} {route.path.replace(':path', '')}"
        for route in kiosk.server.routes.routes
        for method in route.methods - {"HEAD"}
    }


def test_each_route_states_what_it_needs(kiosk: Kiosk) -> None:
    assert routes_of(kiosk) == set(NEEDS)


def permitted(needs: str, may: tuple[str, ...]) -> bool:
    return needs in {OPEN, ANY} or any(
        all(one in may for one in needed.split(" and ")) for needed in needs.split(" or ")
    )


def test_a_route_is_denied_exactly_where_a_right_is_missing(
    kiosk: Kiosk, holder: Callable[..., httpx.Client]
) -> None:
    clients = {may: holder(*may) for may in SETS}
    for may, route in product(SETS, sorted(routes_of(kiosk))):
        client = clients[may]
        method, path = route.split()
        body = {} if method == "GET" else {"json": {}}
        with client.stream(method, re.sub(r"{\w+}", "none", path), **body) as answer:
            denied = answer.status_code == 403
            assert denied is not permitted(NEEDS[route], may), (may, route)
            if denied and path.startswith("/api"):
                answer.read()
                assert answer.headers["content-type"] == "application/problem+json"
                told = answer.json()
                assert (told["code"], told["needs"], told["may"]) == (
                    "not_permitted", NEEDS[route], list(may),
                )  # fmt: skip
                assert NEEDS[route] in told["detail"]


def test_a_token_that_may_call_does_not_approve_its_own_call(
    kiosk: Kiosk, holder: Callable[..., httpx.Client]
) -> None:
    host, person = holder("call"), holder("decide")
    pending = pending_by(host)

    assert problem(decide(host, pending, "approve")) == (403, "not_permitted")
    assert kiosk.orders() == []
    assert [one["id"] for one in person.get("/api/pending").json()] == [pending]
    assert problem(person.post("/api/tools/order/call", json={})) == (403, "not_permitted")
    assert decide(person, pending, "approve").json()["outcome"] == "ok"


def test_another_users_call_needs_the_right_to_operate(
    holder: Callable[..., httpx.Client],
) -> None:
    pending = pending_by(holder("call"))
    eve, operator = holder("call", "decide", user="eve"), holder("operate", user="olga")

    assert problem(decide(eve, pending, "approve")) == (404, "confirmation_not_found")
    assert decide(operator, pending, "approve").json()["outcome"] == "ok"


@pytest.mark.parametrize(
    ("decision", "recorded"), [("approve", "run"), ("reject", "deny"), ("respond", "answered")]
)
def test_the_audit_names_the_person_who_decided(
    holder: Callable[..., httpx.Client], decision: str, recorded: str
) -> None:
    host, olga = holder("call"), holder("operate", user="olga")
    text = {"text": "Done by hand."} if decision == "respond" else {}

    decide(olga, pending_by(host), decision, **text)
    decide(holder("decide"), pending_by(host), decision, **text)

    newest = olga.get("/api/audit", params={"outcome": recorded, "limit": 2}).json()
    assert [(one["user"], one["by"]) for one in newest] == [("ana", "ana"), ("ana", "olga")]


def test_an_unknown_outcome_of_the_audit_is_an_error(holder: Callable[..., httpx.Client]) -> None:
    answer = holder("operate").get("/api/audit", params={"outcome": "ran"})
    assert problem(answer) == (400, "malformed_request")
    assert "deny" in answer.json()["detail"]


def test_an_operator_decides_on_an_own_call_only_with_the_right_to_decide(
    holder: Callable[..., httpx.Client],
) -> None:
    pending = pending_by(holder("call"))

    denied = decide(holder("call", "operate"), pending, "approve")

    assert problem(denied) == (403, "not_permitted")
    assert denied.json()["needs"] == "decide"


def test_nobody_approves_a_review_of_an_own_call(
    kiosk: Kiosk, holder: Callable[..., httpx.Client]
) -> None:
    definition = kiosk.folder / "tools_md" / "order.tool.md"
    text = definition.read_text("utf-8")
    definition.write_text(text.replace("## Safety\n", REVIEWED, 1), "utf-8")
    kiosk.workspace.reload()
    ana, olga = holder(*ALL_RIGHTS), holder("operate", user="olga")
    pending = pending_by(ana)

    denied = decide(ana, pending, "approve").json()

    assert (denied["outcome"], denied["error"]["code"]) == ("denied", "review_required")
    assert decide(olga, pending, "approve").json()["outcome"] == "confirm"
    assert decide(ana, pending, "approve").json()["outcome"] == "ok"


APPROVED = "## Approval\n\n- **When**: always\n- **By**: chef\n\n## Safety\n"


def change_the_order(kiosk: Kiosk, instead: str) -> None:
    definition = kiosk.folder / "tools_md" / "order.tool.md"
    text = definition.read_text("utf-8").partition("## Safety\n")[0]
    definition.write_text(text + instead, "utf-8")
    kiosk.workspace.reload()
    for change in kiosk.workspace.changes.list_sync():
        kiosk.workspace.changes.accept_sync(change.name)


@pytest.mark.parametrize("of_a_run", [False, True])
def test_a_person_with_the_role_approves_and_an_operator_without_it_does_not(
    kiosk: Kiosk, holder: Callable[..., httpx.Client], *, of_a_run: bool
) -> None:
    change_the_order(kiosk, APPROVED.removesuffix("## Safety\n"))
    ana = holder(*ALL_RIGHTS, roles=("chef",))
    if of_a_run:
        run = ana.post("/api/skills/dine/run", json={"inputs": {"dish": "soup"}}).json()
        pending = run["confirmation"]["id"]
    else:
        pending = pending_by(ana)

    for client, user in (
        (ana, "the caller"),
        (holder("operate", user="olga"), "an operator"),
        (holder("decide", user="bob", roles=("waiter",)), "another role"),
        (holder("call", user="cara", roles=("chef",)), "no right to decide"),
    ):
        offered = {one["id"]: one["can_approve"] for one in client.get("/api/pending").json()}
        assert not offered.get(pending), user
        answer = decide(client, pending, "approve")
        assert answer.json().get("outcome") != "ok", user
    assert kiosk.orders() == []
    dora = holder("decide", user="dora", roles=("chef",))
    if not of_a_run:
        (offered,) = dora.get("/api/pending").json()
        assert (offered["id"], offered["can_approve"]) == (pending, True)
    assert decide(dora, pending, "approve").json()["outcome"] == "ok"
    assert len(kiosk.orders()) == 1


def test_the_approver_does_not_review_a_crisis(
    kiosk: Kiosk, holder: Callable[..., httpx.Client]
) -> None:
    change_the_order(kiosk, APPROVED + "\n- **Crisis When**: `count > 0`\n")
    pending = pending_by(holder("call"))

    for user in ("dora", "emil"):
        chef = holder("decide", user=user, roles=("chef",))
        assert decide(chef, pending, "approve").json()["outcome"] == "review"
    assert kiosk.orders() == []
    assert decide(holder("operate", user="olga"), pending, "approve").json()["outcome"] == "ok"


def test_a_revoked_token_and_its_session_end_at_once(
    kiosk: Kiosk, holder: Callable[..., httpx.Client]
) -> None:
    client = holder("operate")
    token = client.headers["authorization"].split()[1]
    with httpx.Client(base_url=kiosk.url, headers={"origin": kiosk.url}) as browser:
        assert browser.post("/api/session", json={"token": token}).status_code == 204
        assert browser.get("/audit").status_code == 200
        assert client.get("/api/audit").status_code == 200

        kiosk.known = kiosk.known[:-1]

        assert problem(client.get("/api/audit")) == (401, "unauthorized")
        assert browser.get("/audit").status_code == 401
