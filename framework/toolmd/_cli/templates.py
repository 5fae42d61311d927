"""Build the files that `new` and `init` write: a first tool, a definition, and a package."""

import json
from typing import Any

from toolmd._cli.single_file import parse
from toolmd._parse import new_text
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import sample, sample_arguments

FIRST_NAME = "say_hello"

_MARKDOWN = """\
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

_PYTHON = {
    "string": "str",
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "object": "dict[str, Any]",
    "null": "None",
}


def first_files() -> dict[str, str]:
    """Return the files of the first tool: path below the project, and text."""
    spec, _ = parse(_MARKDOWN, "say-hello.tool.md")
    assert isinstance(spec, ToolSpec)
    return {
        "tools_md/say-hello.tool.md": _MARKDOWN,
        "tools_md/say_hello.py": _FIRST_PYTHON,
        "tests/test_say_hello.py": test_text(spec),
    }


def definition_files(kind: str, name: str, folder: str) -> dict[str, str]:
    """Return the files of a new definition: path below the project, and text."""
    path = f"{folder}/{name.replace('_', '-')}.{kind}.md"
    text = new_text(kind, name)
    spec, diagnostics = parse(text, path)
    assert spec is not None, diagnostics
    files = {path: text}
    if kind == "tool":
        files[f"{folder}/{name}.py"] = python_text(spec)
    return {**files, f"tests/test_{name}.py": test_text(spec)}


def python_text(spec: ToolSpec | SkillSpec) -> str:
    """Return a module with a function that has the definition's name and parameters."""
    gives = "dict[str, Any]" if isinstance(spec, SkillSpec) else annotation(spec.returns)
    # Python requires parameters without a default first.
    ordered = sorted(spec.parameters, key=lambda p: not p.required)
    head = ", ".join(_parameter(p) for p in ordered)
    text = f"async def {spec.name}({head}) -> {gives}:\n"
    text += f'    """{_first(spec.description)}"""\n'
    text += f"    return {_result(spec)}\n"
    kind = "skill" if isinstance(spec, SkillSpec) else "tool"
    file = f"{spec.name.replace('_', '-')}.{kind}.md"
    imports = "from typing import Any\n\n\n" if "Any" in text else "\n"
    return f'"""{spec.title}; {file} next to this file defines it."""\n\n{imports}{text}'


def test_text(spec: ToolSpec | SkillSpec) -> str:
    """Return a test that calls the definition once, through the call pipeline."""
    values = sample_arguments(spec.parameters)
    arguments = ", ".join(f'"{name}": {_literal(value)}' for name, value in values.items())
    verb = "run_sync" if isinstance(spec, SkillSpec) else "call_sync"
    return f'''"""Test {spec.name} against its definition."""

from pathlib import Path

from toolmd import Workspace

PROJECT = Path(__file__).parents[1]


def test_{spec.name}_matches_its_definition(tmp_path: Path) -> None:
    # A state folder of its own: the project's data, confirmations and audit stay as they are.
    with Workspace.open(PROJECT, overrides={{"state": tmp_path}}) as workspace:
        result = workspace.{verb}("{spec.name}", {{{arguments}}})

    assert result.success, result.to_dict()
'''


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def annotation(shape: Schema) -> str:
    """Return the Python annotation of a schema."""
    if not shape.types:
        return "Any"
    named = [
        f"list[{annotation(shape.items) if shape.items else 'Any'}]"
        if name == "array"
        else _PYTHON[name]
        for name in shape.types
    ]
    return " | ".join(dict.fromkeys(named))


def _parameter(parameter: Parameter) -> str:
    kind, shape = annotation(parameter.shape), parameter.shape
    if parameter.required:
        return f"{parameter.name}: {kind}"
    if shape.has_default:
        return f"{parameter.name}: {kind} = {shape.default!r}"
    return f"{parameter.name}: {kind if kind == 'Any' else f'{kind} | None'} = None"


def _result(spec: ToolSpec | SkillSpec) -> str:
    given = {p.name for p in spec.parameters}
    shape = Schema(types=("object",)) if isinstance(spec, SkillSpec) else spec.returns
    if shape.types not in {(), ("object",)}:
        return _literal(sample(shape))
    if shape.one_of is not None:
        return _literal(sample(shape))
    if shape.properties is None:
        return "{" + ", ".join(f'"{p.name}": {p.name}' for p in spec.parameters) + "}"
    fields = (
        f'"{p.name}": {p.name if p.name in given else _literal(sample(p.shape))}'
        for p in shape.properties
    )
    return "{" + ", ".join(fields) + "}"


def _first(text: str) -> str:
    return text.split("\n", 1)[0].replace('"""', "'''").replace("\\", "\\\\")


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
