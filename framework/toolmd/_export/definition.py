"""Export a definition as canonical JSON, with its hash, source and implementation."""

import ast
from pathlib import Path
from typing import Any

from toolmd._types.registry import AnySpec, Bound
from toolmd._types.skill import SkillSpec

_LISTED = ("kind", "name", "title", "description", "version", "category", "tags", "source",
           "implementation")  # fmt: skip


def describe_bound(bound: Bound[Any]) -> dict[str, Any]:
    """Return the JSON of a tool or skill of a project (format.md, "Canonical JSON")."""
    return _described(bound.spec, bound.binding.kind, bound.binding.target)


def list_entry(bound: Bound[Any]) -> dict[str, Any]:
    """Return an entry for a list of tools and skills: no schemas, and whether it is stale."""
    described = describe_bound(bound)
    entry = {key: described[key] for key in _LISTED if key in described}
    return {**entry, "stale": True} if bound.stale else entry


def describe_file(spec: AnySpec, file: Path | None) -> dict[str, Any]:
    """Return the JSON of a single definition; the Python next to it is read, but not run."""
    target = "" if file is None else _sibling(spec.name, file)
    return _described(spec, "sibling" if target else "none", target)


def _described(spec: AnySpec, kind: str, target: str) -> dict[str, Any]:
    if kind == "none" and isinstance(spec, SkillSpec) and spec.executable:
        kind = "steps"
    runs = {"kind": kind, "target": target} if target else {"kind": kind}
    source = {"path": spec.source.path, "line": spec.source.line}
    return {**spec.canonical, "hash": spec.hash, "source": source, "implementation": runs}


def _sibling(name: str, file: Path) -> str:
    stem = file.name.partition(".")[0]
    for python in dict.fromkeys(file.with_name(f"{s}.py") for s in (stem.replace("-", "_"), stem)):
        try:
            tree = ast.parse(python.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        if any(isinstance(node, functions) and node.name == name for node in tree.body):
            return f"{python.as_posix()}:{name}"
    return ""
