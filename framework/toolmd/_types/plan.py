"""The definitions that a run keeps, so that no edit of their files changes it."""

from pydantic import Field

from toolmd._types.definition import Noun
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec


class Plan(Noun):
    """The specs of a run: an edited definition never changes a run that has begun."""

    skill: SkillSpec
    skills: dict[str, SkillSpec] = Field(default_factory=dict)
    """The skills that it may use, directly or through another skill."""
    tools: dict[str, ToolSpec] = Field(default_factory=dict)
    """The tools that any of these skills may use."""
    python: tuple[str, ...] = ()
    """The skills with a Python implementation, which runs in place of their steps."""
    code: str = ""
    """The hash of the project's Python when the run began; empty if none was computed."""
    given: tuple[str, ...] = ()
    """The tools and skills whose Python comes from a package or a plugin."""

    @property
    def holds_sensitive(self) -> bool:
        """Whether a run of it may receive Sensitive values."""
        specs = (self.skill, *self.skills.values(), *self.tools.values())
        shapes = [parameter.shape for spec in specs for parameter in spec.parameters]
        shapes += [tool.returns for tool in self.tools.values()]
        return any(shape.holds_sensitive for shape in shapes)
