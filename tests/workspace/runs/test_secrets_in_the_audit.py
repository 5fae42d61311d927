"""The audit of a run's calls hides the Sensitive inputs of its skill."""

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


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_the_audit_of_a_step_has_no_sensitive_input_of_the_skill(
    tmp_path: Path, store: str
) -> None:
    for path, text in {
        "toolmd.toml": "plugins = []\n",
        "tools_md/find-loans.tool.md": TOOL,
        "tools_md/find_loans.py": "def find_loans(card, pin, shelves):\n    return {}\n",
        "skills_md/show-loans.skill.md": SKILL,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    with Workspace.open(tmp_path, overrides={"store": store}) as workspace:
        result = workspace.run_sync("show_loans", {"card": "L-20417", "pin": 774411})
    assert result.success, result.to_dict()
    (file,) = (tmp_path / ".toolmd" / "audit").glob("*.jsonl")
    record = file.read_text("utf-8")
    assert '"context":{"reader":"(hidden)"}' in record
    assert '"arguments":{"card":"Card (hidden)","pin":"(hidden)","shelves":12}' in record
    assert "L-20417" not in record
    assert "774411" not in record
