"""Skills over MCP: listed with their digests, read like any resource."""

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client, MCPError
from mcp.types import PaginatedRequestParams, Request, RequestParams, Result
from pydantic import ConfigDict

from toolmd import Workspace
from toolmd._mcp.skills import ServedSkill, SkillFile

MakeClient = Callable[..., Client]


class Anything(Result):
    """The result of an extension's method."""

    model_config = ConfigDict(extra="allow")


class Uri(RequestParams):
    uri: str


def ask(client: Client, method: str, params: RequestParams) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with client as connected:
            request = Request[Any, Any](method=method, params=params)
            result = await connected.session.send_request(request, Anything)  # type: ignore[arg-type]
            return result.model_dump(by_alias=True, mode="json")

    return asyncio.run(run())


def skills(client: Client) -> list[dict[str, Any]]:
    return list(ask(client, "skills/list", PaginatedRequestParams())["skills"])


def read(client: Client, uri: str) -> str:
    async def run() -> str:
        async with client as connected:
            return str((await connected.read_resource(uri)).contents[0].text)  # type: ignore[union-attr]

    return asyncio.run(run())


def test_the_server_says_that_it_serves_skills(client: MakeClient, mode: str) -> None:
    async def run() -> Any:
        async with client() as connected:
            return connected.server_capabilities

    capabilities = asyncio.run(run())

    said = {"io.modelcontextprotocol/skills": {"directoryRead": True}}
    # Before 2026-07-28 the protocol had no place to say it.
    assert capabilities.extensions == (said if mode == "auto" else None)
    assert capabilities.resources is not None


def test_every_skill_is_listed_also_without_steps(client: MakeClient) -> None:
    listed = skills(client())

    assert [skill["uri"] for skill in listed] == [
        "skill://interview/SKILL.md",
        "skill://plan-a-day/SKILL.md",
        "skill://remind-politely/SKILL.md",
    ]


