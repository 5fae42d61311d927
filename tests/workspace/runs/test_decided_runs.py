"""Decisions of people within a run, and the model's messages about them."""

import asyncio
from collections.abc import Iterator

import pytest
from tests.definitions import skill

from toolmd import Context, Workspace
from toolmd._call.audit.reader import AuditReader
from toolmd.testing import memory_workspace

SEAL = """# Seal Barrel

Seal a barrel for years.

## Metadata

- **Name**: seal_barrel
- **Version**: 1.0.0
- **Category**: cellar

## Parameters

### barrel

- **Type**: integer
- **Required**: true
- **Description**: Its number

## Returns

- **Type**: object
- **Description**: What was sealed

## Rules

- `barrel != 13`: Not the thirteenth.

## Safety

- **Sensitivity**: critical
"""
CLOSE = skill(
    "close_cellar",
    "seal_barrel",
    """1. **Seal the barrel**
   - **Ask**: Seal it now?
   - **Use**: seal_barrel
   - **With**:
     - barrel: `barrel`
   - **Save as**: done
2. **Return**:
   - sealed: `done.sealed`""",
    "- **barrel** (integer, required): Its number",
)

OPEN = (
    SEAL.replace("Seal Barrel", "Open Barrel")
    .replace("seal_barrel", "open_barrel")
    .replace("- **Sensitivity**: critical", "- **Crisis When**: `barrel > 100`")
)
TASTE = (
    CLOSE.replace("Close Cellar", "Taste")
    .replace("close_cellar", "taste")
    .replace("seal_barrel", "open_barrel")
)


class Cellar:
    """A cellar, and what was done in it under which keys."""

    def __init__(self) -> None:
        self.sealed: list[int] = []
        self.opened: list[int] = []
        self.keys: list[str] = []

    async def seal_barrel(self, barrel: int, *, context: Context) -> dict[str, int]:
        self.sealed.append(barrel)
        self.keys.append(context.idempotency_key)
        return {"sealed": barrel}

    async def open_barrel(self, barrel: int) -> dict[str, int]:
        self.opened.append(barrel)
        return {"sealed": barrel}


@pytest.fixture
def cellar() -> Cellar:
    return Cellar()


@pytest.fixture(params=["memory", "sqlite"])
def workspace(cellar: Cellar, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    texts = {
        "seal-barrel.tool.md": SEAL,
        "close-cellar.skill.md": CLOSE,
        "open-barrel.tool.md": OPEN,
        "taste.skill.md": TASTE,
    }
    functions = [cellar.seal_barrel, cellar.open_barrel]
    with memory_workspace(texts, functions, overrides={"store": request.param}) as opened:
        yield opened


def test_an_edited_critical_call_of_a_run_asks_again_though_a_step_asked(
    workspace: Workspace, cellar: Cellar
) -> None:
    assert workspace.run_sync("close_cellar", {"barrel": 3}).outcome == "confirm"
    (first,) = workspace.confirmations.pending_sync()
    again = workspace.confirmations.approve_sync(first.id, edit={"barrel": 4})
    assert again.outcome == "confirm"
    assert again.notes == ("The user changed barrel: 3 → 4.",)
    assert again.confirmation is not None
    assert again.confirmation.prompt == (
        "I'd like to seal barrel: barrel: 4. Please confirm these details are correct."
    )
    assert cellar.sealed == []
    assert workspace.confirmations.approve_sync(again.confirmation.id).data == {"sealed": 4}
    assert cellar.sealed == [4]


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ({"barrel": "4"}, "barrel must be an integer"),
        ({"barel": 4}, "barel"),
        ({"barrel": 13}, "Not the thirteenth."),
    ],
)
def test_an_edit_that_does_not_fit_leaves_the_question_of_a_run_open(
    workspace: Workspace, cellar: Cellar, edit: dict[str, object], says: str
) -> None:
    run = workspace.run_sync("close_cellar", {"barrel": 3})
    (asked,) = workspace.confirmations.pending_sync()
    denied = workspace.confirmations.approve_sync(asked.id, edit=edit)

    assert denied.error is not None
    assert (denied.outcome, denied.error.code) == ("denied", "invalid_arguments")
    assert says in denied.error.message
    assert workspace.runs.get_sync(run.run_id).state == "waiting"
    assert workspace.confirmations.approve_sync(asked.id).data == {"sealed": 3}
    assert cellar.sealed == [3]


def test_an_edit_beside_a_sensitive_argument_is_no_fault() -> None:
    sealed = []

    def seal_barrel(barrel: int, pin: int = 0) -> dict[str, int]:
        sealed.append((barrel, pin))
        return {"sealed": barrel}

    pin = (
        "### pin\n\n- **Type**: integer\n- **Description**: P\n- **Sensitive**: true\n\n## Returns"
    )
    seal = SEAL.replace("## Returns", pin).replace("critical", "low")
    seal = seal.replace("`barrel != 13`", "`barrel != 13 && pin > 5`")
    close = CLOSE.replace(
        "     - barrel: `barrel`\n", "     - barrel: `barrel`\n     - pin: `47`\n"
    )
    texts = {"seal-barrel.tool.md": seal, "close-cellar.skill.md": close}
    with memory_workspace(texts, [seal_barrel]) as workspace:
        asked = workspace.run_sync("close_cellar", {"barrel": 3}).waiting[0]
        assert workspace.confirmations.approve_sync(asked.id, {"barrel": 4}).success
    assert sealed == [(4, 47)]


