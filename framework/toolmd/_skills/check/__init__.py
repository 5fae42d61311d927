"""Check a skill against its tools when it is loaded, to find errors before it runs."""

from collections.abc import Mapping

from toolmd._skills.check.findings import StepFindings
from toolmd._skills.check.requirements import check_requirements, check_schedule, check_unused
from toolmd._skills.check.walk import Walk
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.schema import Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec


def check_skill(
    spec: SkillSpec,
    tools: Mapping[str, ToolSpec],
    skills: Mapping[str, SkillSpec],
    *,
    implemented: bool = False,
    partial: bool = False,
) -> tuple[Diagnostic, ...]:
    """Return all findings in a skill's steps, in the file's order (format.md, "Steps").

    `tools` and `skills` are all of the project, or with `partial` the known ones: then calls of
    others are accepted. With `implemented` a Python sibling runs and the steps are documentation,
    so only the lists are checked.
    """
    found = StepFindings(spec.source)
    runs = implemented or spec.executable
    check_requirements(spec, tools, skills, found, runs=runs, partial=partial)
    check_schedule(spec, tools, found, runs=runs)
    if not runs:
        found.add(
            Code.NOT_EXECUTABLE,
            Severity.HINT,
            spec.source.line,
            f"{spec.name} is not executable by itself: its workflow is prose",
            "put a Python file of the same stem next to it, or give its steps keys such as **Use**",
        )
    elif not implemented:
        walk = Walk(spec, tools, skills, found, partial=partial)
        walk.run()
        check_unused(spec, walk.used, found)
    return found.sorted()


def scopes_of(
    spec: SkillSpec, tools: Mapping[str, ToolSpec], skills: Mapping[str, SkillSpec]
) -> Mapping[tuple[int, int], Mapping[str, Schema]]:
    """Return the names that each expression of the steps can read, by its line and column."""
    found = StepFindings(spec.source)
    Walk(spec, tools, skills, found, partial=True).run()
    return found.scopes
