"""An agent of LangChain calls the shop's tools: its interrupts decide stored questions."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from shop import (
    add_asking_skill,
    add_many,
    add_report,
    add_review,
    calls_of,
    change,
    open_shop,
    write_shop,
)

from toolmd import Approver, Workspace
from toolmd.adapters.langchain import ToolmdMiddleware, tools

Calls = list[tuple[str, dict[str, Any]]]
USER = {"user": "u1"}
REFUND = ("refund", {"order": "A1", "amount": 120})
REFUNDED = "refund ['A1', 120.0] by u1"
LOOK = ("look", {"order": "A1"})
LOOKED = "look ['A1', 1] by u1"
CONFIG = {"configurable": {"thread_id": "k1"}}
WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    """Return the open shop."""
    folder = write_shop(tmp_path / "shop")
    add_asking_skill(folder)
    add_report(folder)
    with open_shop(folder) as opened:
        yield opened


class Script(BaseChatModel):
    """A model that makes these replies, each a list of calls, and then says `done`."""

    replies: list[Calls]
    offered: list[set[str]] = []  # noqa: RUF012 - pydantic copies it
    read: str = ""
    before: Callable[[], None] = lambda: None

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.offered.append({one.name for one in tools})
        return self

    @property
    def _llm_type(self) -> str:
        return "script"

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        done = sum(isinstance(one, AIMessage) for one in messages)
        self.read = str([one.content for one in messages if isinstance(one, ToolMessage)][-2:])
        if done == len(self.replies):
            reply = AIMessage("done")
        else:
            self.before()
            calls = [
                {"name": name, "args": given, "id": f"c{done}-{n}", "type": "tool_call"}
                for n, (name, given) in enumerate(self.replies[done])
            ]
            reply = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


class Clerk:
    """An agent of the shop, its checkpoints and its model."""

    def __init__(self, ws: Workspace, *replies: Calls, is_async: bool = False, **fields: Any):
        self.model, self.saver, self.is_async = (
            Script(replies=list(replies)),
            InMemorySaver(),
            is_async,
        )
        self.fields = fields
        self.open(ws)

    def open(self, ws: Workspace, **fields: Any) -> None:
        """Build the agent, as a new process would."""
        own = {"tools": [], "checkpointer": self.saver, **self.fields}
        middleware = [] if own["tools"] else [ToolmdMiddleware(ws, **fields)]
        self.agent = create_agent(self.model, middleware=middleware, context_schema=dict, **own)

    def invoke(self, given: Any, context: Any) -> Any:
        """Run until the model is done or a person must decide."""
        if self.is_async:
            return asyncio.run(self.agent.ainvoke(given, CONFIG, context=context))
        return self.agent.invoke(given, CONFIG, context=context)

    def run(self, context: Any = USER) -> list[dict[str, Any]]:
        """Begin, and return what is asked."""
        return self.asked(self.invoke({"messages": [("user", "Refund A1")]}, context))

    def answer(self, value: Any, context: Any = USER) -> list[dict[str, Any]]:
        """Resume, and return what is asked."""
        return self.asked(self.invoke(Command(resume=value), context))

    def asked(self, result: Any) -> list[dict[str, Any]]:
        """Return the values of the interrupts."""
        self.messages = result["messages"]
        return [one.value for one in result.get("__interrupt__", ())]


def approve(asked: dict[str, Any], kind: str = "approve", **fields: Any) -> dict[str, Any]:
    """Return the answer to a question."""
    return {"id": asked["id"], "type": kind, **fields}


def edit(asked: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """Return the answer that changes arguments."""
    args = {**asked["args"], **arguments}
    return approve(asked, "edit", edited_action={"name": asked["name"], "args": args})


def ran(ws: Workspace) -> list[str]:
    """Return the calls that ran."""
    return calls_of(ws.settings.root)


@WAYS
def test_a_model_corrects_a_denied_call(ws: Workspace, is_async: bool) -> None:
    wrong = ("look", {"order": "A1", "days": 0})
    right = ("look", {"order": "A1", "days": 2})
    clerk = Clerk(ws, [wrong], [wrong], [wrong], [wrong], [right], is_async=is_async)
    assert clerk.run() == []
    assert ran(ws) == ["look ['A1', 2] by u1"]
    assert {"refund", "look", "ask_twice"} <= clerk.model.offered[0]
    statuses = [one.status for one in clerk.messages if isinstance(one, ToolMessage)]
    assert statuses == ["error"] * 4 + ["success"]


@WAYS
def test_an_approved_call_runs_once_and_so_does_its_slow_neighbour(
    ws: Workspace, is_async: bool
) -> None:
    python = ws.settings.root / "tools_md/look.py"
    python.write_text(
        "import time\n" + python.read_text().replace("with", "time.sleep(.2)\n    with")
    )
    ws.reload()
    clerk = Clerk(ws, [REFUND, LOOK], is_async=is_async)
    (asked,) = clerk.run()
    assert asked["args"] == {"order": "A1", "amount": 120.0}
    assert "120" in asked["description"]
    assert clerk.answer(approve(asked)) == []
    assert sorted(ran(ws)) == [LOOKED, REFUNDED]


def test_a_state_resumed_twice_runs_once(ws: Workspace) -> None:
    clerk = Clerk(ws, [REFUND])
    (asked,) = clerk.run()
    before = clerk.agent.get_state(CONFIG).config
    for _ in range(2):
        clerk.agent.invoke(Command(resume=approve(asked)), before, context=USER)
    assert ran(ws) == [REFUNDED]


@pytest.mark.parametrize(
    "answer",
    [True, "approve", {"type": "approve"}, {"id": "other", "type": "approve"},
     {"decisions": [{"type": "approve"}]}, {"id": "@", "type": "maybe"},
     {"id": "@", "type": "edit"},
     {"id": "@", "type": "edit", "edited_action": {"name": "look", "args": {}}}],
)  # fmt: skip
def test_an_answer_without_the_questions_id_decides_nothing(ws: Workspace, answer: Any) -> None:
    clerk = Clerk(ws, [REFUND])
    (asked,) = clerk.run()
    if isinstance(answer, dict) and answer.get("id") == "@":
        answer = {**answer, "id": asked["id"]}
    (again,) = clerk.answer(answer)
    assert (again["id"], ran(ws)) == (asked["id"], [])
    assert clerk.answer(approve(again)) == []
    assert ran(ws) == [REFUNDED]


@WAYS
def test_a_yes_to_the_first_question_never_answers_the_second(
    ws: Workspace, is_async: bool
) -> None:
    clerk = Clerk(ws, [("ask_twice", {"order": "A1"})], is_async=is_async)
    (first,) = clerk.run()
    (second,) = clerk.answer(approve(first))
    assert [first["description"], second["description"]] == ["The first?", "The second?"]
    (again,) = clerk.answer(approve(first))
    assert again["id"] == second["id"]
    assert clerk.answer(approve(second, "reject")) == []
    assert (ran(ws), ws.confirmations.pending_sync()) == ([], ())


def test_a_skill_goes_on_after_both_questions(ws: Workspace) -> None:
    clerk = Clerk(ws, [("ask_twice", {"order": "A1"})])
    (second,) = clerk.answer(approve(clerk.run()[0]))
    assert clerk.answer(approve(second)) == []
    assert ran(ws) == [LOOKED]


def test_a_no_runs_nothing_leaves_no_question_and_tells_the_reason(ws: Workspace) -> None:
    clerk = Clerk(ws, [REFUND])
    clerk.answer(approve(clerk.run()[0], "reject", message="The order is too old"))
    assert (ran(ws), ws.confirmations.pending_sync()) == ([], ())
    assert "rejected" in clerk.model.read
    assert "too old" in clerk.model.read


def test_an_edit_is_checked_and_told_and_a_bad_one_asks_again(ws: Workspace) -> None:
    clerk = Clerk(ws, [REFUND])
    (asked,) = clerk.run()
    (again,) = clerk.answer(edit(asked, amount=999))
    assert ran(ws) == []
    assert "500" in again["description"]
    assert clerk.answer(edit(again, amount=150)) == []
    assert ran(ws) == ["refund ['A1', 150.0] by u1"]
    assert "changed amount" in clerk.model.read


def test_an_optional_argument_that_a_person_takes_out_is_out(ws: Workspace) -> None:
    change(ws.settings.root, "look", "- **Read Only**: true",
           "- **Read Only**: true\n\n## Safety\n- **Requires Confirmation**: true")  # fmt: skip
    ws.reload()
    clerk = Clerk(ws, [("look", {"order": "A1", "days": 9})])
    (asked,) = clerk.run()
    action = {"name": "look", "args": {"order": "A1"}}
    clerk.answer(approve(asked, "edit", edited_action=action))
    assert ran(ws) == [LOOKED]


def test_a_person_answers_in_the_tools_place(ws: Workspace) -> None:
    clerk = Clerk(ws, [REFUND])
    clerk.answer(approve(clerk.run()[0], "respond", message="Paid in cash"))
    assert "Paid in cash" in clerk.model.read
    assert ran(ws) == []


def test_two_questions_are_answered_one_after_the_other(ws: Workspace) -> None:
    clerk = Clerk(ws, [REFUND, ("refund", {"order": "B2", "amount": 5})])
    result = clerk.invoke({"messages": [("user", "Refund both")]}, USER)
    first, second = sorted(result["__interrupt__"], key=lambda one: one.value["args"]["order"])
    clerk.answer({first.id: approve(first.value)})
    clerk.answer({second.id: approve(second.value, "reject")})
    assert ran(ws) == [REFUNDED]
    assert ws.confirmations.pending_sync() == ()


def test_a_new_process_resumes_from_its_checkpoints(ws: Workspace, tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        (asked,) = Clerk(ws, [REFUND], checkpointer=saver).run()
    ws.close()
    with (
        open_shop(ws.settings.root) as again,
        SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver,
    ):
        assert Clerk(again, [REFUND], checkpointer=saver).answer(approve(asked)) == []
    assert ran(ws) == [REFUNDED]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("**Maximum**: 500", "**Maximum**: 400"),
        ("Refund an order.", "Pay an order back."),
        ("", ""),
    ],
    ids=["policy", "file", "python"],
)
def test_a_change_between_question_and_yes_asks_again(ws: Workspace, old: str, new: str) -> None:
    clerk = Clerk(ws, [REFUND])
    (asked,) = clerk.run()
    if old:
        change(ws.settings.root, "refund", old, new)
    else:
        python = ws.settings.root / "tools_md/refund.py"
        python.write_text(python.read_text() + "\nOTHER = 1\n")
    ws.reload()
    (again,) = clerk.answer(approve(asked))
    assert ran(ws) == []
    assert again["id"] != asked["id"]
    assert clerk.answer(approve(again)) == []
    assert ran(ws) == [REFUNDED]


def test_a_decision_on_the_console_is_found(ws: Workspace) -> None:
    clerk = Clerk(ws, [REFUND])
    (asked,) = clerk.run()
    ws.confirmations.approve_sync(asked["id"])
    assert clerk.answer(approve(asked, "reject")) == []
    assert ran(ws) == [REFUNDED]
    assert '"done":"refund"' in clerk.model.read


def test_an_expired_question_is_asked_again(ws: Workspace, tmp_path: Path) -> None:
    with open_shop(ws.settings.root, expires=1) as quick:
        clerk = Clerk(quick, [REFUND])
        (asked,) = clerk.run()
        time.sleep(1.1)
        (again,) = clerk.answer(approve(asked))
        assert again["id"] != asked["id"]
        assert ran(ws) == []
        clerk.answer(approve(again))
    assert ran(ws) == [REFUNDED]


def test_another_user_decides_nothing(ws: Workspace) -> None:
    clerk = Clerk(ws, [REFUND])
    (asked,) = clerk.run()
    (other,) = clerk.answer(approve(asked), {"user": "u2"})
    assert (ran(ws), other["id"] != asked["id"]) == ([], True)


def test_only_another_person_approves_a_review(tmp_path: Path) -> None:
    ws = open_shop(add_review(write_shop(tmp_path / "reviewed")))
    clerk = Clerk(ws, [REFUND])
    (asked,) = clerk.run()
    assert asked["kind"] == "review"
    own = {**approve(asked), "user": "boss", "roles": ["manager"]}
    clerk.answer(own)
    assert ran(ws) == []  # An answer names nobody: the context of the run does.
    other = Clerk(ws, [REFUND])
    (asked,) = other.run({"user": "u1", "conversation": "k2"})
    other.open(ws, decider=lambda context: Approver("boss", "Boss", ("manager",)))
    other.answer(approve(asked), {"user": "u1", "conversation": "k2"})
    assert ran(ws) == [REFUNDED]
    ws.close()


def test_a_reload_shows_with_the_next_request(ws: Workspace) -> None:
    clerk = Clerk(ws, [LOOK])

    def remove() -> None:
        (ws.settings.root / "tools_md/refund.tool.md").unlink()
        ws.reload()

    clerk.model.before = remove
    clerk.run()
    assert "refund" in clerk.model.offered[0]
    assert "refund" not in clerk.model.offered[-1]


@WAYS
def test_an_image_is_an_image_and_confidence_stays_out(ws: Workspace, is_async: bool) -> None:
    clerk = Clerk(ws, [("report", {"_confidence": 0.9})], is_async=is_async)
    assert clerk.run() == []
    text, image = clerk.messages[-2].content
    assert (text["type"], image["type"], image["mime_type"]) == ("text", "image", "image/png")
    assert clerk.messages[-2].artifact["success"] is True


def test_a_long_result_is_cut_and_read_in_pages(ws: Workspace) -> None:
    add_many(ws.settings.root)
    ws.reload()
    clerk = Clerk(ws, [("many", {})], [LOOK])
    clerk.run()
    assert len(str(clerk.messages[2].content)) < 40_000
    assert "read_result" not in clerk.model.offered[0]
    assert "read_result" in clerk.model.offered[1]


@WAYS
def test_progress_arrives_before_the_result(ws: Workspace, is_async: bool) -> None:
    add_many(ws.settings.root)
    ws.reload()
    clerk = Clerk(ws, [("many", {})])
    given = ({"messages": [("user", "Go")]}, CONFIG)
    modes = {"context": USER, "stream_mode": ["custom", "updates"]}

    async def stream() -> list[Any]:
        return [one async for one in clerk.agent.astream(*given, **modes)]

    seen = asyncio.run(stream()) if is_async else list(clerk.agent.stream(*given, **modes))
    kinds = [mode if mode == "custom" else next(iter(value)) for mode, value in seen]
    assert kinds.index("custom") < kinds.index("tools")
    assert next(value for mode, value in seen if mode == "custom")["kind"] == "progress"


def test_a_sensitive_argument_is_in_no_interrupt_and_an_edit_keeps_it(ws: Workspace) -> None:
    change(ws.settings.root, "refund", "(string, required): The order.",
           "(string, required): The order.\n  - **Sensitive**: true")  # fmt: skip
    ws.reload()
    clerk = Clerk(ws, [("refund", {"order": "SECRET", "amount": 120})])
    (asked,) = clerk.run()
    assert "SECRET" not in str(asked)
    clerk.answer(edit(asked, amount=5))
    assert ran(ws) == ["refund ['SECRET', 5.0] by u1"]


def test_an_unknown_name_is_denied_with_what_there_is(ws: Workspace) -> None:
    clerk = Clerk(ws, [("lok", {"order": "A1"})])
    clerk.run()
    assert "unknown_tool" in clerk.model.read
    assert "look" in clerk.model.read


def test_the_agents_own_tools_stay_and_none_takes_a_guarded_name(ws: Workspace) -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @tool
    def refund(order: str, amount: float) -> str:
        """Refund without a check."""
        return f"UNGUARDED {order} {amount}"

    clerk = Clerk(ws, [("add", {"a": 1, "b": 2})], [REFUND])
    clerk.agent = create_agent(
        clerk.model, tools=[add, refund], middleware=[ToolmdMiddleware(ws)],
        context_schema=dict, checkpointer=clerk.saver,
    )  # fmt: skip
    (asked,) = clerk.run()
    clerk.answer(approve(asked))
    assert "UNGUARDED" not in str(clerk.messages)
    assert ran(ws) == [REFUNDED]
    assert any(one.content == "3" for one in clerk.messages)


@WAYS
def test_the_fixed_list_works_without_the_middleware(ws: Workspace, is_async: bool) -> None:
    clerk = Clerk(
        ws, [REFUND, ("look", {"order": "A1", "config": 1})], tools=tools(ws), is_async=is_async
    )
    (asked,) = clerk.run()
    assert clerk.answer(approve(asked)) == []
    assert ran(ws) == [REFUNDED]


def test_a_node_of_tools_asks_too(ws: Workspace) -> None:
    graph = StateGraph(MessagesState, context_schema=dict)
    graph.add_node("tools", ToolNode(tools(ws)))
    graph.add_edge(START, "tools")
    app = graph.compile(checkpointer=InMemorySaver())
    call = {"name": REFUND[0], "args": REFUND[1], "id": "c1", "type": "tool_call"}
    said = {"messages": [("user", "Refund"), AIMessage("", tool_calls=[call])]}
    (asked,) = app.invoke(said, CONFIG, context=USER)["__interrupt__"]
    app.invoke(Command(resume=approve(asked.value)), CONFIG, context=USER)
    assert ran(ws) == [REFUNDED]


def test_an_agent_without_a_checkpointer_warns(ws: Workspace) -> None:
    clerk = Clerk(ws, [REFUND], checkpointer=None)
    with pytest.warns(UserWarning, match="no checkpointer"):
        clerk.agent.invoke({"messages": [("user", "Refund")]}, context=USER)
    assert len(ws.confirmations.pending_sync()) == 1
