"""A run gives the Result that every call gives, whichever way it is come by."""

from collections.abc import Iterator

import pytest
from tests.definitions import skill, tool

from toolmd import Failure, Result, Workspace
from toolmd.errors import NotFoundError
from toolmd.testing import memory_workspace

SAY = tool(
    "say",
    "- **word** (string, required): The word",
    metadata="- **Idempotent**: true\n",
)
GREET = skill(
    "greet",
    "say",
    """1. **Agree**.
   - **Ask**: Greet {word}?
2. **Say** it.
   - **Use**: say
   - **With**:
     - word: `word`
   - **Save as**: said
3. **Return**:
   - said: `said.word`""",
    "- **word** (string, required): The word",
)


def say(word: str) -> dict[str, str]:
    if word == "bad":
        raise ValueError(word)
    return {"word": word}


@pytest.fixture(params=["memory", "sqlite"])
def ws(request: pytest.FixtureRequest) -> Iterator[Workspace]:
    texts = {"say.tool.md": SAY, "greet.skill.md": GREET}
    with memory_workspace(texts, [say], overrides={"store": request.param}) as opened:
        assert opened.diagnostics == ()
        yield opened


def shown(result: Result) -> dict[str, object]:
    return {key: value for key, value in result.to_dict().items() if key != "duration_ms"}


def test_a_run_and_the_answer_to_its_question_give_the_same_shape(ws: Workspace) -> None:
    at_once = ws.run_sync("greet", {"word": "hi"}, ask=lambda _: True)
    waiting = ws.run_sync("greet", {"word": "hi"})
    later = ws.confirmations.approve_sync(waiting.waiting[0].id)
    assert type(at_once) is type(later) is Result
    assert at_once.run_id != later.run_id == waiting.run_id
    assert shown(at_once._replace(run_id=None)) == shown(later._replace(run_id=None)) == {
        "success": True, "tool": "greet", "outcome": "ok", "message": "Greet: done.",
        "data": {"said": "hi"}, "attempts": 1, "crisis": False,
    }  # fmt: skip


def test_a_waiting_run_names_its_question(ws: Workspace) -> None:
    result = ws.run_sync("greet", {"word": "hi"}, user="ana")
    assert (result.success, result.outcome, result.error) == (False, "confirm", None)
    (asked,) = result.waiting
    assert asked.id == f"{result.run_id}/1:ask"
    assert (asked.kind, asked.prompt, asked.parameters) == ("confirm", "Greet hi?", {"word": "hi"})
    assert result.confirmation is not None
    assert result.confirmation.id == asked.id
    assert result.to_dict()["waiting"] == [asked.to_dict()]
    assert [held.id for held in ws.confirmations.pending_sync(user="ana")] == [asked.id]
    assert ws.confirmations.get_sync(asked.id, user="ben") is None
    held = ws.confirmations.get_sync(asked.id)
    assert held is not None
    assert held.call.caller.user == "ana"


def test_a_failed_run_has_an_error_like_a_call(ws: Workspace) -> None:
    result = ws.run_sync("greet", {"word": "bad"}, ask=lambda _: True)
    assert (result.outcome, result.data) == ("failed", None)
    assert isinstance(result.error, Failure)
    assert result.error.code == "tool_error"
    assert result.message.startswith("Step 2 (Say) failed: ")
    kept = ws.runs.get_sync(str(result.run_id)).result
    assert kept is not None
    assert shown(kept) == shown(result)


def test_runs_are_listed_in_pages_the_newest_first(ws: Workspace) -> None:
    begun = [ws.run_sync("greet", {"word": "hi"}, user=f"u{n % 2}").run_id for n in range(5)]
    newest = begun[::-1]
    first = ws.runs.list_sync(limit=2)
    second = ws.runs.list_sync(limit=2, after=first[-1].id)
    third = ws.runs.list_sync(limit=2, after=second[-1].id)
    assert [view.id for view in (*first, *second, *third)] == newest
    assert [len(page) for page in (first, second, third)] == [2, 2, 1]
    ws.run_sync("greet", {"word": "hi"})
    assert ws.runs.list_sync(limit=2, after=first[-1].id) == second
    assert [view.id for view in ws.runs.list_sync(user="u1", limit=2)] == [begun[3], begun[1]]
    assert ws.runs.list_sync(user="u1", limit=2, after=begun[1]) == ()
    assert ws.runs.list_sync(user="U1") == ()
    with pytest.raises(NotFoundError):
        ws.runs.list_sync(user="u1", after=begun[0])
    with pytest.raises(NotFoundError):
        ws.runs.list_sync(after="run-none")


def test_a_run_with_one_question_is_answered_by_its_id(ws: Workspace) -> None:
    run_id = str(ws.run_sync("greet", {"word": "hi"}, user="ana").run_id)
    with pytest.raises(NotFoundError):
        ws.runs.answer_sync(run_id, True, user="ben")
    assert ws.runs.answer_sync(run_id, True, user="ana").data == {"said": "hi"}
    with pytest.raises(NotFoundError, match="waits for no answer"):
        ws.runs.answer_sync(run_id, True)
    again = ws.runs.answer_sync(run_id, True, key="1:ask")
    assert again.error is not None
    assert again.error.code == "confirmation_used"


def test_a_question_that_a_run_never_asked_is_not_found(ws: Workspace) -> None:
    run_id = ws.run_sync("greet", {"word": "hi"}, user="ana").run_id
    for decide in (ws.confirmations.approve_sync, ws.confirmations.reject_sync):
        denied = decide(f"{run_id}/7:ask", user="ana")
        assert denied.error is not None
        assert denied.error.code == "confirmation_not_found"
    assert ws.confirmations.approve_sync(f"{run_id}/1:ask", user="ana").data == {"said": "hi"}


def test_a_run_is_followed_to_its_end(ws: Workspace) -> None:
    run_id = str(ws.run_sync("greet", {"word": "hi"}).run_id)
    traces = ws.runs.follow_sync(run_id)
    assert next(traces).view.state == "waiting"
    ws.runs.answer_sync(run_id, True)
    assert [trace.view.state for trace in traces][-1] == "done"
