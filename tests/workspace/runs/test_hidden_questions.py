"""Questions of a waiting run hide the Sensitive values of its inputs and its call."""

from pathlib import Path
from typing import Any

import pytest

from toolmd import Workspace

TOOL = """# Send

Send a letter.

## Metadata

- **Name**: send
- **Version**: 1.0.0
- **Category**: post

## Parameters

### to

- **Type**: object
- **Required**: true
- **Description**: Who gets it
- **Properties**:
  - name:
    - **Type**: string
  - street:
    - **Type**: string
    - **Sensitive**: true

### pin

- **Type**: integer
- **Required**: true
- **Description**: What opens it
- **Sensitive**: true

## Returns

- **Type**: object
- **Description**: Nothing
"""
SKILL = """# Post

Post a letter.

## Metadata

- **Name**: post
- **Version**: 1.0.0
- **Category**: post
- **Required Tools**: send

## Workflow

1. **Send**.
   - **Ask**: Send {pin} to {name} at {street}, {pin}1 times?
   - **Use**: send
   - **With**:
     - to:
       - name: `name`
       - street: `street`
     - pin: `pin`

## Input Schema

### name

- **Type**: string
- **Required**: true
- **Description**: Who gets it

### street

- **Type**: string
- **Required**: true
- **Description**: Where
- **Sensitive**: true

### pin

- **Type**: integer
- **Required**: true
- **Description**: What opens it

## Output Schema

- **Type**: object
- **Success**: boolean - Whether it worked
- **Message**: string - What happened
- **Data**: object - Nothing
- **Error**: string - What went wrong
"""


@pytest.fixture
def held(tmp_path: Path) -> Any:
    for path, text in {
        "toolmd.toml": "plugins = []\n",
        "tools_md/send.tool.md": TOOL,
        "tools_md/send.py": '"""Send."""\n\n\ndef send(to, pin):\n    return {}\n',
        "skills_md/post.skill.md": SKILL,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    with Workspace.open(tmp_path, overrides={"store": "memory"}) as workspace:
        workspace.run_sync("post", {"name": "Ana", "street": "Elm 12 (rear)", "pin": 7})
        return workspace.confirmations.pending_sync()[0]


def test_sensitive_arguments_of_the_call_are_hidden(held) -> None:
    assert held.to_dict()["parameters"] == {
        "to": {"name": "Ana", "street": "(hidden)"},
        "pin": "(hidden)",
    }


def test_the_prompt_names_no_sensitive_value(held) -> None:
    assert held.prompt == "Send (hidden) to Ana at (hidden), 71 times?"
