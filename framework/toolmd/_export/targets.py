"""The table of export targets, and the export of specs to one of them by its name."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from toolmd._export.exported import FUNCTION, GEMINI, MCP, Exported, Loss, NameRule
from toolmd.errors import NotFoundError, did_you_mean

if TYPE_CHECKING:
    from toolmd._export.function import AsksConfidence
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec


class Target(NamedTuple):
    """A row of the table; its file is imported on use, so that the names are known at once."""

    file: str
    item: str
    """The function of the file that writes a tool or skill; for files, all of them."""
    rule: NameRule = FUNCTION
    """The names that the format allows."""
    document: str = ""
    """The function that makes one document of all items."""
    form: Literal["functions", "files"] = "functions"
    """Whether it holds functions, or the files of skills."""
    most: int | None = None
    """The most functions that the API accepts in one request."""
    holds_policy: bool = False
    """Whether a tool's restrictions are written; without it, they are named next to the export."""
    prose_skills: bool = False
    """Whether skills that can't run are exported too."""
    for_models: bool = True
    """Whether a model is given the export, so that it may read kept results."""


TARGETS: Mapping[str, Target] = {
    "openai": Target("apis", "openai", most=128),
    "openai-responses": Target("apis", "openai_responses", most=128),
    "anthropic": Target("apis", "anthropic"),
    "gemini": Target("apis", "gemini", GEMINI),
    "mcp": Target("mcp", "item", MCP, holds_policy=True),
    "prompt": Target("documents", "prompt_part", document="prompt"),
    "agentskills": Target("agentskills", "items", form="files", holds_policy=True,
                          prose_skills=True, for_models=False),
    "openapi": Target("documents", "operation", MCP, "openapi", for_models=False),
}  # fmt: skip
"""The names that `export` accepts."""


def find_target(name: str) -> Target | None:
    """Return the row of a target, whose name may be written with underscores."""
    return TARGETS.get(name.replace("_", "-"))


def export(
    target: str,
    tools: Sequence["ToolSpec"],
    skills: Sequence["SkillSpec"] = (),
    *,
    asks_confidence: "AsksConfidence | None" = None,
) -> Exported:
    """Return tools and skills in a target's form.

    `skills` are the executable ones, or any for a target of `prose_skills`. `asks_confidence`
    returns which tools have a threshold, where more than the file decides it. Raises NotFoundError
    for an unknown target.
    """
    if (row := find_target(target)) is None:
        hint = did_you_mean(target, TARGETS, alike=0.7) or f"there are {', '.join(TARGETS)}"
        raise NotFoundError(f"no export target {target!r}; {hint}")
    from toolmd._export.function import declares_confidence, functions

    writer = import_module(f"toolmd._export.{row.file}")
    write = getattr(writer, row.item)
    specs: Sequence[ToolSpec | SkillSpec] = (*tools, *skills)
    losses: list[Loss] = []
    if row.form == "files":
        made: Any = write(specs, losses)
    else:
        fitted = functions(specs, row.rule, losses, asks_confidence or declares_confidence)
        made = [one for function in fitted if (one := write(function, losses)) is not None]
    if row.most and len(made) > row.most:
        what = f"nothing yet, but a request takes {row.most} functions, not {len(made)}"
        losses.append(Loss("all", "", f"{what}: name those that it needs"))
    if row.document:
        made = getattr(writer, row.document)(made)
    from toolmd._export.mcp import restrictions

    only_here = () if row.holds_policy else restrictions(tools)
    return Exported(target.replace("_", "-"), made, tuple(losses), only_here)
