"""A world of six tools for the tests of steps."""

import pytest
from run_world import READ, World, tool


@pytest.fixture
def world() -> World:
    made = World(
        tool("echo", "- `text` (string)\n- `count` (integer)\n- `tags` (array of string)",
             metadata=READ),
        tool("make", "- `name` (string, required)"),
        tool("drop", "- `name` (string, required)"),
        tool("list", returns="- **Type**: array\n- **Items**:\n  - **Type**: string",
             metadata=READ),
        tool("guarded", "- `name` (string, required)",
             more="## Safety\n\n- **Requires Confirmation**: true\n- **Sensitivity**: high"),
        tool("ward", metadata="- **Requires Patient Context**: true"),
    )  # fmt: skip
    made.functions["list"] = lambda: ["a", "b", "c"]
    made.functions["make"] = lambda name: {"id": f"id-{name}"}
    return made
