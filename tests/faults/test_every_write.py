"""Each change of the disk fails in turn: a command says so, leaves no half, and works again."""

import json
import sys
from pathlib import Path

import pytest
from tests import warm_python

SCRIPT = Path(__file__).with_name("failing_writes.py")
TOOL = """\
# {title}

Does it.

## Metadata

* Name: {name}
- **Version**: 1.0.0
- **Category**: test

## Parameters

None

## Returns

- **Type**: object
- **Description**: What came of it
"""
SKILL = """\
# Walk

Walks.

## Metadata

- **Name**: walk
- **Version**: 1.0.0
- **Category**: test
- **Required Tools**: say

## Workflow

1. **Say** it.
   - **Use**: say

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""
API = [{"type": "function", "function": {"name": name, "description": "Does it.",
                                         "parameters": {"type": "object", "properties": {}}}}
       for name in ("one", "two")]  # fmt: skip
PROJECT = {
    "toolmd.toml": 'tools = ["tools_md"]\nskills = ["skills_md"]\nplugins = []\n',
    "tools_md/say.tool.md": TOOL.format(title="Say", name="say"),
    "tools_md/one.tool.md": TOOL.format(title="One", name="one"),
    "skills_md/walk.skill.md": SKILL,
    "api.json": json.dumps(API),
}
COMMANDS = {
    "new": (PROJECT, ["new", "tool", "greet"]),
    "init": ({}, ["init"]),
    "fmt": (PROJECT, ["fmt", "tools_md"]),
    "import": (PROJECT, ["import", "openai", "api.json", "--force"]),
}

AT_ONCE = ("new", "import")
"""Commands whose files belong together."""


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_each_file_whole_or_says_what_to_do(command, tmp_path):
    files, argv = COMMANDS[command]
    done = warm_python.run(
        [sys.executable, SCRIPT, tmp_path],
        input=json.dumps({"files": files, "argv": argv}),
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    whole = told["whole"]
    assert whole["code"] == 0, whole["said"]
    assert {broken["way"] for broken in told["broken"]} >= {"once", "no room"}
    assert any(broken["code"] for broken in told["broken"])
    for broken in told["broken"]:
        assert broken["files"].keys() <= whole["files"].keys(), broken
        for path in {*files, *broken["files"]}:
            assert broken["files"].get(path) in (files.get(path), whole["files"][path]), broken
        if broken["code"] == 0:
            assert broken["files"] == whole["files"], broken
            continue
        assert broken["code"] in {1, 2}, broken
        if command in AT_ONCE:
            assert broken["files"] == files, broken
        assert "error: " in broken["said"], broken
        assert "help: " in broken["said"], broken
        assert broken["again"]["code"] == 0, broken
        assert broken["again"]["files"] == whole["files"], broken
