"""Serve skills over MCP (SEP-2640): each is a folder of resources, with their digests."""

import hashlib
from typing import Any

import yaml
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    Resource,
    TextResourceContents,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolmd._mcp.callers import RequestContext
from toolmd._types.registry import Registry
from toolmd._workspace import Workspace

EXTENSION = "io.modelcontextprotocol/skills"
SCHEME = "skill://"
MARKDOWN = "text/markdown"
FRESH = {"ttlMs": 0, "cacheScope": "private"}
"""Caching hints: a list may change with the next save."""


class UriParams(RequestParams):
    """The parameters of `skills/get` and `resources/directory/read`."""

    uri: str
    cursor: str | None = None


class SkillFile:
    """A skill's file in its served form."""

    def __init__(self, path: str, text: str) -> None:
        """Parse a file, such as `review/SKILL.md`, and its text."""
        self.uri = f"{SCHEME}{path}"
        self.folder = self.uri.removesuffix("/SKILL.md")
        self.text = text
        self.size = len(text.encode())
        self.digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        self.frontmatter: dict[str, Any] = yaml.safe_load(text.split("---\n", 2)[1])

    @property
    def resource(self) -> Resource:
        """The file in a list of resources."""
        said = self.frontmatter
        return Resource(
            uri=self.uri,
            name=said["name"],
            description=said["description"],
            mime_type=MARKDOWN,
            size=self.size,
        )

    @property
    def entry(self) -> dict[str, Any]:
        """The skill in a list of skills."""
        file = {"uri": self.uri, "digest": self.digest, "size": self.size}
        return {"uri": self.uri, "frontmatter": self.frontmatter, "resources": [file]}


class Skills:
    """The skills of the current snapshot, as resources."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._made: tuple[Registry, dict[str, SkillFile]] | None = None

    @property
    def files(self) -> dict[str, SkillFile]:
        """The files by URI, sorted, including those of skills that only people follow."""
        registry = self._workspace.registry
        if self._made is None or self._made[0] is not registry:
            exported = self._workspace.exported("agentskills").items
            assert isinstance(exported, list)
            files = sorted((SkillFile(f["path"], f["text"]) for f in exported), key=_uri)
            self._made = registry, {file.uri: file for file in files}
        return self._made[1]

    async def list_skills(
        self, ctx: RequestContext, params: PaginatedRequestParams
    ) -> dict[str, Any]:
        """Handle `skills/list`."""
        del params
        return _fresh(ctx, {"skills": [file.entry for file in self.files.values()]})

    async def get_skill(self, ctx: RequestContext, params: UriParams) -> dict[str, Any]:
        """Handle `skills/get`."""
        return _fresh(ctx, {"skill": self._file(params.uri, "No skill is served at").entry})

    async def list_resources(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Handle `resources/list`: the only resources are the skills' files."""
        del ctx, params
        return ListResourcesResult(resources=[file.resource for file in self.files.values()])

    async def list_templates(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Handle `resources/templates/list`, which is empty."""
        del ctx, params
        return ListResourceTemplatesResult(resource_templates=[])

    async def read_resource(
        self, ctx: RequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Handle `resources/read`."""
        del ctx
        file = self._file(params.uri, "Unknown resource:")
        contents = TextResourceContents(uri=file.uri, mime_type=MARKDOWN, text=file.text)
        return ReadResourceResult(contents=[contents])

    async def read_folder(self, ctx: RequestContext, params: UriParams) -> dict[str, Any]:
        """Handle `resources/directory/read`: a skill's folder has one file."""
        del ctx
        for file in self.files.values():
            if file.folder == params.uri:
                child = file.resource.model_copy(update={"name": "SKILL.md"})
                shown = child.model_dump(by_alias=True, mode="json", exclude_none=True)
                return {"resources": [shown]}
        raise _invalid(params.uri, "Not a folder of resources:")

    def _file(self, uri: str, otherwise: str) -> SkillFile:
        file = self.files.get(uri)
        if file is None:
            raise _invalid(uri, otherwise)
        return file


def _uri(file: SkillFile) -> str:
    return file.uri


def _invalid(uri: str, what: str) -> MCPError:
    return MCPError(INVALID_PARAMS, f"{what} {uri[:512]}", data={"uri": uri})


def _fresh(ctx: RequestContext, result: dict[str, Any]) -> dict[str, Any]:
    """Add the keys of lists since 2026-07-28."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return result
    return {"resultType": "complete", **result, **FRESH}