def test_the_ids_in_a_models_replies_are_not_idempotency_keys(
    workspace: Workspace, cellar: Cellar
) -> None:
    reply = '[TOOL_CALL:{"id":"call-1","tool":"seal_barrel","parameters":{"barrel":1}}]'
    for _ in range(2):
        (held,) = workspace.handle_sync(reply, dialect="inline").pending
        asyncio.run(workspace.confirmations.approve(held.id))
    assert len(set(cellar.keys)) == 2


def yes(question: object) -> bool:
    """Say yes to whatever is asked."""
    del question
    return True


def test_a_review_within_a_run_waits_for_another_person(
    workspace: Workspace, cellar: Cellar
) -> None:
    result = workspace.run_sync("taste", {"barrel": 101}, user="ana", ask=yes)
    assert (result.success, result.outcome) == (False, "review")
    (held,) = workspace.confirmations.pending_sync()
    assert (held.kind, held.call.tool) == ("review", "open_barrel")
    own = workspace.confirmations.approve_sync(held.id, user="ana")
    assert (own.outcome, own.error and own.error.code) == ("denied", "review_required")
    assert cellar.opened == []
    assert workspace.confirmations.approve_sync(held.id).data == {"sealed": 101}
    assert cellar.opened == [101]
    assert workspace.confirmations.pending_sync() == ()


def test_the_audit_names_the_person_who_approved_a_call_of_a_run(workspace: Workspace) -> None:
    workspace.run_sync("taste", {"barrel": 101}, user="ana", ask=yes)
    (held,) = workspace.confirmations.pending_sync()
    assert workspace.confirmations.approve_sync(held.id, by="olga").success
    records = [one.record for one in AuditReader(workspace.settings).records()]
    ran = [one for one in records if one["tool"] == "open_barrel" and one["decision"] == "run"]
    assert [(one["user"], one["by"]) for one in ran] == [("ana", "olga")]


@pytest.mark.parametrize("decide", ["reject_sync", "respond_sync"])
def test_the_audit_names_the_person_who_stopped_a_call_of_a_run(
    workspace: Workspace, decide: str
) -> None:
    workspace.run_sync("taste", {"barrel": 101}, user="ana", ask=yes)
    (held,) = workspace.confirmations.pending_sync()
    words = {"text": "It is corked."} if decide == "respond_sync" else {}
    getattr(workspace.confirmations, decide)(held.id, **words, by="olga")
    assert _last(workspace, "open_barrel") == ("deny", "rejected", "olga")


def _last(workspace: Workspace, tool: str) -> tuple[str | None, ...]:
    """Return the last decision on a tool, its code and who took it."""
    records = [one.record for one in AuditReader(workspace.settings).records()]
    record = [one for one in records if one["tool"] == tool][-1]
    return record["decision"], record.get("code"), record.get("by")


def test_a_reviewer_may_edit_the_call(workspace: Workspace, cellar: Cellar) -> None:
    workspace.run_sync("taste", {"barrel": 101}, user="ana", ask=yes)
    (held,) = workspace.confirmations.pending_sync()
    stranger = workspace.confirmations.approve_sync(held.id, user="carl")
    assert stranger.error is not None
    assert stranger.error.code == "confirmation_not_found"
    assert workspace.confirmations.approve_sync(held.id, edit={"barrel": 7}).success
    assert cellar.opened == [7]


def test_the_runs_own_user_may_reject_a_pending_review(
    workspace: Workspace, cellar: Cellar
) -> None:
    reply = '[TOOL_CALL:{"id":"call-1","tool":"taste","parameters":{"barrel":101}}]'
    turn = workspace.handle_sync(reply, dialect="inline", user="ana")
    (asked,) = turn.pending
    review = workspace.confirmations.approve_sync(asked.id, user="ana")
    assert review.outcome == "review"
    assert review.confirmation is not None
    refused = workspace.confirmations.reject_sync(review.confirmation.id, user="ana")
    assert (refused.outcome, refused.error and refused.error.code) == ("denied", "refused")
    assert cellar.opened == []
    assert workspace.confirmations.pending_sync() == ()


ASKED = CLOSE.replace("close_cellar", "close_later").replace("   - **Ask**: Seal it now?\n", "")


@pytest.mark.parametrize("name", ["close_cellar", "close_later"])
def test_an_answer_in_place_of_a_call_prevents_it(cellar: Cellar, name: str) -> None:
    said = CLOSE.replace("done.sealed", "done"), ASKED.replace("done.sealed", "done")
    texts = {"seal-barrel.tool.md": SEAL, "now.skill.md": said[0], "later.skill.md": said[1]}
    with memory_workspace(texts, [cellar.seal_barrel]) as workspace:
        workspace.run_sync(name, {"barrel": 3}, user="ana")
        (asked,) = workspace.confirmations.pending_sync()
        result = workspace.confirmations.respond_sync(asked.id, "Sealed by hand.", user="ana")
        assert result.data == {"sealed": "Sealed by hand."}
        assert result.notes == ("A person answered; seal_barrel did not run.",)
        assert cellar.sealed == []
        assert workspace.confirmations.pending_sync() == ()
