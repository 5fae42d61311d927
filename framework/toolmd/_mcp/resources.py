"""Serve resources: the catalogue, the files of skills, and the caller's kept results."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from toolmd._dialect.body import compact
from toolmd._export.mcp import POLICY
from toolmd._mcp.callers import Callers, RequestContext
from toolmd._mcp.catalog import Listed
from toolmd._mcp.changes import ListChanges
from toolmd._mcp.pages import page_of
from toolmd._mcp.skills import Skills, unknown
from toolmd._types.call import Call, Caller
from toolmd._types.canonical import present
from toolmd._types.kept import OpenHandle
from toolmd._types.skill import SkillSpec
from toolmd._workspace import Workspace
from toolmd._workspace.kept import READ_RESULT
from toolmd.errors import UnreachableError, logged

CATALOG = "toolmd://catalog"
RESULTS = "toolmd://results/"
JSON = "application/json"
MAX_CATALOG = 1 << 20
"""The most characters of the catalogue."""

SKILL_TEMPLATE = ResourceTemplate(
    uri_template="skill://{skill}/{+path}",
    name="skill-file",
    description="A skill's SKILL.md, or another file of its folder.",
)
RESULT_TEMPLATE = ResourceTemplate(
    uri_template=RESULTS + "{handle}",
    name="result",
    description="The first page of a kept result; read_result reads the others.",
    mime_type=JSON,
)


class Resources:
    """The resources that a caller may read."""

    def __init__(
        self, workspace: Workspace, who: Callers, changes: ListChanges, skills: Skills
    ) -> None:
        self._workspace = workspace
        self._who = who
        self._changes = changes
        self._skills = skills

    async def list_resources(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Handle `resources/list`: a page of what this caller may read, sorted by URI."""
        caller = self._who(ctx)
        every = await asyncio.to_thread(self._all, caller)
        page, cursor = page_of(every, lambda resource: resource.uri, params)
        return ListResourcesResult(resources=page, next_cursor=cursor)

    async def list_templates(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Handle `resources/templates/list`."""
        del ctx, params
        templates = [SKILL_TEMPLATE, *([] if self._has_own_reader else [RESULT_TEMPLATE])]
        return ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, ctx: RequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Handle `resources/read`; raise MCPError for what is not there for this caller."""
        uri, caller = params.uri, self._who(ctx)
        if uri == CATALOG:
            text = catalog_text(await self._changes.shown())
            contents = TextResourceContents(uri=uri, mime_type=JSON, text=text)
        elif uri.startswith(RESULTS):
            contents = await self._result(uri, caller)
        elif (file := await asyncio.to_thread(self._skills.read, uri)) is not None:
            return ReadResourceResult(contents=[file])
        else:
            raise unknown(uri)
        return ReadResourceResult(contents=[contents])

    def handles(self, caller: Caller) -> list[OpenHandle]:
        """Return the caller's own handles; it blocks. A store that fails lists none."""
        try:
            return self._workspace.results.handles(user=caller.user)
        except UnreachableError as error:
            logged(error, "the kept results could not be listed")
            return []

    @property
    def _has_own_reader(self) -> bool:
        """Whether `read_result` is a tool of the project, with rules of its own."""
        return READ_RESULT in self._workspace.tools

    def _all(self, caller: Caller) -> list[Resource]:
        catalog = Resource(
            uri=CATALOG,
            name="catalog",
            description="The tools and skills, with what a call of each requires.",
            mime_type=JSON,
        )
        kept = [
            Resource(
                uri=RESULTS + one.handle,
                name=one.handle,
                description=f"A result of {one.tool}.",
                mime_type=JSON,
            )
            for one in self.handles(caller)
        ]
        every = [catalog, *self._skills.resources(), *kept]
        return sorted(every, key=lambda resource: resource.uri)

    async def _result(self, uri: str, caller: Caller) -> TextResourceContents:
        """Return the first page of a kept result, by a call that passes every check."""
        if self._has_own_reader:
            raise unknown(uri)
        arguments = json.dumps({"handle": uri.removeprefix(RESULTS)}).encode()
        # The host's program chose to read it, so there is no model's confidence.
        call = Call(READ_RESULT, arguments, confidence=1.0, caller=caller)
        result = await self._workspace.dispatch(call)
        if result.success:
            return TextResourceContents(uri=uri, mime_type=JSON, text=compact(result.data))
        error = result.error
        if error is not None and error.code in {"unknown_handle", "invalid_arguments"}:
            raise unknown(uri)
        why = result.message or result.outcome if error is None else error.message
        raise MCPError(INVALID_PARAMS, f"Not readable: {why}", data={"uri": uri})


def catalog_text(listed: Sequence[Listed]) -> str:
    """Return the catalogue as JSON; `omitted` counts the tools that have no room."""
    entries: list[dict[str, Any]] = []
    room = MAX_CATALOG - 100
    for one in listed:
        entry = _entry(one)
        room -= len(compact(entry)) + 1
        if room < 0:
            break
        entries.append(entry)
    omitted = len(listed) - len(entries)
    return compact({"tools": entries, **({"omitted": omitted} if omitted else {})})


def _entry(listed: Listed) -> dict[str, Any]:
    tool, spec = listed.tool, listed.spec
    if isinstance(spec, SkillSpec):
        needs = {"tools": list(spec.required_tools), "skills": list(spec.required_skills)}
        requires = present({**needs, "context": list(spec.context)})
    else:
        requires = (tool.meta or {}).get(POLICY, {})
    return {
        "name": tool.name,
        "kind": spec.kind,
        "title": tool.title,
        "description": spec.description,
        "version": spec.version,
        "category": spec.category,
        "requires": requires,
    }
