"""Questions of a waiting run hide the Sensitive values of its inputs and its call."""

from pathlib import Path
from typing import Any

import pytest
from tests.definitions import skill, tool

from toolmd import Workspace

TOOL = tool(
    "send",
    """- **to** (object, required): Who gets it
  - **Properties**:
    - name:
      - **Type**: string
    - street:
      - **Type**: string
      - **Sensitive**: true
- **pin** (integer, required): What opens it
  - **Sensitive**: true""",
)
SKILL = skill(
    "post",
    "send",
    """1. **Send**.
   - **Ask**: Send {pin} to {name} at {street}, {pin}1 times?
   - **Use**: send
   - **With**:
     - to:
       - name: `name`
       - street: `street`
     - pin: `pin`""",
    """- **name** (string, required): Who gets it
- **street** (string, required): Where
  - **Sensitive**: true
- **pin** (integer, required): What opens it""",
)


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
    assert held.prompt == (
        "Send (hidden) to Ana at (hidden), (hidden)1 times? I'd like to send: "
        'to: {"name": "Ana", "street": "(hidden)"}, pin: (hidden). Is this correct?'
    )
