"""What a run begins with: its definitions, its caller's facts, and the inputs of a Schedule."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from toolmd._skills.text import ValueTextError, read_text
from toolmd._types.approval import either
from toolmd._types.call import Caller
from toolmd._types.result import SkillResult
from toolmd._types.skill import Plan, SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError
from toolmd.errors import did_you_mean


def make_plan(
    skill: SkillSpec,
    tools: Mapping[str, ToolSpec],
    skills: Mapping[str, SkillSpec],
    python: Collection[str] = (),
    code: str = "",
) -> Plan:
    """Collect everything that the skill and its skills may use; missing ones are left out.

    `python` names the skills that have an implementation; `code` is the hash of the Python.
    """
    reached = within_reach(skill, skills)
    every = (skill, *reached.values())
    needed = sorted({name for spec in every for name in spec.required_tools})
    return Plan(
        skill=skill,
        skills=reached,
        tools={name: tools[name] for name in needed if name in tools},
        python=tuple(sorted({spec.name for spec in every} & set(python))),
        code=code,
    )


def within_reach(skill: SkillSpec, skills: Mapping[str, SkillSpec]) -> dict[str, SkillSpec]:
    """Return the skills that a skill may use, directly or through others, by name."""
    reached: dict[str, SkillSpec] = {}
    waiting = [skill]
    while waiting:
        for name in waiting.pop().required_skills:
            if name in skills and name not in reached:
                reached[name] = skills[name]
                waiting.append(skills[name])
    return reached


_USER, _ROLE = "", "*"
"""The needs of a user and of a role, among the names of facts."""


def find_lack(spec: SkillSpec, plan: Plan, caller: Caller) -> SkillResult | None:
    """Return the denial of a run with a tool that needs what the caller lacks: user, fact or role.

    A step that may be skipped counts, and so does an Undo: it could not run when it must.
    """
    for need, tool in _needs(spec, plan, set()):
        if need == _USER and not caller.user:
            message = (
                f"{spec.name} needs a signed-in user, because {tool} does; the host names one."
            )
            return SkillResult.failed("auth_required", message)
        if need == _ROLE:
            roles = plan.tools[tool].allowed_roles
            if set(roles).isdisjoint(caller.roles):
                message = f"{spec.name} uses {tool}, which is for {either(roles)}."
                return SkillResult.failed("not_allowed", message)
        elif need != _USER and caller.context.get(need) in (None, ""):
            message = f"{spec.name} needs the {need} in the caller's context, because {tool} does"
            return SkillResult.failed("context_required", f"{message}; the host supplies it.")
    return None


def _needs(spec: SkillSpec, plan: Plan, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what each tool of a skill needs, with the tool; an inner skill may supply facts."""
    seen.add(spec.name)
    for name in _used(spec, plan):
        if (tool := plan.tools.get(name)) is not None:
            roles = [_USER, _ROLE] if tool.allowed_roles else ()
            needs = (*([_USER] if tool.requires_auth else ()), *tool.requires_context, *roles)
            yield from ((need, name) for need in needs)
        elif (inner := plan.skills.get(name)) is not None and name not in seen:
            yield from (one for one in _needs(inner, plan, seen) if one[0] not in inner.context)


def _used(spec: SkillSpec, plan: Plan) -> dict[str, None]:
    """Return the tools and skills of the steps; those of Python can't be known, so all of them."""
    if spec.name in plan.python:
        return dict.fromkeys((*spec.required_tools, *spec.required_skills))
    steps = [step for section in spec.workflow_sections for step in section.steps]
    calls = [call for step in steps for call in (step.use, step.undo) if call is not None]
    return dict.fromkeys(call.name for call in calls)


class InvalidScheduleError(ValueError):
    """The inputs do not fit; the message has each problem."""


def schedule_inputs(spec: SkillSpec) -> dict[str, Any]:
    """Return the inputs of a scheduled run, read by their types; raises InvalidScheduleError."""
    shapes = {parameter.name: parameter.shape for parameter in spec.parameters}
    inputs = {}
    for name, text in spec.schedule_inputs.items():
        if name not in shapes:
            hint = did_you_mean(name, shapes)
            raise InvalidScheduleError(f"there is no input '{name}'{hint and f'; {hint}'}")
        try:
            inputs[name] = read_text(text, shapes[name])
        except ValueTextError as error:
            raise InvalidScheduleError(f"'{name}': {error}") from None
    try:
        return dict(ArgumentsValidator(spec.parameters).validate(inputs))
    except InvalidArgumentsError as error:
        said = "; ".join(problem.message for problem in error.problems)
        raise InvalidScheduleError(said) from None
