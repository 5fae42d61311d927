"""The cost of a reload grows with the number of files, not with its square."""

from collections.abc import Callable
from time import process_time

import pytest
from bind_project import Project, tool

from toolmd import Workspace

FEW, MANY = 100, 800
TIMES = MANY // FEW


def unchanged(project: Project, number: int) -> None:
    project.tool(f"tool_{number}", "None", f"def tool_{number}(): ...\n")


def gone_and_unreadable(project: Project, number: int) -> None:
    (project.root / f"tools_md/tool-{number}.tool.md").write_bytes(b"x" * 70_000)


def broken_skill(project: Project, number: int) -> None:
    text = tool(f"skill_{number}").partition("## Parameters")[0]
    text = text.replace(
        "- **Category**: test", "- **Category**: test\n- **Required Tools**: none_x"
    )
    text += "## Workflow\n\n1. **Do** it.\n   - **Use**: none_x\n\n## Input Schema\n\nNone\n\n"
    text += "## Output Schema\n\n- **Type**: object (SkillResult)\n"
    project.write(f"tools_md/skill-{number}.skill.md", text)


@pytest.mark.slow
@pytest.mark.parametrize("change", [unchanged, gone_and_unreadable, broken_skill])
def test_the_cost_of_a_reload_grows_linearly_with_its_files(
    project: Project, change: Callable[[Project, int], None]
) -> None:
    cost = {}
    for size in (FEW, MANY):
        for number in range(size):
            unchanged(project, number)
        with Workspace.open(project.root, overrides={"plugins": [], "audit": False}) as ws:
            for number in range(size):
                change(project, number)
            ws.reload()
            rounds = []
            for _ in range(3):
                began = process_time()
                ws.reload()
                rounds.append(process_time() - began)
            cost[size] = min(rounds)

    assert cost[MANY] < TIMES * 3 * cost[FEW], cost
