"""The audit and the questions of a run's calls hide the Sensitive inputs of its skill."""

import json
from pathlib import Path

import pytest

from toolmd import Workspace

TOOL = """# Find loans

Find the loans of a reader.

## Metadata

- **Name**: find_loans
- **Version**: 1.0.0
- **Category**: library
- **Requires Context**: reader
- **Read Only**: true

## Parameters

### card

- **Type**: string
- **Required**: true
- **Description**: The card

### pin

- **Type**: integer
- **Required**: true
- **Description**: The number

### shelves

- **Type**: integer
- **Required**: true
- **Description**: How many shelves

## Returns

- **Type**: object
- **Description**: The loans
"""
SKILL = """# Show loans

Show the loans of a reader.

## Metadata

- **Name**: show_loans
- **Version**: 1.0.0
- **Category**: library
- **Required Tools**: find_loans
- **Context**: reader from card

## Workflow

1. **Find**.
   - **Use**: find_loans
   - **With**:
     - card: Card {card}
     - pin: `pin`
     - shelves: `12`

## Input Schema

### card

- **Type**: string
- **Required**: true
- **Description**: The card
- **Sensitive**: true

### pin

- **Type**: integer
- **Required**: true
- **Description**: The number
- **Sensitive**: true

## Output Schema

- **Type**: object
- **Success**: boolean - Whether it worked
- **Message**: string - What happened
- **Data**: object - Nothing
- **Error**: string - What went wrong
"""


def write_project(root: Path, tool: str = TOOL) -> None:
    for path, text in {
        "toolmd.toml": "plugins = []\n",
        "tools_md/find-loans.tool.md": tool,
        "tools_md/find_loans.py": "def find_loans(card, pin, shelves):\n    return {}\n",
        "skills_md/show-loans.skill.md": SKILL,
    }.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, "utf-8")


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_the_audit_of_a_step_has_no_sensitive_input_of_the_skill(
    tmp_path: Path, store: str
) -> None:
    write_project(tmp_path)
    with Workspace.open(tmp_path, overrides={"store": store}) as workspace:
        result = workspace.run_sync("show_loans", {"card": "L-20417", "pin": 774411})
    assert result.success, result.to_dict()
    (file,) = (tmp_path / ".toolmd" / "audit").glob("*.jsonl")
    record = file.read_text("utf-8")
    assert '"context":{"reader":"(hidden)"}' in record
    assert '"arguments":{"card":"Card (hidden)","pin":"(hidden)","shelves":12}' in record
    assert "L-20417" not in record
    assert "774411" not in record


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_the_question_of_a_step_has_no_sensitive_number_of_the_skill(
    tmp_path: Path, store: str
) -> None:
    write_project(
        tmp_path,
        TOOL.replace("- **Read Only**: true\n", "").replace(
            "## Returns", "## Safety\n\n- **Requires Confirmation**: true\n\n## Returns"
        ),
    )
    with Workspace.open(tmp_path, overrides={"store": store}) as workspace:
        waiting = workspace.run_sync("show_loans", {"card": "L-20417", "pin": 774411})
        shown = json.dumps(waiting.to_dict())
        (question,) = waiting.waiting
        told = json.dumps(question.to_dict())

    assert not waiting.success, shown
    assert '"pin": "(hidden)", "shelves": 12' in told
    assert "774411" not in shown + told
