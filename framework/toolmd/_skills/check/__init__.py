"""Check a skill against its tools when it is loaded, to find errors before it runs."""

from collections.abc import Iterator, Mapping

from toolmd._skills.check.values import StepFindings
from toolmd._skills.check.walk import Walk, place
from toolmd._skills.plan import InvalidScheduleError, schedule_inputs
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.identity import ANYBODY, Identity
from toolmd._types.schema import Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd.errors import did_you_mean


def check_skill(
    spec: SkillSpec,
    tools: Mapping[str, ToolSpec],
    skills: Mapping[str, SkillSpec],
    identity: Identity | None = None,
    *,
    implemented: bool = False,
    partial: bool = False,
) -> tuple[Diagnostic, ...]:
    """Return all findings in a skill's steps, in the file's order (format.md, "Steps").

    `tools` and `skills` are all of the project, or with `partial` the known ones: then calls of
    others are accepted. With `implemented` a Python sibling runs and the steps are documentation,
    so only the lists are checked. `identity` are the facts and roles that the settings know; None
    checks none of them.
    """
    caller = ANYBODY if identity is None else identity.shape(_facts(spec, tools))
    found = StepFindings(spec.source, caller)
    runs = implemented or spec.executable
    if not partial:
        _check_lists(spec, tools, skills, found, Severity.ERROR if runs else Severity.HINT)
    _check_circle(spec, skills, found)
    _check_context(spec, tools, found)
    _check_durable(spec, tools, found)
    _check_schedule(spec, tools, found, runs=runs)
    if not runs:
        message = f"{spec.name} is not executable by itself: its workflow is prose"
        hint = "put a Python file of the same stem next to it, or give its steps keys such as "
        found.report(
            Code.NOT_EXECUTABLE, spec.source.line, message, f"{hint}**Use**", Severity.HINT
        )
    elif not implemented:
        walk = Walk(spec, tools, skills, found, partial=partial)
        walk.run()
        for kind, field, name in _required(spec):
            if name not in walk.used:
                message = f"the {kind} {name} is required, and no step uses it"
                hint = f"remove it from Required {kind.title()}s, or use it"
                at = place(spec, field, name)
                found.report(Code.UNUSED_REQUIREMENT, at, message, hint, Severity.WARNING)
    return found.sorted()


def scopes_of(
    spec: SkillSpec, tools: Mapping[str, ToolSpec], skills: Mapping[str, SkillSpec]
) -> Mapping[tuple[int, int], Mapping[str, Schema]]:
    """Return the names that each expression of the steps can read, by its line and column."""
    found = StepFindings(spec.source, ANYBODY)
    Walk(spec, tools, skills, found, partial=True).run()
    return found.scopes


def _facts(spec: SkillSpec, tools: Mapping[str, ToolSpec]) -> set[str]:
    """Return the facts that a run has: those of its Context, and those that its tools require."""
    needed = [tools[name].requires_context for name in spec.required_tools if name in tools]
    return {*spec.context, *(fact for facts in needed for fact in facts)}


def _required(spec: SkillSpec) -> Iterator[tuple[str, str, str]]:
    """Yield each required tool and skill: its kind, the field that names it, and its name."""
    yield from (("tool", "required_tools", name) for name in spec.required_tools)
    yield from (("skill", "required_skills", name) for name in spec.required_skills)


def _check_lists(
    spec: SkillSpec,
    tools: Mapping[str, ToolSpec],
    skills: Mapping[str, SkillSpec],
    found: StepFindings,
    severity: Severity,
) -> None:
    for kind, field, name in _required(spec):
        known: Mapping[str, object] = tools if kind == "tool" else skills
        if name not in known:
            code = Code.UNKNOWN_TOOL if kind == "tool" else Code.UNKNOWN_SKILL
            message = f"Required {kind.title()}s names {name}, but the project has no such {kind}"
            hint = did_you_mean(name, known)
            found.report(code, place(spec, field, name), message, hint, severity)


