"""Skills in a plan: its budget binds them as it binds tools."""

import asyncio
import json
from typing import Any

import pytest
from tests.definitions import skill, tool

from toolmd.testing import memory_workspace

SKILL = skill(
    "search",
    "look, unlook, more",
    """1. **Look**.
   - **Use**: look
   - **Save as**: found
   - **Undo**: unlook

2. **Look for more**.
   - **Use**: more

3. **Return**:
   - rows: `[1, 2, 3, 4, 5]`
   - other: `'x'`""",
)


class Archive:
    """A workspace of one skill, and the names of the tools that ran."""

    def __init__(self, *, idempotent: str = "no") -> None:
        self.ran: list[str] = []
        self.release = asyncio.Event()
        self.release.set()
        texts = {f"{name}.tool.md": tool(name, metadata=f"- **Idempotent**: {idempotent}\n")
                 for name in ("look", "unlook", "more")}  # fmt: skip
        functions = {name: self._tool(name) for name in ("look", "unlook", "more")}
        self.workspace = memory_workspace(
            {**texts, "search.skill.md": SKILL}, functions, overrides={"store": "memory"}
        )

    def _tool(self, name: str) -> Any:
        async def run() -> dict[str, Any]:
            self.ran.append(name)
            if name == "look":
                await self.release.wait()
            return {}

        return run

    async def plan(self, rows: int = 100, size: int = 10_000, ms: int = 60_000) -> Any:
        """Handle a plan of the skill, and give its result."""
        budget = {"rows": rows, "bytes": size, "timeout_ms": ms}
        plan = {"calls": [{"tool": "search", "params": {}}], "budget": budget}
        return (await self.workspace.handle(json.dumps(plan), "plan")).results[0]


@pytest.mark.parametrize(
    ("budget", "rows", "truncated"),
    [
        ({}, [1, 2, 3, 4, 5], None),
        ({"rows": 2}, [1, 2], {"rows": True, "bytes": False}),
        ({"size": 29}, [1, 2, 3], {"rows": False, "bytes": True}),
    ],
)
def test_a_skills_result_is_cut_by_the_budget_of_its_plan(
    budget: dict[str, int], rows: list[int], truncated: dict[str, bool] | None
) -> None:
    archive = Archive()
    with archive.workspace:
        result = asyncio.run(archive.plan(**budget))
    assert result.success
    assert result.data == {"rows": rows, "other": "x"}
    assert result.truncated == truncated
    assert bool(result.notes) == bool(truncated)


@pytest.mark.parametrize(
    ("idempotent", "outcome", "code"),
    [("no", "unknown", "outcome_unknown"), ("yes", "failed", "timeout")],
)
def test_a_skill_that_exceeds_its_plans_time_is_reported_with_its_run(
    idempotent: str, outcome: str, code: str
) -> None:
    async def scene() -> None:
        archive = Archive(idempotent=idempotent)
        archive.release.clear()
        with archive.workspace:
            result = await archive.plan(ms=1)
            assert (result.outcome, result.error.code) == (outcome, code)
            assert "its run run-" in result.error.message
            archive.release.set()

    asyncio.run(scene())
