"""Check a skill's lists of tools and skills, their context, and its schedule."""

from collections.abc import Iterator, Mapping

from toolmd._skills.check.findings import StepFindings
from toolmd._skills.schedule import InvalidScheduleError, schedule_inputs
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.skill import SkillSpec
from toolmd._types.source import Position
from toolmd._types.tool import ToolSpec
from toolmd.errors import did_you_mean


def check_requirements(
    spec: SkillSpec,
    tools: Mapping[str, ToolSpec],
    skills: Mapping[str, SkillSpec],
    found: StepFindings,
    *,
    runs: bool,
    partial: bool,
) -> None:
    """Check the lists of the Metadata; in prose that nothing runs, a gap is only a hint."""
    severity = Severity.ERROR if runs else Severity.HINT
    for kind, names, known, code in (
        ("tool", spec.required_tools, tools, Code.UNKNOWN_TOOL),
        ("skill", spec.required_skills, skills, Code.UNKNOWN_SKILL),
    ):
        for name in () if partial else names:
            if name not in known:
                message = (
                    f"Required {kind.title()}s names {name}, but the project has no such {kind}"
                )
                at = place(spec, f"required_{kind}s", name)
                found.add(code, severity, at, message, did_you_mean(name, known))
    if (circle := _circle(spec, skills)) is not None:
        found.error(
            Code.SKILL_CIRCLE,
            place(spec, "required_skills", circle[1]),
            f"skills use each other in a cycle: {' → '.join(circle)}",
            "take one of them out of Required Skills",
        )
    _check_context(spec, tools, found)
    _check_durable(spec, tools, found)


def place(spec: SkillSpec, field: str, name: str = "") -> int | Position:
    """Return where the Metadata has it, as exactly as known; else the title."""
    said = spec.places.get(f"{field}/{name}") or spec.places.get(field)
    return said or spec.source.line


def _circle(spec: SkillSpec, skills: Mapping[str, SkillSpec]) -> list[str] | None:
    """Return the path from the skill back to itself, if there is one."""
    seen: set[str] = set()
    ways = [[spec.name, name] for name in spec.required_skills]
    while ways:
        way = ways.pop()
        if way[-1] == spec.name:
            return way
        if way[-1] in skills and way[-1] not in seen:
            seen.add(way[-1])
            ways += [[*way, name] for name in skills[way[-1]].required_skills]
    return None


def _check_context(spec: SkillSpec, tools: Mapping[str, ToolSpec], found: StepFindings) -> None:
    needing: dict[str, list[str]] = {}
    for name in spec.required_tools:
        for fact in tools[name].requires_context if name in tools else ():
            needing.setdefault(fact, []).append(name)
    for fact, names in needing.items():
        if fact not in spec.context:
            verb = "require" if len(names) > 1 else "requires"
            found.add(
                Code.CONTEXT,
                Severity.HINT,
                place(spec, "required_tools", names[0]),
                f"{', '.join(names)} {verb} the context `{fact}`, and no input supplies it",
                f"the caller should supply the {fact}, as the host does for a tool; "
                f"`**Context**: {fact} from INPUT` trusts the input, which a model may write",
            )
    inputs = {parameter.name: parameter for parameter in spec.parameters}
    for fact, named in spec.context.items():
        if named not in inputs:
            message = f"Context takes the {fact} from {named}, which is not an input"
            hint = did_you_mean(named, inputs)
        elif inputs[named].shape.types != ("string",):
            message = f"Context takes the {fact} from {named}, which is not a string"
            hint = f"make {named} a string, or name the input that holds the {fact}"
        else:
            continue
        found.error(Code.CONTEXT, place(spec, "context"), message, hint)


def _check_durable(spec: SkillSpec, tools: Mapping[str, ToolSpec], found: StepFindings) -> None:
    if spec.durable:
        return
    writing = [n for n in spec.required_tools if n in tools and not tools[n].read_only]
    waits = any(s.wait is not None for part in spec.workflow_sections for s in part.steps)
    if waits:
        found.add(
            Code.NOT_DURABLE,
            Severity.WARNING,
            place(spec, "durable"),
            "Durable is no, and a step has Wait: a restart would end the wait and the run",
            "remove **Durable**: without it, an interrupted run can't resume",
        )
    if writing or spec.required_skills:
        found.add(
            Code.NOT_DURABLE,
            Severity.WARNING,
            place(spec, "durable"),
            f"Durable is no, and {', '.join([*writing, *spec.required_skills])} may change things",
            "remove **Durable**: without it, an interrupted run can't resume",
        )


def check_unused(spec: SkillSpec, used: set[str], found: StepFindings) -> None:
    """Check that a step uses each required tool and skill."""
    for kind, names in (("tool", spec.required_tools), ("skill", spec.required_skills)):
        for name in names:
            if name not in used:
                message = f"the {kind} {name} is required, and no step uses it"
                hint = f"remove it from Required {kind.title()}s, or use it"
                at = place(spec, f"required_{kind}s", name)
                found.add(Code.UNUSED_REQUIREMENT, Severity.WARNING, at, message, hint)


def check_schedule(
    spec: SkillSpec, tools: Mapping[str, ToolSpec], found: StepFindings, *, runs: bool
) -> None:
    """Check the Schedule and its inputs; `runs` says whether the skill can run."""
    if spec.schedule is None:
        if spec.schedule_inputs:
            message, hint = (
                "Schedule Inputs are for a Schedule, which is missing",
                "add **Schedule**",
            )
            found.error(Code.INVALID_SCHEDULE, place(spec, "schedule_inputs"), message, hint)
        return
    at = place(spec, "schedule")
    if not runs or not spec.durable:
        why = "is not durable, so each process would run it" if runs else "can't run"
        message = f"Schedule starts no runs: {spec.name} {why}"
        hint = "remove **Durable**" if runs else "give its steps keys such as **Use**"
        found.error(Code.INVALID_SCHEDULE, at, message, hint)
    try:
        schedule_inputs(spec)
    except InvalidScheduleError as error:
        where = place(spec, "schedule_inputs") if spec.schedule_inputs else at
        hint = "write `- input: value` below **Schedule Inputs**"
        found.error(Code.INVALID_SCHEDULE, where, f"Schedule Inputs: {error}", hint)
    for why in _needs(spec, tools):
        message = f"a run of the Schedule has no user: {why}"
        hint = "somebody must decide it under `toolmd pending`, or take that out of the skill"
        found.add(Code.UNATTENDED, Severity.WARNING, at, message, hint)


def _needs(spec: SkillSpec, tools: Mapping[str, ToolSpec]) -> Iterator[str]:
    """Yield each reason why a run needs a person."""
    for part in spec.workflow_sections:
        for step in part.steps:
            if step.ask is not None:
                yield f"step {step.id} ({step.title}) asks"
    for tool in [tools[name] for name in spec.required_tools if name in tools]:
        safety = tool.safety
        if safety.explicit_intent:
            yield f"{tool.name} has Explicit Intent, so it is denied"
        elif tool.requires_auth:
            yield f"{tool.name} Requires Auth, so it is denied"
        elif safety.requires_confirmation or safety.sensitivity == "critical":
            yield f"{tool.name} needs a confirmation"
