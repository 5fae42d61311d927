"""The tool that a new project begins with: it works, and shows the form."""

NAME = "say_hello"

MARKDOWN = """\
# Say Hello

Greet someone by name.

## Metadata

- **Name**: say_hello
- **Version**: 1.0.0
- **Category**: general
- **Read Only**: true

## When to use

When the user asks for a greeting.

## Parameters

### name

- **Type**: string
- **Required**: true
- **Description**: Whom to greet
- **Min Length**: 1
- **Max Length**: 80

## Returns

- **Type**: object
- **Description**: The greeting
- **Properties**:
  - **greeting**:
    - **Type**: string
    - **Required**: true
    - **Description**: What to say

## Examples

### By name

```json
{"name": "Ana"}
```

```json
{"greeting": "Hello, Ana!"}
```
"""

PYTHON = '''\
"""Greet people; say-hello.tool.md beside this file says what it takes."""


async def say_hello(name: str) -> dict[str, str]:
    """Greet someone by name."""
    return {"greeting": f"Hello, {name}!"}
'''

TEST = '''\
"""Hold say_hello to what its file says."""

from pathlib import Path

from toolmd import Workspace

PROJECT = Path(__file__).parents[1]


def test_say_hello_greets_by_name(tmp_path: Path) -> None:
    # What the project keeps (its data, held calls, the audit) is left alone.
    with Workspace.open(PROJECT, overrides={"state": tmp_path}) as workspace:
        result = workspace.call_sync("say_hello", {"name": "Ana"})

    assert result.data == {"greeting": "Hello, Ana!"}


def test_say_hello_refuses_a_name_that_is_no_text() -> None:
    with Workspace.open(PROJECT) as workspace:
        result = workspace.call_sync("say_hello", {"name": 7})

    assert result.error is not None
    assert result.error.code == "invalid_arguments"
'''

FILES = {
    "tools_md/say-hello.tool.md": MARKDOWN,
    "tools_md/say_hello.py": PYTHON,
    "tests/test_say_hello.py": TEST,
}
