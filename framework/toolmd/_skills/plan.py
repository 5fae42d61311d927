"""Pin the definitions that a run uses: the skill, and the skills and tools that it can reach."""

from collections.abc import Collection, Mapping

from toolmd._types.plan import Plan
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec


def make_plan(
    skill: SkillSpec,
    tools: Mapping[str, ToolSpec],
    skills: Mapping[str, SkillSpec],
    python: Collection[str] = (),
    given: Collection[str] = (),
    code: str = "",
) -> Plan:
    """Collect everything that the skill and its skills may use; missing ones are left out.

    `python` names the skills that have an implementation, `given` the tools and skills whose
    implementation comes from a package or a plugin; `code` is the hash of the pinned Python.
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
        given=tuple(sorted({*needed, *(spec.name for spec in every)} & set(given))),
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
