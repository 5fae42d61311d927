"""Build the files that `new` writes: a definition, the Python next to it, and a test."""

import json
from typing import Any

from toolmd._cli.single_file import parse
from toolmd._parse import new_text
from toolmd._types.prompt import PromptSpec
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import sample, sample_arguments

_PYTHON = {
    "string": "str",
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "object": "dict[str, Any]",
    "null": "None",
}


def definition_files(kind: str, name: str, folder: str) -> dict[str, str]:
    """Return the files of a new definition: path below the project, and text."""
    path = f"{folder}/{name.replace('_', '-')}.{kind}.md"
    text = new_text(kind, name)
    spec, diagnostics = parse(text, path)
    assert spec is not None, diagnostics
    files = {path: text}
    if isinstance(spec, PromptSpec):
        return files
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
