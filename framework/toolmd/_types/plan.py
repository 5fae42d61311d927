"""The plan of a run, complete, so that no edit of a file changes it."""

from pydantic import Field

from toolmd._types.definition import Noun
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec


class Plan(Noun):
    """Everything that a run is interpreted by, pinned: an edited file never changes a run."""

    skill: SkillSpec
    skills: dict[str, SkillSpec] = Field(default_factory=dict)
    """The skills that it may use, and theirs."""
    tools: dict[str, ToolSpec] = Field(default_factory=dict)
    """The tools that any of them may use."""
    python: tuple[str, ...] = ()
    """The skills among them that have a Python implementation, which then runs."""
    code: str = ""
    """The hash of the pinned Python; empty where none is."""
    given: tuple[str, ...] = ()
    """The tools and skills whose Python a package or a plugin gives."""

    @property
    def holds_sensitive(self) -> bool:
        """Whether a run may receive Sensitive values."""
        specs = (self.skill, *self.skills.values(), *self.tools.values())
        shapes = [parameter.shape for spec in specs for parameter in spec.parameters]
        shapes += [tool.returns for tool in self.tools.values()]
        return any(shape.holds_sensitive for shape in shapes)
