"""The initial text of a definition, for `toolmd new`."""

from typing import Any

from toolmd._parse.writing.prompt_text import prompt_text
from toolmd._parse.writing.skill_text import skill_text
from toolmd._parse.writing.tool_text import tool_text
from toolmd._types.prompt import PromptSpec
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import (
    Argument,
    Expression,
    Output,
    SkillSpec,
    Step,
    Template,
    WorkflowSection,
)
from toolmd._types.source import Source
from toolmd._types.tool import ToolSpec

_TEXT = Parameter(
    name="text",
    shape=Schema(types=("string",), description="What to do it with"),
    required=True,
)
_GIVEN = Parameter(
    name="text", shape=Schema(types=("string",), description="What was given"), required=True
)
_RETURNS = Schema(types=("object",), description="What comes back", properties=(_GIVEN,))


def new_text(kind: str, name: str) -> str:
    """Return the canonical text of a new `tool`, `skill` or `prompt` of this snake-case name."""
    title = name.replace("_", " ").replace("-", " ").title()
    write = {"tool": _tool, "skill": _skill, "prompt": _prompt}[kind]
    return write(name.replace("-", "_"), title)


def _tool(name: str, title: str) -> str:
    return tool_text(
        ToolSpec(
            **_head(name, title) | {"returns": _RETURNS},
            description="Say in one sentence what the tool does and for whom.",
            when_to_use="Say when a model should call it, and when not.",
        )
    )


def _skill(name: str, title: str) -> str:
    answer = Argument(name="text", value=Template(parts=(Expression(cel="text"),), code=True))
    return skill_text(
        SkillSpec(
            **_head(name, title),
            description="Say in one sentence what the skill achieves and for whom.",
            output=Output(
                success="Whether it was done",
                message="What was done",
                data="Contains text",
                error="What went wrong",
            ),
            workflow="Say how the steps serve the goal.",
            workflow_sections=(
                WorkflowSection(name="", steps=(Step(id="1", title="Return", returns=(answer,)),)),
            ),
        )
    )


def _prompt(name: str, title: str) -> str:
    kept = ("name", "title", "parameters", "source")
    return prompt_text(
        PromptSpec(
            **{key: value for key, value in _head(name, title).items() if key in kept},
            description="Say in one sentence what the prompt is for.",
            text="Say what the model should do with {text}.",
        )
    )


def _head(name: str, title: str) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "version": "1.0.0",
        "category": "general",
        "parameters": (_TEXT,),
        "source": Source("", 1),
    }
