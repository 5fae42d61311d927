"""The same promises in each agent framework: its own approvals decide stored questions."""

import ast
import asyncio
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from clerks import USER, Clerk
from shop import (
    BOTH_WAYS,
    LOOK,
    LOOKED,
    REFUND,
    REFUNDED,
    add_review,
    change,
    open_shop,
    ran,
    write_shop,
)

import toolmd
from toolmd import Approver, Caller, Workspace
from toolmd.adapters._host import Host, HostCall

HOSTS = {"pydantic_ai": "PydanticAI", "openai_agents": "OpenAIAgents", "langchain": "LangChain"}
Open = Callable[..., Clerk]


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> str:
    """Return each host that is installed."""
    pytest.importorskip("agents" if request.param == "openai_agents" else request.param)
    return str(request.param)


@pytest.fixture
def clerk(ws: Workspace, host: str) -> Open:
    """Return what builds a clerk whose model makes these replies."""
    kind = getattr(import_module(f"clerk_{host}"), HOSTS[host])
    return lambda *replies, **fields: kind(fields.pop("ws", ws), list(replies), **fields)


def test_the_roles_of_a_hosts_context_may_be_a_list_or_one(ws: Workspace) -> None:
    many: Any = ["clerk", "boss"]
    for context in ({"roles": many}, Caller(roles=many)):
        assert Host(ws).caller_of(context).roles == ("clerk", "boss")
    assert Host(ws).caller_of({"user": "u1", "roles": "clerk"}).roles == ("clerk",)


def test_only_an_equal_call_of_the_same_caller_shares_a_question(ws: Workspace) -> None:
    def ask(call_id: str, caller: Caller, amount: int = 120) -> HostCall:
        return HostCall("refund", {"order": "A1", "amount": amount}, call_id, caller)

    async def main() -> None:
        host, ann = Host(ws), Caller("ann", conversation="k1")
        asked = (await host.begin(ask("c1", ann))).confirmation
        assert asked is not None
        assert [one.id for one in await host.questions(ask("c2", ann))] == [asked.id]
        for other in (
            Caller(conversation="k1"), Caller("eve", conversation="k1"),
            Caller("ann", conversation="k2"), Caller("ann", conversation="k1", roles=("boss",)),
            Caller("ann", conversation="k1", via="till"),
        ):  # fmt: skip
            assert await host.questions(ask("c3", other)) == ()
        assert await host.questions(ask("c4", ann, 121)) == ()

    asyncio.run(main())


@BOTH_WAYS
def test_a_model_corrects_a_denied_call(ws: Workspace, clerk: Open, is_async: bool) -> None:
    wrong = ("look", {"order": "A1", "days": 0})
    right = ("look", {"order": "A1", "days": 2})
    one = clerk([wrong], [wrong], [wrong], [wrong], [right], is_async=is_async)
    assert one.run() == []
    assert ran(ws) == ["look ['A1', 2] by u1"]
    assert {"refund", "look", "ask_twice"} <= one.offered[0]


@BOTH_WAYS
def test_an_approved_call_runs_once_and_so_does_its_slow_neighbour(
    ws: Workspace, clerk: Open, is_async: bool
) -> None:
    python = ws.settings.root / "tools_md/look.py"
    slow = python.read_text().replace("with", "time.sleep(.2)\n    with")
    python.write_text(f"import time\n{slow}")
    ws.reload()
    one = clerk([REFUND, LOOK], is_async=is_async)
    (asked,) = one.run()
    assert one.answer(asked) == []
    assert sorted(ran(ws)) == [LOOKED, REFUNDED]


def test_one_answer_given_twice_runs_the_call_once(ws: Workspace, clerk: Open) -> None:
    one = clerk([REFUND])
    (asked,) = one.run()
    before = one.state
    assert one.answer(asked) == []
    one.state = before
    one.answer(asked)
    assert ran(ws) == [REFUNDED]