def _check_circle(spec: SkillSpec, skills: Mapping[str, SkillSpec], found: StepFindings) -> None:
    """Report the path from the skill back to itself, if there is one."""
    seen: set[str] = set()
    ways = [[spec.name, name] for name in spec.required_skills]
    while ways:
        way = ways.pop()
        if way[-1] == spec.name:
            at = place(spec, "required_skills", way[1])
            message = f"skills use each other in a cycle: {' → '.join(way)}"
            found.report(Code.SKILL_CIRCLE, at, message, "take one of them out of Required Skills")
            return
        if way[-1] in skills and way[-1] not in seen:
            seen.add(way[-1])
            ways += [[*way, name] for name in skills[way[-1]].required_skills]


def _check_context(spec: SkillSpec, tools: Mapping[str, ToolSpec], found: StepFindings) -> None:
    needing: dict[str, list[str]] = {}
    for name in spec.required_tools:
        for fact in tools[name].requires_context if name in tools else ():
            needing.setdefault(fact, []).append(name)
    for fact, names in needing.items():
        if fact not in spec.context:
            verb = "require" if len(names) > 1 else "requires"
            message = f"{', '.join(names)} {verb} the context `{fact}`, and no input supplies it"
            hint = (
                f"the caller should supply the {fact}, as the host does for a tool; "
                f"`**Context**: {fact} from INPUT` trusts the input, which a model may write"
            )
            at = place(spec, "required_tools", names[0])
            found.report(Code.CONTEXT, at, message, hint, Severity.HINT)
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
        found.report(Code.CONTEXT, place(spec, "context"), message, hint)


def _check_durable(spec: SkillSpec, tools: Mapping[str, ToolSpec], found: StepFindings) -> None:
    if spec.durable:
        return
    problems = []
    if any(step.wait is not None for part in spec.workflow_sections for step in part.steps):
        problems.append("a step has Wait: a restart would end the wait and the run")
    writing = [n for n in spec.required_tools if n in tools and not tools[n].read_only]
    if changing := [*writing, *spec.required_skills]:
        problems.append(f"{', '.join(changing)} may change things")
    for problem in problems:
        message = f"Durable is no, and {problem}"
        hint = "remove **Durable**: without it, an interrupted run can't resume"
        found.report(Code.NOT_DURABLE, place(spec, "durable"), message, hint, Severity.WARNING)


def _check_schedule(
    spec: SkillSpec, tools: Mapping[str, ToolSpec], found: StepFindings, *, runs: bool
) -> None:
    """Check the Schedule and its inputs; `runs` says whether the skill can run."""
    at = place(spec, "schedule")
    inputs_at = place(spec, "schedule_inputs") if spec.schedule_inputs else at
    if spec.schedule is None:
        if spec.schedule_inputs:
            message = "Schedule Inputs are for a Schedule, which is missing"
            found.report(Code.INVALID_SCHEDULE, inputs_at, message, "add **Schedule**")
        return
    if not runs or not spec.durable:
        why = "is not durable, so each process would run it" if runs else "can't run"
        message = f"Schedule starts no runs: {spec.name} {why}"
        hint = "remove **Durable**" if runs else "give its steps keys such as **Use**"
        found.report(Code.INVALID_SCHEDULE, at, message, hint)
    try:
        schedule_inputs(spec)
    except InvalidScheduleError as error:
        hint = "write `- input: value` below **Schedule Inputs**"
        found.report(Code.INVALID_SCHEDULE, inputs_at, f"Schedule Inputs: {error}", hint)
    for why in _needs_of_a_person(spec, tools):
        message = f"a run of the Schedule has no user: {why}"
        hint = "somebody must decide it under `toolmd pending`, or take that out of the skill"
        found.report(Code.UNATTENDED, at, message, hint, Severity.WARNING)


def _needs_of_a_person(spec: SkillSpec, tools: Mapping[str, ToolSpec]) -> Iterator[str]:
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
