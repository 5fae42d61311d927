"""Select the tools and the executable skills of an export target."""

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolmd._export.exported import Exported
from toolmd._load.plugins import Offer, find_offer, reason
from toolmd._types.registry import AnySpec, BoundTool
from toolmd._types.tool import ToolSpec
from toolmd._workspace.live import Live
from toolmd._workspace.names import is_for_models, known_name
from toolmd.errors import ToolmdError


def export_from(live: Live, target: str, names: Sequence[str], *, skills: bool) -> Exported:
    """Return one target's view of these names, or of all; see `Workspace.exported`."""
    from toolmd._export.targets import find_target

    row = find_target(target)
    if row is not None and row.form == "files":
        from toolmd._workspace.skill_folders import add_folders

        exported = _export(live, target, names, skills=skills)
        return add_folders(exported, live.registry.skills, live.settings.root)
    if names or row is None:
        return _export(live, target, names, skills=skills)
    # A snapshot never changes, so the view of all of it is made once.
    key = (target, skills, live.keeper.is_open())
    if (made := live.exports.get(key)) is None:
        made = live.exports[key] = _export(live, target, (), skills=skills)
    items = made.items
    if isinstance(items, str):
        return made
    return replace(made, items=[*map(dict, items)] if isinstance(items, list) else dict(items))


def _export(live: Live, target: str, names: Sequence[str], *, skills: bool) -> Exported:
    from toolmd._export.targets import export, find_target

    registry = live.registry
    # A name that stands twice counts once.
    chosen = [*dict.fromkeys(known_name(name, registry, "tool or skill") for name in names)]
    row = find_target(target)
    every = live.for_models() if row is None or row.for_models else registry.tools
    tools = _choose(every, chosen, named=bool(names))
    taken = _choose(registry.skills, chosen, named=bool(names)) if skills else []
    tool_specs = [state_threshold(live, bound) for bound in tools]
    whole = row is not None and row.prose_skills
    skill_specs = [bound.spec for bound in taken if whole or is_for_models(bound)]
    if row is None:
        writer, _, problems = find_offer(live.snapshot.plugins, "toolmd_exporters", target)
        if writer is not None:
            return _write_by_plugin(target, writer, tool_specs, skill_specs)
        if problems:
            raise ToolmdError(f"no export {target!r} is known, and {'; '.join(problems)}")
    return export(
        target, tool_specs, skill_specs, asks_confidence=lambda spec: _asks_confidence(live, spec)
    )


def _write_by_plugin(
    target: str, writer: Offer, tools: Sequence[AnySpec], skills: Sequence[AnySpec]
) -> Exported:
    try:
        items = writer.make(tools, skills)
    except Exception as error:
        raise ToolmdError(f"{writer.plugin} can't export {target}: {reason(error)}") from error
    if not isinstance(items, str | list | dict):
        gave = reprlib.repr(items)
        raise ToolmdError(
            f"{writer.plugin} can't export {target}: it gave {gave}, not a list or text"
        )
    return Exported(target, items)


def _asks_confidence(live: Live, spec: AnySpec) -> bool:
    """Return whether a call must state a confidence; a skill's steps use the skill's."""
    from toolmd._skills.plan import within_reach
    from toolmd._types.skill import SkillSpec

    tools, names = live.keeper.tools, {spec.name}
    if isinstance(spec, SkillSpec):
        skills = {name: bound.spec for name, bound in live.registry.skills.items()}
        every = (spec, *within_reach(spec, skills).values())
        names = {name for skill in every for name in skill.required_tools}
    called = [tools[name] for name in names if name in tools]
    return any(state_threshold(live, tool).safety.min_confidence is not None for tool in called)


def state_threshold(live: Live, bound: BoundTool) -> ToolSpec:
    """Return the tool with the minimum confidence that its calls need, by the settings too."""
    from toolmd._call.checks import threshold

    spec = bound.spec
    least = threshold(spec, bound.default_min, live.settings.safety)
    if least == spec.safety.min_confidence:
        return spec
    return spec.model_copy(update={"safety": replace(spec.safety, min_confidence=least)})


def _choose(bound: Mapping[str, Any], names: Iterable[str], *, named: bool) -> list[Any]:
    return [bound[name] for name in names if name in bound] if named else list(bound.values())
