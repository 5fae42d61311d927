"""Export specs to a target by its name."""

from collections.abc import Callable, Sequence
from typing import Any

from toolmd._export import (
    agentskills,
    anthropic,
    gemini,
    mcp,
    openai,
    openai_responses,
    openapi,
    prompt,
)
from toolmd._export.exported import Exported, Loss
from toolmd._export.function import (
    AsksConfidence,
    Function,
    declares_confidence,
    functions,
)
from toolmd._export.names import NameRule
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd.errors import NotFoundError, did_you_mean

MakeItem = Callable[[Function, list[Loss]], dict[str, Any] | None]

_LISTED: dict[str, tuple[NameRule, MakeItem]] = {
    "openai": (openai.RULE, openai.item),
    "openai-responses": (openai_responses.RULE, openai_responses.item),
    "anthropic": (anthropic.RULE, anthropic.item),
    "gemini": (gemini.RULE, gemini.item),
    "mcp": (mcp.RULE, mcp.item),
}
_MOST = {"openai": 128, "openai-responses": 128}
"""The most functions that the API accepts in one request."""
_DOCUMENTS: dict[str, Any] = {"prompt": prompt, "openapi": openapi}
TARGETS = (*_LISTED, *_DOCUMENTS, "agentskills")
"""The names that `export` accepts."""


def export(
    target: str,
    tools: Sequence[ToolSpec],
    skills: Sequence[SkillSpec] = (),
    *,
    asks_confidence: AsksConfidence = declares_confidence,
) -> Exported:
    """Return tools and skills in a target's form.

    `skills` are the executable ones; `agentskills` accepts any. `asks_confidence` returns which
    tools have a threshold, where more than the file decides it. Raises NotFoundError for an
    unknown target.
    """
    target = target.replace("_", "-")
    losses: list[Loss] = []
    specs: tuple[ToolSpec | SkillSpec, ...] = (*tools, *skills)
    made: Any
    if target == "agentskills":
        made = agentskills.items(specs, losses)
    elif target in _LISTED:
        rule, item = _LISTED[target]
        listed = [item(f, losses) for f in functions(specs, rule, losses, asks_confidence)]
        made = [shown for shown in listed if shown is not None]
        if (most := _MOST.get(target)) and len(made) > most:
            what = f"nothing yet, but a request takes {most} functions, not {len(made)}"
            losses.append(Loss("all", "", f"{what}: name those that it needs"))
    elif target in _DOCUMENTS:
        document = _DOCUMENTS[target]
        fitted = functions(specs, document.RULE, losses, asks_confidence)
        made = document.document([document.item(f, losses) for f in fitted])
    else:
        hint = did_you_mean(target, TARGETS, alike=0.7) or f"there are {', '.join(TARGETS)}"
        message = f"no export target {target!r}; {hint}"
        raise NotFoundError(message)
    return Exported(target, made, tuple(losses))
