"""The files that `new` and `init` write: a first tool, a definition, and a package."""

FIRST_NAME = "say_hello"

_FIRST_MARKDOWN = """\
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

_FIRST_PYTHON = '''\
"""Greet people; say-hello.tool.md next to this file defines the parameters."""


async def say_hello(name: str) -> dict[str, str]:
    """Greet someone by name."""
    return {"greeting": f"Hello, {name}!"}
'''

_TOOL = """\
# {title}

Say in one sentence what the tool does and for whom.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: general

## When to use

Say when a model should call it, and when not.

## Parameters

### text

- **Type**: string
- **Required**: true
- **Description**: What to do it with

## Returns

- **Type**: object
- **Description**: What comes back
- **Properties**:
  - **text**:
    - **Type**: string
    - **Required**: true
    - **Description**: What was given
"""

_SKILL = """\
# {title}

Say in one sentence what the skill achieves and for whom.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: general

## Workflow

Say how the steps serve the goal.

1. **Return**:
   - text: `text`

## Input Schema

### text

- **Type**: string
- **Required**: true
- **Description**: What to do it with

## Output Schema

- **Type**: object (SkillResult)
- **Success**: boolean - Whether it was done
- **Message**: string - What was done
- **Data**: object - Contains text
- **Error**: string - What went wrong
"""

_PYTHON = '''\
"""{title}; {file} next to this file defines it."""

from typing import Any


async def {name}(text: str) -> dict[str, Any]:
    """Say in one sentence what the tool does and for whom."""
    return {{"text": text}}
'''

_TEST = '''\
"""Test {name} against its definition."""

from pathlib import Path

from toolmd import Workspace

PROJECT = Path(__file__).parents[1]


def test_{name}_matches_its_definition(tmp_path: Path) -> None:
    # A state folder of its own: the project's data, confirmations and audit stay as they are.
    with Workspace.open(PROJECT, overrides={{"state": tmp_path}}) as workspace:
        result = workspace.{verb}_sync("{name}", {arguments})

    assert result.success, result.to_dict()
'''


def first_files() -> dict[str, str]:
    """Return the files of the first tool: path below the project, and text."""
    test = _TEST.format(name=FIRST_NAME, verb="call", arguments='{"name": "Ana"}')
    return {
        "tools_md/say-hello.tool.md": _FIRST_MARKDOWN,
        "tools_md/say_hello.py": _FIRST_PYTHON,
        "tests/test_say_hello.py": test,
    }


def definition_files(kind: str, name: str, folder: str) -> dict[str, str]:
    """Return the files of a new definition: path below the project, and text."""
    file, title = f"{name.replace('_', '-')}.{kind}.md", name.replace("_", " ").title()
    markdown, verb = (_TOOL, "call") if kind == "tool" else (_SKILL, "run")
    files = {f"{folder}/{file}": markdown.format(name=name, title=title)}
    if kind == "tool":
        files[f"{folder}/{name}.py"] = _PYTHON.format(name=name, title=title, file=file)
    test = _TEST.format(name=name, verb=verb, arguments='{"text": "text"}')
    return {**files, f"tests/test_{name}.py": test}


def package_files(name: str) -> dict[str, str]:
    """Return the text of each file by path; `name`, in snake_case, is also the tool's name."""
    kebab = name.replace("_", "-")
    source = f"src/{name}"
    files = {
        "pyproject.toml": _PYPROJECT.format(name=name, kebab=kebab, toolmd=_requirement()),
        "README.md": _README.format(name=name, kebab=kebab),
        f"{source}/__init__.py": f'"""The tools of {kebab}."""\n',
        f"{source}/plugin.py": _PLUGIN.format(name=name),
    }
    return files | definition_files("tool", name, f"{source}/tools_md")


def _requirement() -> str:
    """Return the requirement of this release or a later compatible one: `toolmd>=0.1,<0.2`."""
    from importlib.metadata import version

    major, minor = map(int, version("toolmd").split(".")[:2])
    return f"toolmd>={major}.{minor},<{f'{major + 1}' if major else f'0.{minor + 1}'}"


_PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "{kebab}"
version = "0.1.0"
description = "Tools for Toolmd."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["{toolmd}"]

[project.entry-points.toolmd]
{kebab} = "{name}.plugin"

[tool.hatch.build.targets.wheel]
packages = ["src/{name}"]

# In this folder, Toolmd reads the tools from the source, with this plugin and no other.
[tool.toolmd]
tools = ["src/{name}/tools_md"]
skills = []
plugins = ["{kebab}"]
"""

_README = """\
# {kebab}

Tools for Toolmd. After you install this package, every project of the same
environment has them:

    pip install -e .
    toolmd plugins
    toolmd list

The definitions are in `src/{name}/tools_md`, each with its Python next to it.
"""

_PLUGIN = '''\
"""Register this package's definitions with Toolmd."""

from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable

from toolmd.hooks import hookimpl


@hookimpl
def toolmd_definitions() -> Iterable[Traversable]:
    """Return the folder of definitions; their Python is next to them."""
    return [files(__package__) / "tools_md"]
'''
