"""Serve skills over MCP (SEP-2640): each is a folder of resources, with their digests."""

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from mimetypes import guess_type
from typing import Any
from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolmd._mcp.callers import RequestContext
from toolmd._mcp.results import COMPLETE, FRESH
from toolmd._types.registry import Registry
from toolmd._workspace import Workspace

EXTENSION = "io.modelcontextprotocol/skills"
SCHEME = "skill://"
MARKDOWN = "text/markdown"
BINARY = "application/octet-stream"
FOLDER = "inode/directory"
TEMPLATE = ResourceTemplate(
    uri_template="skill://{skill}/{+path}",
    name="skill-file",
    description="A skill's SKILL.md, or another file of its folder.",
)


class UriParams(RequestParams):
    """The parameters of `skills/get` and `resources/directory/read`."""

    uri: str
    cursor: str | None = None


class SkillFile:
    """A file of a skill's folder in its served form."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        """Read one exported file: its path, such as `review/SKILL.md`, and its content."""
        self.uri = f"{SCHEME}{quote(item['path'])}"
        self.folder, _, name = self.uri.rpartition("/")
        self.name = unquote(name)
        self.text: str | None = item.get("text")
        self.data = self.text.encode() if self.text is not None else b64decode(item["base64"])
        self.digest = f"sha256:{hashlib.sha256(self.data).hexdigest()}"
        guessed = MARKDOWN if self.name.endswith(".md") else guess_type(self.name)[0]
        self.mime_type = guessed or ("text/plain" if self.text is not None else BINARY)

    @property
    def resource(self) -> Resource:
        """The file in a list of resources."""
        size = len(self.data)
        return Resource(uri=self.uri, name=self.name, mime_type=self.mime_type, size=size)

    @property
    def contents(self) -> TextResourceContents | BlobResourceContents:
        """The file as it is read."""
        if self.text is not None:
            return TextResourceContents(uri=self.uri, mime_type=self.mime_type, text=self.text)
        blob = b64encode(self.data).decode()
        return BlobResourceContents(uri=self.uri, mime_type=self.mime_type, blob=blob)

    @property
    def entry(self) -> dict[str, Any]:
        """The file in a skill's entry."""
        return {"uri": self.uri, "digest": self.digest, "size": len(self.data)}


class ServedSkill:
    """A skill and the files of its folder; the first one is its SKILL.md."""

    def __init__(self, files: Sequence[SkillFile]) -> None:
        self.files = files
        self.uri = files[0].uri
        self.name = files[0].folder.removeprefix(SCHEME)
        self.frontmatter = _frontmatter(_head(files[0].text or ""), self.name)

    @property
    def resources(self) -> list[Resource]:
        """Its files in a list of resources; SKILL.md has the skill's name and description."""
        texts = {"name": self.frontmatter["name"], "description": self.frontmatter["description"]}
        first = self.files[0].resource.model_copy(update=texts)
        return [first, *(file.resource for file in self.files[1:])]

    @property
    def entry(self) -> dict[str, Any]:
        """The skill in a list of skills."""
        resources = [file.entry for file in self.files]
        return {"uri": self.uri, "frontmatter": self.frontmatter, "resources": resources}


def _head(text: str) -> str:
    """Return the front matter of a text, which may be empty."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    parts = text.split("---\n", 2)
    return parts[1] if len(parts) > 2 and not parts[0] else ""  # noqa: PLR2004


def _frontmatter(head: str, name: str) -> dict[str, Any]:
    """Return the front matter as JSON; one that can't be read has the name alone."""
    import yaml

    parsed: Any = None
    try:
        # An alias could make a small text large.
        if not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(head)):
            parsed = json.loads(json.dumps(yaml.safe_load(head), default=str))
    except (yaml.YAMLError, ValueError, RecursionError):
        parsed = None
    parsed = parsed if isinstance(parsed, dict) else {}
    texts = {key: value for key, value in parsed.items() if isinstance(value, str)}
    own = {"name": texts.get("name", name), "description": texts.get("description", "")}
    return {**parsed, **own}


class Skills:
    """The skills of the current snapshot, as resources."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._current: tuple[Registry, dict[str, ServedSkill]] | None = None

    @property
    def skills(self) -> dict[str, ServedSkill]:
        """The skills by the URI of their SKILL.md, sorted, with those that only people follow."""
        registry = self._workspace.registry
        if self._current is None or self._current[0] is not registry:
            exported = self._workspace.exported("agentskills").items
            assert isinstance(exported, list)
            folders: dict[str, list[SkillFile]] = {}
            for item in exported:
                # The first file of a folder is the skill's SKILL.md.
                file = SkillFile(item)
                folders.setdefault(item["path"].partition("/")[0], []).append(file)
            skills = sorted(map(ServedSkill, folders.values()), key=lambda skill: skill.uri)
            self._current = registry, {skill.uri: skill for skill in skills}
        return self._current[1]

    @property
    def files(self) -> dict[str, SkillFile]:
        """All files by URI."""
        return {file.uri: file for skill in self.skills.values() for file in skill.files}

    async def list_skills(
        self, ctx: RequestContext, params: PaginatedRequestParams
    ) -> dict[str, Any]:
        """Handle `skills/list`."""
        del params
        return _fresh(ctx, {"skills": [skill.entry for skill in self.skills.values()]})

    async def get_skill(self, ctx: RequestContext, params: UriParams) -> dict[str, Any]:
        """Handle `skills/get`."""
        skill = self.skills.get(params.uri)
        if skill is None:
            raise unknown(params.uri, "No skill is served at")
        return _fresh(ctx, {"skill": skill.entry})

    async def list_resources(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Handle `resources/list`: every file of every skill, sorted by URI, on one page."""
        del ctx, params
        every = [file for skill in self.skills.values() for file in skill.resources]
        return ListResourcesResult(resources=sorted(every, key=lambda one: one.uri))

    async def list_templates(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Handle `resources/templates/list`."""
        del ctx, params
        return ListResourceTemplatesResult(resource_templates=[TEMPLATE])

    async def read_resource(
        self, ctx: RequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Handle `resources/read`: a file of a skill."""
        del ctx
        file = self.files.get(params.uri)
        if file is None:
            raise unknown(params.uri)
        return ReadResourceResult(contents=[file.contents])

    async def read_folder(self, ctx: RequestContext, params: UriParams) -> dict[str, Any]:
        """Handle `resources/directory/read`: the files and folders directly in a folder."""
        del ctx
        within = f"{params.uri}/"
        children: dict[str, Resource] = {}
        for file in self.files.values():
            if not file.uri.startswith(within) or within == f"{SCHEME}/":
                continue
            name, _, deeper = file.uri.removeprefix(within).partition("/")
            inner = Resource(uri=within + name, name=unquote(name), mime_type=FOLDER)
            children.setdefault(name, inner if deeper else file.resource)
        if not children:
            raise unknown(params.uri, "Not a folder of resources:")
        resources = [
            child.model_dump(by_alias=True, mode="json", exclude_none=True)
            for child in children.values()
        ]
        return {"resources": resources}


def unknown(uri: str, what: str = "Unknown resource:") -> MCPError:
    """Return the protocol's error for a URI that is not served."""
    return MCPError(INVALID_PARAMS, f"{what} {uri[:512]}", data={"uri": uri})


def _fresh(ctx: RequestContext, result: dict[str, Any]) -> dict[str, Any]:
    """Add the keys of lists since 2026-07-28."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return result
    return {**COMPLETE, **result, **FRESH}
