"""Pending calls and questions of runs are listed in pages, the oldest first."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from tests.definitions import skill, tool

from toolmd import Workspace
from toolmd.errors import NotFoundError

TOOL = tool(
    "ring",
    "- **bell** (integer, required): Its number",
    """
## Safety

- **Requires Confirmation**: true
""",
)
SKILL = skill(
    "ring_all",
    "ring",
    """1. **Ring**.
   - **Use**: ring
   - **With**:
     - bell: `bell`""",
    "- **bell** (integer, required): Its number",
)
CALLS = 9


@pytest.fixture(params=["stored runs", "runs in memory"])
def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    """A project with calls and runs of two users that wait, in turns."""
    kept = request.param == "stored runs"
    (tmp_path / "toolmd.toml").write_text("plugins = []\n")
    folder = tmp_path / "tools_md"
    folder.mkdir()
    (folder / "ring.tool.md").write_text(TOOL)
    (folder / "ring.py").write_text("def ring(bell: int) -> dict: return {}\n")
    (tmp_path / "skills_md").mkdir()
    durable = "" if kept else "- **Durable**: false\n"
    text = SKILL.replace("- **Required Tools**", f"{durable}- **Required Tools**")
    (tmp_path / "skills_md" / "ring-all.skill.md").write_text(text)
    with Workspace.open(tmp_path) as opened:
        assert (set(opened.tools), set(opened.skills)) == ({"ring"}, {"ring_all"})
        for number in range(CALLS):
            user = f"user {number % 2}"
            if number % 3 == 2:
                opened.run_sync("ring_all", {"bell": number}, user=user)
            else:
                opened.call_sync("ring", {"bell": number}, user=user, call_id=f"model/{number}")
        yield opened


def bells(workspace: Workspace, size: int | None, user: str | None = None) -> list[list[int]]:
    """Return the bells of each page."""
    pages, after = [], None
    while True:
        page = workspace.confirmations.pending_sync(user=user, limit=size, after=after)
        pages.append([one.call.arguments["bell"] for one in page])
        if size is None or len(page) < size:
            return pages
        after = page[-1].id


@pytest.mark.parametrize("size", [1, 2, 4, CALLS, CALLS + 1])
def test_the_pages_together_are_the_list(workspace: Workspace, size: int) -> None:
    assert bells(workspace, None) == [[*range(CALLS)]]
    pages = bells(workspace, size)

    assert [*chain(*pages)] == [*range(CALLS)]
    assert all(len(page) == size for page in pages[:-1])


@pytest.mark.parametrize("size", [1, 3, CALLS])
def test_the_pages_of_a_user_are_their_calls(workspace: Workspace, size: int) -> None:
    for first in (0, 1):
        assert [*chain(*bells(workspace, size, f"user {first}"))] == [*range(first, CALLS, 2)]
    assert bells(workspace, size, "user") == [[]]


def test_a_page_goes_on_after_a_call_that_was_decided(workspace: Workspace) -> None:
    first = workspace.confirmations.pending_sync(limit=2)
    workspace.confirmations.reject_sync(first[-1].id)

    page = workspace.confirmations.pending_sync(limit=2, after=first[-1].id)

    assert [one.call.arguments["bell"] for one in page] == [2, 3]


def test_a_page_after_an_unknown_call_is_an_error(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError, match="no call nothing is kept"):
        workspace.confirmations.pending_sync(limit=2, after="nothing")