@pytest.mark.parametrize("newest_first", [True, False])
def test_a_request_that_repeats_another_is_decided_with_it_and_runs_once(
    ws: Workspace, clerk: Open, host: str, newest_first: bool
) -> None:
    first, second = clerk([REFUND]), clerk([LOOK, REFUND])
    (old,), (new,) = first.run(), second.run()
    assert old.id == new.id
    both = [(first, old), (second, new)]
    for one, asked in reversed(both) if newest_first else both:
        more = one.answer(asked)
        if one is second and not newest_first and host != "pydantic_ai":
            continue  # These make the call again, which the first yes has run: it is asked anew.
        assert more == []
        assert '{"done":"refund"}' in one.read
    assert sorted(ran(ws)) == [LOOKED, REFUNDED]


def test_a_no_runs_nothing_and_leaves_no_question(ws: Workspace, clerk: Open) -> None:
    one = clerk([REFUND])
    assert one.answer(one.run()[0], "reject") == []
    assert (ran(ws), ws.confirmations.pending_sync()) == ([], ())
    assert "rejected" in one.read


def test_a_model_reads_what_a_person_changed(ws: Workspace, clerk: Open) -> None:
    one = clerk([REFUND])
    assert one.answer(one.run()[0], "edit", amount=150) == []
    assert ran(ws) == ["refund ['A1', 150.0] by u1"]
    assert "changed" in one.read


def test_a_bad_edit_runs_nothing_and_the_question_stays(
    ws: Workspace, clerk: Open, host: str
) -> None:
    one = clerk([REFUND])
    (asked,) = one.run()
    if host == "openai_agents":
        ws.confirmations.approve_sync(asked.id, {"amount": 999}, user="u1")
    else:
        (asked,) = one.answer(asked, "edit", amount=999)
    assert (ran(ws), len(ws.confirmations.pending_sync())) == ([], 1)
    assert one.answer(asked, "edit", amount=150) == []
    assert ran(ws) == ["refund ['A1', 150.0] by u1"]


def test_a_person_answers_in_the_tools_place(ws: Workspace, clerk: Open) -> None:
    one = clerk([REFUND])
    assert one.answer(one.run()[0], "respond", respond="Paid in cash") == []
    assert "Paid in cash" in one.read
    assert ran(ws) == []


def test_a_new_process_carries_the_approval_out(ws: Workspace, clerk: Open) -> None:
    one = clerk([REFUND])
    (asked,) = one.run()
    ws.close()
    with open_shop(ws.settings.root) as one.ws:
        assert one.answer(asked) == []
    assert ran(ws) == [REFUNDED]


def test_a_yes_to_the_first_question_of_a_skill_never_answers_the_second(
    ws: Workspace, clerk: Open, host: str
) -> None:
    one = clerk([("ask_twice", {"order": "A1"})])
    (first,) = one.run()
    before, asked = one.state, one.answer(first)
    if host == "openai_agents":  # An SDK whose calls ask once: the model reads the second.
        one.state = before
    asked = one.answer(first) or asked
    (second,) = ws.confirmations.pending_sync()
    assert (second.prompt, ran(ws)) == ("The second?", [])
    if asked:
        asked[0].id = second.id
        assert one.answer(asked[0], "reject") == []
    else:
        ws.confirmations.reject_sync(second.id, user="u1")
    assert (ran(ws), ws.confirmations.pending_sync()) == ([], ())


