"""Serve prompts: the project's `.prompt.md` files, and skills that only people follow."""

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from toolmd._dialect.results import compact
from toolmd._mcp.callers import RequestContext
from toolmd._mcp.skills import Skills
from toolmd._skills.text import ValueTextError, read_text
from toolmd._types.prompt import PromptSpec
from toolmd._types.schema import Parameter
from toolmd._types.skill import SkillSpec
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError
from toolmd._workspace import Workspace
from toolmd._workspace.names import can_run
from toolmd.errors import did_you_mean, near_words

Spec = PromptSpec | SkillSpec


class Prompts:
    """The prompts of the current snapshot."""

    def __init__(self, workspace: Workspace, skills: Skills) -> None:
        self._workspace = workspace
        self._skills = skills

    async def list_prompts(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """Handle `prompts/list`: the prompts on one page, sorted by name."""
        del ctx, params
        specs = await asyncio.to_thread(self._all)
        return ListPromptsResult(prompts=[_prompt(specs[name]) for name in sorted(specs)])

    async def get_prompt(
        self, ctx: RequestContext, params: GetPromptRequestParams
    ) -> GetPromptResult:
        """Handle `prompts/get`; raise MCPError with each argument that does not fit."""
        del ctx
        specs = await asyncio.to_thread(self._all)
        if (spec := specs.get(params.name)) is None:
            hint = did_you_mean(params.name, near_words(params.name, specs, 3), 3)
            name = params.name[:128]
            wrong = f"Unknown prompt: {name}{hint and '; '}{hint}"
            raise MCPError(INVALID_PARAMS, wrong, data={"name": name})
        values = _values(spec, params.arguments or {})
        text = await asyncio.to_thread(self._text, spec, values)
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=spec.description, messages=[message])

    def _all(self) -> dict[str, Spec]:
        registry = self._workspace.registry
        skills = {
            name: bound.spec
            for name, bound in registry.skills.items()
            if not can_run(bound) and bound.spec.user_invocable
        }
        return {**registry.prompts, **skills}

    def _text(self, spec: Spec, values: Mapping[str, Any]) -> str:
        shown = {
            name: value if isinstance(value, str) else compact(value)
            for name, value in values.items()
            if value is not None
        }
        if isinstance(spec, PromptSpec):
            return spec.filled(shown)
        body = self._skills.body_of(spec.name) or spec.workflow
        given = [f"- {name}: {value}" for name, value in shown.items()]
        return "\n\n".join([body, *(["## Given", "\n".join(given)] if given else [])])


def _prompt(spec: Spec) -> Prompt:
    arguments = [
        PromptArgument(
            name=one.name,
            description=one.shape.description or None,
            required=one.required,
        )
        for one in spec.parameters
    ]
    return Prompt(
        name=spec.name, title=spec.title, description=spec.description, arguments=arguments
    )


def _values(spec: Spec, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a prompt's arguments, which clients send as text."""
    known: dict[str, Parameter] = {one.name: one for one in spec.parameters}
    read: dict[str, Any] = {}
    wrong: list[tuple[str, str]] = []
    for name, text in given.items():
        if name not in known:
            hint = did_you_mean(name, known)
            wrong.append((name, f"there is no argument of this name{hint and '; '}{hint}"))
        elif text or known[name].required:
            # Clients send an empty text for an optional argument that their user left out.
            try:
                read[name] = read_text(text, known[name].shape)
            except ValueTextError as error:
                wrong.append((name, str(error)))
    if not wrong:
        try:
            return ArgumentsValidator(spec.parameters).validate(read)
        except InvalidArgumentsError as error:
            wrong = [(problem.path, problem.message) for problem in error.problems]
    told = "; ".join(f"{name[:128]}: {message}" for name, message in wrong)
    problems = [{"argument": name[:128], "message": message} for name, message in wrong]
    raise MCPError(INVALID_PARAMS, told, data={"problems": problems})
