"""Find what is meant by a name: as it was exported, or with `-` for `_`."""

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from toolmd._types.registry import BoundSkill, BoundTool, Registry
from toolmd.errors import SEE_NAMES, NotFoundError, did_you_mean, is_a_skill, is_a_tool

Called = BoundTool | BoundSkill


def can_run(bound: BoundSkill) -> bool:
    """Return whether the skill has Python or steps that do something."""
    return bound.binding.kind != "none" or bound.spec.executable


def is_for_models(bound: BoundSkill) -> bool:
    """Return whether a model may start the skill, and it can run."""
    return can_run(bound) and bound.spec.model_invocation


def known_name(
    name: str, registry: Registry, kind: Literal["tool", "skill", "tool or skill"]
) -> str:
    """Return a name as it is known, kebab or snake.

    Raises NotFoundError with the near names, or with what the name is where it is of the other
    kind.
    """
    folded = name.replace("-", "_")
    tools = registry.tools if "tool" in kind else ()
    skills = registry.skills if "skill" in kind else ()
    names = (*tools, *skills)
    if folded in tools or folded in skills:
        return folded
    if folded in registry.skills:
        raise NotFoundError(is_a_skill(folded))
    if folded in registry.tools:
        raise NotFoundError(is_a_tool(folded))
    hint = did_you_mean(folded, names, 3) or SEE_NAMES
    raise NotFoundError(f"no {kind} {name!r}; {hint}")


class Names:
    """The tools and skills that a model may start, by what a reply may call them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def find(self, name: str) -> Called | None:
        """Return what has this name, or was exported under it; a tool goes before a skill."""
        tool = self._registry.tools.get(name)
        return tool or self._skill(name) or self._exported.get(name)

    def _skill(self, name: str) -> BoundSkill | None:
        skill = self._registry.skills.get(name)
        return skill if skill is not None and is_for_models(skill) else None

    @cached_property
    def _exported(self) -> dict[str, Called]:
        """The names that are not the definitions' own; made when the first such is asked for."""
        from toolmd._export.exported import FUNCTION, GEMINI, MCP, fit

        found: dict[str, Called] = {}
        ambiguous = set()
        for called in self._all():
            folded = called.name.replace("-", "_")
            for name in {folded, folded.replace("_", "-")}:
                if found.setdefault(name, called) is not called:
                    ambiguous.add(name)
        for name in ambiguous:
            del found[name]
        # Last, as an export is exact: of two with one name the first stays there too.
        fitted: dict[str, Called] = {}
        for called in self._all():
            for rule in (FUNCTION, GEMINI, MCP):
                fitted.setdefault(fit(called.name, rule), called)
        return found | fitted

    def _all(self) -> Iterator[Called]:
        yield from self._registry.tools.values()
        yield from (bound for bound in self._registry.skills.values() if is_for_models(bound))
