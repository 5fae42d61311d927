"""Two users of one workspace: neither finds the other's calls, runs or results."""

from typing import Any

import pytest
from workspace_shop import Shop, skill, word

from toolmd import Workspace
from toolmd.errors import NotFoundError, ToolmdError

GUARDED = "\n## Safety\n\n- **Requires Confirmation**: true\n"
STEPS = "1. **Greet**, if they like.\n   - **Ask**: Shall I greet?\n   - **Use**: greet"
GREET = """
from toolmd import Context

def greet(*, context: Context):
    with open(__file__ + ".log", "a") as log:
        log.write(f"{context.user}\\n")
    return {"user": context.user}
"""


class House:
    """A project in which calls and runs wait, and what ran there."""

    def __init__(self, shop: Shop, engine: str) -> None:
        shop.tool("greet", GREET)
        shop.tool("pay", GREET.replace("greet(", "pay(sum, ", 1), word("sum"), GUARDED)
        shop.write("skills_md/welcome.skill.md", skill("welcome", "greet", STEPS))
        self._folder = shop.root
        self.workspace = shop.open(overrides={"store": engine})

    def ran(self) -> list[str]:
        logs = self._folder.rglob("*.log")
        return [line for log in logs for line in log.read_text().splitlines()]


@pytest.fixture(params=["memory", "sqlite"])
def house(shop: Shop, request: pytest.FixtureRequest) -> House:
    return House(shop, request.param)


@pytest.fixture
def ws(house: House) -> Workspace:
    return house.workspace


def pending_for_ana(ws: Workspace) -> str:
    result = ws.call_sync("pay", {"sum": "5"}, user="ana")
    assert result.confirmation is not None
    return result.confirmation.id


def test_no_user_decides_anothers_confirmation(house: House, ws: Workspace) -> None:
    held = pending_for_ana(ws)
    tries = (
        ws.confirmations.approve_sync(held, user="eve"),
        ws.confirmations.approve_sync(held, edit={"sum": "500"}, user="eve"),
        ws.confirmations.reject_sync(held, user="eve"),
        ws.confirmations.respond_sync(held, "It is paid.", user="eve"),
    )

    assert {done.error.code for done in tries if done.error} == {"confirmation_not_found"}
    assert not any(done.success or "sum" in str(done.to_dict()) for done in tries)
    assert ws.confirmations.pending_sync(user="eve") == ()
    assert [one.id for one in ws.confirmations.pending_sync(user="ana")] == [held]
    assert house.ran() == []
    assert ws.confirmations.approve_sync(held, user="ana").data == {"user": "ana"}


def test_no_user_answers_anothers_run(house: House, ws: Workspace) -> None:
    run_id = ws.run_sync("welcome", {}, user="ana").run_id
    (asked,) = ws.confirmations.pending_sync(user="ana")
    tries = (
        ws.confirmations.approve_sync(asked.id, user="eve"),
        ws.confirmations.reject_sync(asked.id, user="eve"),
        ws.confirmations.respond_sync(asked.id, "yes", user="eve"),
    )

    assert {done.error.code for done in tries if done.error} == {"confirmation_not_found"}
    assert not any(done.success for done in tries)
    assert ws.confirmations.pending_sync(user="eve") == ()
    assert house.ran() == []
    assert ws.confirmations.approve_sync(asked.id, user="ana").success
    assert run_id is not None
    assert ws.runs.get_sync(run_id, user="ana").state == "done"
    assert house.ran() == ["ana"]


def test_no_user_sees_anothers_runs(ws: Workspace) -> None:
    run_id = ws.run_sync("welcome", {}, user="ana").run_id
    assert run_id is not None

    assert ws.runs.list_sync(user="eve") == ()
    with pytest.raises(NotFoundError):
        ws.runs.get_sync(run_id, user="eve")
    assert [view.id for view in ws.runs.list_sync(user="ana")] == [run_id]


@pytest.mark.parametrize(
    "other", [{"user": "eve"}, {}, {"user": "ana", "context": {"patient": "p-2"}}]
)
def test_no_user_gets_anothers_result_by_the_id_of_its_run(
    house: House, ws: Workspace, other: dict[str, Any]
) -> None:
    mine: dict[str, Any] = {"user": "ana", "context": {"patient": "p-1"}, "run_id": "run-1"}
    done = ws.run_sync("welcome", {}, ask=lambda _: True, **mine)
    assert done.success

    with pytest.raises(ToolmdError, match="another run") as told:
        ws.run_sync("welcome", {}, ask=lambda _: True, **other, run_id="run-1")
    assert "ana" not in str(told.value)
    assert ws.run_sync("welcome", {}, **mine)._replace(duration_ms=done.duration_ms) == done
    assert house.ran() == ["ana"]