CHANGES = {
    "policy": ("**Maximum**: 500", "**Maximum**: 400"),
    "file": ("Refund an order.", "Pay an order back."),
    "python": None,
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_between_question_and_yes_asks_again(
    ws: Workspace, clerk: Open, what: str
) -> None:
    one = clerk([REFUND])
    (asked,) = one.run()
    before = one.state
    if (texts := CHANGES[what]) is not None:
        change(ws.settings.root, "refund", *texts)
    else:
        python = ws.settings.root / "tools_md/refund.py"
        python.write_text(python.read_text() + "\nOTHER = 1\n")
    ws.reload()
    for _ in range(2):  # The old answer, twice: it never answers the new question.
        if not (again := one.answer(asked)):
            one.state = before
    (waits,) = ws.confirmations.pending_sync()
    assert (ran(ws), waits.id != asked.id) == ([], True)
    if again:
        assert again[0].id == waits.id
        assert one.answer(again[0]) == []
        assert ran(ws) == [REFUNDED]


def test_a_decision_on_the_console_is_found(ws: Workspace, clerk: Open) -> None:
    one = clerk([REFUND])
    (asked,) = one.run()
    ws.confirmations.approve_sync(asked.id)
    assert one.answer(asked) == []
    assert ran(ws) == [REFUNDED]
    assert '"done":"refund"' in one.read


def test_an_expired_question_is_asked_again(ws: Workspace, clerk: Open) -> None:
    with open_shop(ws.settings.root, expires=0.5) as quick:
        one = clerk([REFUND], ws=quick)
        (asked,) = one.run()
        time.sleep(0.6)
        again = one.answer(asked)
        assert all(other.id != asked.id for other in again)
        assert "confirm" in one.read or again
    assert ran(ws) == []


def test_another_user_decides_nothing(ws: Workspace, clerk: Open) -> None:
    one = clerk([REFUND])
    one.answer(one.run()[0], context={**USER, "user": "u2"})
    assert ran(ws) == []


def test_only_another_person_approves_a_review(tmp_path: Path, clerk: Open, host: str) -> None:
    with open_shop(add_review(write_shop(tmp_path / "reviewed"))) as ws:
        one = clerk([REFUND], ws=ws)
        (asked,) = one.run()
        before = one.state
        asked = next(iter(one.answer(asked)), asked)  # The caller's own yes.
        assert (ran(ws), len(ws.confirmations.pending_sync())) == ([], 1)
        if host == "pydantic_ai":
            one.answer(asked, "respond", user="boss", roles=["manager"])
        else:
            one.state = before
            one.fields = {"decider": lambda context: Approver("boss", "Boss", ("manager",))}
            one.answer(asked)
        assert ran(ws) == [REFUNDED]


def test_the_list_follows_a_reload(ws: Workspace, clerk: Open) -> None:
    tools = ws.settings.root / "tools_md"
    critical = (tools / "report.tool.md").read_text().replace("report", "seal")
    (tools / "seal.tool.md").write_text(f"{critical}\n## Safety\n- **Sensitivity**: critical\n")
    ws.reload()

    def edit() -> None:
        (tools / "seal.tool.md").write_text("# seal")  # It is suspended.
        (tools / "refund.tool.md").unlink(missing_ok=True)
        text = (tools / "report.tool.md").read_text()
        (tools / "new.tool.md").write_text(text.replace("report", "new"))
        ws.reload()

    one = clerk([LOOK], before=edit)
    assert one.run() == []
    assert "refund" in one.offered[0]
    assert one.offered[1] - one.offered[0] == {"new"}
    assert one.offered[0] - one.offered[1] == {"refund", "seal"}


def test_an_image_and_a_file_are_parts_and_confidence_stays_out(ws: Workspace, clerk: Open) -> None:
    one = clerk([("report", {"_confidence": 0.9})])
    assert one.run() == []
    assert one.parts == ["image/png", "application/pdf"]


def test_a_long_result_is_cut_and_the_next_request_can_read_on(ws: Workspace, clerk: Open) -> None:
    one = clerk([("many", {})], [LOOK])
    assert one.run() == []
    assert "read_result" not in one.offered[0]
    assert "read_result" in one.offered[1]


def test_a_sensitive_argument_is_not_in_what_we_show(ws: Workspace, clerk: Open) -> None:
    old = "(string, required): The order."
    change(ws.settings.root, "refund", old, f"{old}\n  - **Sensitive**: true")
    ws.reload()
    one = clerk([("refund", {"order": "SECRET", "amount": 120})])
    (asked,) = one.run()
    assert "SECRET" not in asked.shown
    one.answer(asked, "edit", amount=5)
    assert ran(ws) == ["refund ['SECRET', 5.0] by u1"]


def test_the_adapters_use_no_private_name_of_a_framework() -> None:
    for name in HOSTS:
        path = Path(toolmd.__file__).parent / f"adapters/{name}.py"
        assert len(path.read_text().splitlines()) <= 250
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                own = {"self", "cls"}
                is_own = isinstance(node.value, ast.Name) and node.value.id in own
                assert is_own or node.attr in {"__init__", "__post_init__", "__self__", "_replace"}
            if isinstance(node, ast.ImportFrom) and node.module and "toolmd" not in node.module:
                parts = [*node.module.split("."), *(one.name for one in node.names)]
                assert not any(part.startswith("_") for part in parts)
