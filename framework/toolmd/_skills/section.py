"""Find a section of a workflow by its name."""

from toolmd._skills.frame import StepError
from toolmd._types.skill import WorkflowSection


def section_index(sections: tuple[WorkflowSection, ...], target: str, *, after: int) -> int:
    """Return the index of the section of this name below another; raises StepError."""
    for index in range(after + 1, len(sections)):
        if folded(sections[index].name) == folded(target):
            return index
    raise StepError("unknown_section", f"there is no section '{target}' below")


def folded(name: str) -> str:
    """Return a section's name in the form for comparison: case-folded, with single spaces."""
    return " ".join(name.casefold().split()).rstrip(".")