def test_the_digests_sizes_and_frontmatter_are_those_of_the_files(client: MakeClient) -> None:
    for skill in skills(client()):
        (file,) = skill["resources"]
        text = read(client(), file["uri"])
        assert file["uri"] == skill["uri"]
        assert file["size"] == len(text.encode())
        assert file["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        assert yaml.safe_load(text.split("---\n")[1]) == skill["frontmatter"]
        assert skill["uri"].split("/")[-2] == skill["frontmatter"]["name"]


def test_a_skill_matches_its_entry_in_the_list(client: MakeClient) -> None:
    for skill in skills(client()):
        assert ask(client(), "skills/get", Uri(uri=skill["uri"]))["skill"] == skill


def test_lists_are_stale_at_once_in_the_new_era_alone(client: MakeClient, mode: str) -> None:
    listed = ask(client(), "skills/list", PaginatedRequestParams())

    hints = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
    assert ({k: listed[k] for k in hints} == hints) if mode == "auto" else "ttlMs" not in listed


def test_a_folder_contains_its_file(client: MakeClient) -> None:
    found = ask(client(), "resources/directory/read", Uri(uri="skill://plan-a-day"))["resources"]

    assert [(child["uri"], child["name"]) for child in found] == [
        ("skill://plan-a-day/SKILL.md", "SKILL.md")
    ]


UNKNOWN = {
    "skills/get": ("skill://plan-a-day", "skill://x/SKILL.md", "file:///etc/passwd"),
    "resources/directory/read": ("skill://x", "skill://plan-a-day/SKILL.md", "skill://"),
    "resources/read": ("skill://plan-a-day/../x", "file:///etc/passwd", ""),
}


def test_an_unknown_uri_is_an_invalid_parameter(client: MakeClient) -> None:
    async def run() -> None:
        async with client() as connected:
            asked = [(method, uri) for method, uris in UNKNOWN.items() for uri in uris]
            for method, uri in asked:
                request = Request[Any, Any](method=method, params=Uri(uri=uri))
                with pytest.raises(MCPError) as error:
                    await connected.session.send_request(request, Anything)  # type: ignore[arg-type]
                assert error.value.code == -32602
                assert error.value.error.data == {"uri": uri}

    asyncio.run(run())


def test_the_skills_files_are_among_the_resources(client: MakeClient) -> None:
    async def run() -> Any:
        async with client() as connected:
            return (await connected.list_resources()).resources

    resources = asyncio.run(run())

    assert [(r.name, r.mime_type) for r in resources if str(r.uri).startswith("skill:")] == [
        ("interview", "text/markdown"),
        ("plan-a-day", "text/markdown"),
        ("remind-politely", "text/markdown"),
    ]


def test_a_skill_that_can_run_is_a_tool_too_and_others_are_not(client: MakeClient) -> None:
    async def run() -> list[Any]:
        async with client() as connected:
            return list((await connected.list_tools()).tools)

    tools = {tool.name: tool for tool in asyncio.run(run())}

    assert "plan_a_day" not in tools
    assert tools["remind_politely"].meta["toolmd/kind"] == "skill"
    # A list of types is what some hosts can't hand on to their models.
    error = tools["remind_politely"].output_schema["properties"]["error"]
    assert error["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_a_skill_that_is_new_after_a_reload_is_listed(
    client: MakeClient, workspace: Workspace
) -> None:
    folder = workspace.settings.root / "skills_md"
    text = (folder / "plan-a-day.skill.md").read_text("utf-8").replace("plan_a_day", "plan_a_week")
    (folder / "plan-a-week.skill.md").write_text(text, "utf-8")
    workspace.reload()

    assert "skill://plan-a-week/SKILL.md" in [skill["uri"] for skill in skills(client())]


@pytest.fixture
def folder(project: Path) -> Path:
    """A folder of the skill `plan_a_day`, with a text and a picture."""
    made = project / "skills_md" / "plan-a-day"
    for name, data in (("references/hours.md", b"# Hours\n"), ("assets/dot.png", b"\x89PNG\xff")):
        (made / name).parent.mkdir(parents=True)
        (made / name).write_bytes(data)
    return made


def test_a_skills_files_are_listed_and_read_with_it(folder: Path, client: MakeClient) -> None:
    del folder
    one = ask(client(), "skills/get", Uri(uri="skill://plan-a-day/SKILL.md"))["skill"]

    async def run() -> list[Any]:
        async with client() as connected:
            reads = [await connected.read_resource(f["uri"]) for f in one["resources"]]
            return [read.contents[0] for read in reads]

    _, dot, hours = asyncio.run(run())

    names = [file["uri"].removeprefix("skill://plan-a-day/") for file in one["resources"]]
    assert names == ["SKILL.md", "assets/dot.png", "references/hours.md"]
    assert (hours.text, hours.mime_type) == ("# Hours\n", "text/markdown")
    assert (base64.b64decode(dot.blob), dot.mime_type) == (b"\x89PNG\xff", "image/png")
    said = [file["digest"] for file in one["resources"][1:]]
    read = (b"\x89PNG\xff", b"# Hours\n")
    assert said == [f"sha256:{hashlib.sha256(data).hexdigest()}" for data in read]


def test_a_folder_lists_its_files_and_folders(folder: Path, client: MakeClient) -> None:
    del folder

    def children(uri: str) -> list[tuple[str, str]]:
        found = ask(client(), "resources/directory/read", Uri(uri=uri))["resources"]
        return [(child["name"], child["mimeType"]) for child in found]

    assert children("skill://plan-a-day") == [
        ("SKILL.md", "text/markdown"),
        ("assets", "inode/directory"),
        ("references", "inode/directory"),
    ]
    assert children("skill://plan-a-day/assets") == [("dot.png", "image/png")]


@pytest.mark.parametrize(
    "text",
    ["no front matter", "---\n[1, 2\n---\nx", "---\n- list\n---\nx", "---\nname: 1\n---\nx",
     "---\na: &a [1, 2]\nb: *a\n---\nx", "---\nsince: 2026-01-01\nname: n\ndescription: d\n---\n"],
)  # fmt: skip
def test_any_front_matter_is_served_as_json(text: str) -> None:
    file = SkillFile({"path": "tea/SKILL.md", "text": text})
    frontmatter = ServedSkill([file]).entry["frontmatter"]

    assert isinstance(frontmatter["name"], str)
    assert isinstance(frontmatter["description"], str)
    json.dumps(frontmatter)
