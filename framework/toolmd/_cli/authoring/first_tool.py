"""The first tool of a new project: it works, and shows the format."""

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
- **Description**: The person to greet
- **Min Length**: 1
- **Max Length**: 80

## Returns

- **Type**: object
- **Description**: The greeting
- **Properties**:
  - **greeting**:
    - **Type**: string
    - **Required**: true
    - **Description**: The greeting as text

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
"""Greet people; say-hello.tool.md next to this file defines the parameters."""


async def say_hello(name: str) -> dict[str, str]:
    """Greet someone by name."""
    return {"greeting": f"Hello, {name}!"}
'''

TEST = '''\
"""Test say_hello against its definition."""

from pathlib import Path

from toolmd import Workspace

PROJECT = Path(__file__).parents[1]


def test_say_hello_greets_by_name(tmp_path: Path) -> None:
    # A state folder of its own: the project's data, confirmations and audit stay as they are.
    with Workspace.open(PROJECT, overrides={"state": tmp_path}) as workspace:
        result = workspace.call_sync("say_hello", {"name": "Ana"})

    assert result.data == {"greeting": "Hello, Ana!"}


def test_say_hello_denies_a_name_that_is_not_text() -> None:
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
