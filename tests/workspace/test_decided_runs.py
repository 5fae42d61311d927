"""What people decide on the way of a run, and what the model is told of it."""

import asyncio
from collections.abc import Iterator

import pytest

from toolmark import Context, Workspace
from toolmark.testing import memory_workspace

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

## Safety

- **Sensitivity**: critical
"""
CLOSE = """# Close Cellar

Close the cellar.

## Metadata

- **Name**: close_cellar
- **Version**: 1.0.0
- **Category**: cellar
- **Required Tools**: seal_barrel

## Workflow

1. **Seal the barrel**
   - **Ask**: Seal it now?
   - **Use**: seal_barrel
   - **With**:
     - barrel: `barrel`
   - **Save as**: done
2. **Return**:
   - sealed: `done.sealed`

## Input Schema

### barrel

- **Type**: integer
- **Required**: true
- **Description**: Its number

## Output Schema

- **Type**: object
"""


class Cellar:
    """A cellar, and what was done in it under which keys."""

    def __init__(self) -> None:
        self.sealed: list[int] = []
        self.keys: list[str] = []

    async def seal_barrel(self, barrel: int, *, context: Context) -> dict[str, int]:
        self.sealed.append(barrel)
        self.keys.append(context.idempotency_key)
        return {"sealed": barrel}


@pytest.fixture
def cellar() -> Cellar:
    return Cellar()


@pytest.fixture
def workspace(cellar: Cellar) -> Iterator[Workspace]:
    texts = {"seal-barrel.tool.md": SEAL, "close-cellar.skill.md": CLOSE}
    with memory_workspace(texts, [cellar.seal_barrel], overrides={"engine": "memory"}) as opened:
        yield opened


def test_a_changed_critical_call_is_shown_once_more_though_a_step_asked(
    workspace: Workspace, cellar: Cellar
) -> None:
    assert workspace.run_sync("close_cellar", {"barrel": 3}).code == "waiting"
    (first,) = workspace.pending()
    again = workspace.confirm_sync(first.id, edit={"barrel": 4})
    assert again.outcome == "confirm"
    assert again.notes == ("The user changed barrel: 3 → 4.",)
    assert again.confirmation is not None
    assert again.confirmation.prompt == (
        "I'd like to seal barrel: barrel: 4. Please confirm these details are correct."
    )
    assert cellar.sealed == []
    assert workspace.confirm_sync(again.confirmation.id).data == {"sealed": 4}
    assert cellar.sealed == [4]


def test_a_critical_call_that_stays_as_it_was_is_asked_about_once(
    workspace: Workspace, cellar: Cellar
) -> None:
    workspace.run_sync("close_cellar", {"barrel": 3})
    (asked,) = workspace.pending()
    assert workspace.confirm_sync(asked.id).data == {"sealed": 3}
    assert cellar.sealed == [3]


def test_the_ids_in_a_models_replies_make_no_idempotency_keys(
    workspace: Workspace, cellar: Cellar
) -> None:
    reply = '[TOOL_CALL:{"id":"call-1","tool":"seal_barrel","parameters":{"barrel":1}}]'
    for _ in range(2):
        (held,) = workspace.handle_sync(reply, dialect="inline").pending
        asyncio.run(workspace.confirm(held.id))
    assert len(set(cellar.keys)) == 2
