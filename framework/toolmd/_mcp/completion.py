"""Complete the arguments of prompts, and the variables of resource templates."""

import asyncio
from collections.abc import Sequence

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    PromptReference,
)

from toolmd._dialect.body import compact
from toolmd._mcp.callers import Callers, RequestContext
from toolmd._mcp.prompts import Prompts
from toolmd._mcp.resources import RESULT_TEMPLATE, SKILL_TEMPLATE, Resources
from toolmd._mcp.skills import SCHEME, Skills
from toolmd._types.call import Caller
from toolmd._types.schema import Schema

MOST = 100
"""The most values of one answer, by the protocol."""


class Completions:
    """The values that a caller may choose from."""

    def __init__(
        self, who: Callers, prompts: Prompts, resources: Resources, skills: Skills
    ) -> None:
        self._who = who
        self._prompts = prompts
        self._resources = resources
        self._skills = skills

    async def complete(self, ctx: RequestContext, params: CompleteRequestParams) -> CompleteResult:
        """Handle `completion/complete`: the values that begin with what the user has typed."""
        name, typed = params.argument.name, params.argument.value.casefold()
        if isinstance(params.ref, PromptReference):
            values = await self._of_prompt(params.ref.name, name)
        else:
            given = (params.context.arguments if params.context is not None else None) or {}
            skill = given.get("skill", "")
            caller = self._who(ctx)
            values = await asyncio.to_thread(self._of_template, params.ref.uri, name, skill, caller)
        fits = [value for value in values if value.casefold().startswith(typed)]
        more = len(fits) > MOST
        return CompleteResult(
            completion=Completion(values=fits[:MOST], total=len(fits), has_more=more)
        )

    async def _of_prompt(self, prompt: str, name: str) -> Sequence[str]:
        spec = await self._prompts.find(prompt)
        for argument in spec.parameters:
            if argument.name == name:
                return _choices(argument.shape)
        raise _unknown("argument", name)

    def _of_template(self, uri: str, name: str, skill: str, caller: Caller) -> Sequence[str]:
        skills = self._skills.skills.values()
        match uri, name:
            case SKILL_TEMPLATE.uri_template, "skill":
                return [one.name for one in skills]
            case SKILL_TEMPLATE.uri_template, "path":
                within = f"{SCHEME}{skill}/"
                files = [file for one in skills if one.name == skill for file in one.files]
                return [file.uri.removeprefix(within) for file in files]
            case RESULT_TEMPLATE.uri_template, "handle":
                return [one.handle for one in self._resources.handles(caller)]
            case SKILL_TEMPLATE.uri_template | RESULT_TEMPLATE.uri_template, _:
                raise _unknown("variable", name)
            case _:
                raise _unknown("resource template", uri)


def _choices(shape: Schema) -> list[str]:
    if shape.enum is not None:
        return [value if isinstance(value, str) else compact(value) for value in shape.enum]
    return ["true", "false"] if shape.types == ("boolean",) else []


def _unknown(what: str, name: str) -> MCPError:
    return MCPError(INVALID_PARAMS, f"Unknown {what}: {name[:512]}")
