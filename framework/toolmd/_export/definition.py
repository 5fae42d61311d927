"""Export a definition as canonical JSON, with its hash, source and implementation."""

from typing import Any

from toolmd._types.prompt import PromptSpec
from toolmd._types.registry import AnySpec, Bound
from toolmd._types.skill import SkillSpec

_LISTED = ("kind", "name", "title", "description", "version", "category", "tags", "source",
           "implementation")  # fmt: skip


def describe_bound(bound: Bound[Any]) -> dict[str, Any]:
    """Return the JSON of a tool or skill of a project (format.md, "Canonical JSON")."""
    return describe(bound.spec, bound.binding.kind, bound.binding.target)


def list_entry(bound: Bound[Any]) -> dict[str, Any]:
    """Return an entry for a list of tools and skills: no schemas, and whether it is stale."""
    described = describe_bound(bound)
    entry = {key: described[key] for key in _LISTED if key in described}
    return {**entry, "stale": True} if bound.stale else entry


def describe(spec: "AnySpec | PromptSpec", kind: str, target: str) -> dict[str, Any]:
    """Return the JSON of a definition, with the kind and the place of its implementation."""
    if isinstance(spec, PromptSpec):
        source = {"path": spec.source.path, "line": spec.source.line}
        return {**spec.canonical, "hash": spec.hash, "source": source}
    if kind == "none" and isinstance(spec, SkillSpec) and spec.executable:
        kind = "steps"
    runs = {"kind": kind, "target": target} if target else {"kind": kind}
    source = {"path": spec.source.path, "line": spec.source.line}
    return {**spec.canonical, "hash": spec.hash, "source": source, "implementation": runs}
