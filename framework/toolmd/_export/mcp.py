"""Export tools for the Model Context Protocol, with the policy under `_meta`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from toolmd._export.exported import Lose, Loss
from toolmd._export.function import Function, loser, plain, shapes
from toolmd._types.call_spec import written
from toolmd._types.canonical import present
from toolmd._types.model_view import seen_shape
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec

POLICY = "toolmd/policy"
WRAPPED = "toolmd/wrapped"
"""Key under `_meta`: the result is in `structuredContent.result`, not by itself."""


def item(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Return `{name, title, description, inputSchema, outputSchema, annotations, _meta}`."""
    spec = function.spec
    output, wrapped = output_schema(spec, loser(losses, spec.name))
    meta: dict[str, Any] = {"toolmd/kind": "tool", "toolmd/version": spec.version}
    if isinstance(spec, SkillSpec):
        meta["toolmd/kind"] = "skill"
    elif policy := policy_of(spec):
        meta[POLICY] = policy
    if wrapped:
        meta[WRAPPED] = True
    return {
        "name": function.name,
        "title": spec.title,
        "description": function.description,
        "inputSchema": function.parameters,
        "outputSchema": output,
        "annotations": annotations(spec),
        "_meta": meta,
    }


def output_schema(spec: ToolSpec | SkillSpec, lose: Lose) -> tuple[dict[str, Any], bool]:
    """Return the result's schema, and whether the result was wrapped to be an object.

    Protocol versions up to 2025-11-25 accept only objects; one form serves every client.
    """
    if isinstance(spec, SkillSpec):
        return skill_result(spec), False
    schema = plain(
        seen_shape(spec.returns).json_schema,
        lambda path, what: lose(f"returns {path}".strip(), what),
    )
    if schema.get("type") == "object":
        return schema, False
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}, True


def skill_result(spec: SkillSpec) -> dict[str, Any]:
    """Return the schema of a SkillResult with the file's texts (seed 003, "Output Schema")."""
    fields: dict[str, dict[str, Any]] = {
        "success": {"type": "boolean"},
        "message": {"type": "string"},
        "data": {"type": "object"},
        # Some hosts can't pass a list of types on to their models.
        "error": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    said = spec.output.model_dump()
    described = {k: present({**v, "description": said[k]}) for k, v in fields.items()}
    return {"type": "object", "properties": described, "required": list(fields)}


def annotations(spec: ToolSpec | SkillSpec) -> dict[str, bool]:
    """Return all four hints; anything that the file does not exclude counts as possible.

    A `keyed` tool is idempotent only under the runtime's own key, which a client does not have.
    The world is closed for a Read Only tool without Allowed Domains.
    """
    tool = spec if isinstance(spec, ToolSpec) else None
    reads = tool is not None and tool.read_only
    return {
        "readOnlyHint": reads,
        "destructiveHint": not reads,
        "idempotentHint": reads or (tool is not None and tool.idempotent == "yes"),
        "openWorldHint": not reads or (tool is not None and bool(tool.limits.allowed_domains)),
    }


def policy_of(spec: ToolSpec) -> dict[str, Any]:
    """Return the restrictions of a call, for a client to show; only Toolmd enforces them."""
    return present(
        {
            "requires_auth": spec.requires_auth or None,
            "requires_context": list(spec.requires_context),
            "allowed_roles": list(spec.allowed_roles),
            "idempotent": "keyed" if spec.idempotent == "keyed" else None,
            "safety": written(spec.safety),
            "limits": written(spec.limits),
            "approvals": [one.to_dict() for one in spec.approvals],
            "given": [one.to_dict() for one in spec.given],
            "rules": [asdict(rule) for rule in spec.rules],
            "sensitive": _paths(spec, "sensitive"),
            "verbatim": _paths(spec, "verbatim"),
        }
    )


_NOT_RESTRICTING = {
    *("retries", "backoff_s", "max_batch", "idempotent", "sensitive"),
    *("on_missing_confidence", "intent_keywords", "given", "text"),
}
"""Keys of a policy that describe how a call runs, or belong to another field."""


def restrictions(tools: Sequence[ToolSpec]) -> tuple[str, ...]:
    """Return the names of the fields that restrict calls of these tools."""
    found: dict[str, None] = {}
    for spec in tools:
        policy = policy_of(spec)
        fields = policy.pop("safety", {}) | policy.pop("limits", {})
        set_here = (policy | fields).items()
        found |= dict.fromkeys(key for key, value in set_here if value is not False)
    keys = [key for key in found if key not in _NOT_RESTRICTING]
    return tuple(key.removesuffix("_s").replace("_", " ").title() for key in keys)


def _paths(spec: ToolSpec, flag: str) -> list[str]:
    """Return the paths of the values with a flag; shapes of One Of may share one."""
    found = (path for path, shape in shapes(spec.parameters) if getattr(shape, flag))
    return list(dict.fromkeys(found))
