"""Check a skill's Schedule: its inputs fit, and nobody is needed whom it does not have."""

from collections.abc import Iterator, Mapping

from toolmd._skills.check.findings import StepFindings
from toolmd._skills.check.requirements import place
from toolmd._skills.schedule import InvalidScheduleError, schedule_inputs
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec


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
