"""Resources over MCP: the catalogue, the files of skills, and the caller's kept results."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import RequestParams, Result
from mcp_clients import over
from pydantic import ConfigDict

from toolmd import Workspace
from toolmd._mcp.pages import PAGE

BIG = """\
# Rows

Returns many rows.

## Metadata

- **Name**: rows
- **Version**: 1.0.0
- **Category**: test
- **Read Only**: true

## Parameters

None

## Returns

- **Type**: array
- **Description**: The rows
"""
BIG_PYTHON = """\
def rows():
    return ["row " + "x" * 500 + str(n) for n in range(500)]
"""


class Anything(Result):
    """The result of an extension's method."""

    model_config = ConfigDict(extra="allow")


class Uri(RequestParams):
    uri: str


@pytest.fixture
def folder(project: Path) -> Path:
    """The folder of the skill `plan_a_day`, next to its definition."""
    made = project / "skills_md" / "plan-a-day"
    (made / "references").mkdir(parents=True)
    (made / "references" / "größe 1.md").write_text("# Size\n", "utf-8")
    tools = project / "tools_md"
    (tools / "rows.tool.md").write_text(BIG)
    (tools / "rows.py").write_text(BIG_PYTHON)
    return made


@pytest.fixture
def workspace(folder: Path, project: Path) -> Any:
    del folder
    with Workspace.open(project) as opened:
        yield opened


async def listed(client: Client) -> list[str]:
    """Return every URI, over all pages."""
    found: list[str] = []
    cursor = None
    while True:
        page = await client.list_resources(cursor=cursor)
        assert len(page.resources) <= PAGE
        found += [str(resource.uri) for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            return found


async def content(client: Client, uri: str) -> Any:
    (one,) = (await client.read_resource(uri)).contents
    return one


async def is_unknown(client: Client, uri: str) -> bool:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return caught.value.code == -32602 and caught.value.error.data == {"uri": uri}


async def handle_of(client: Client) -> str:
    result = await client.call_tool("rows", {})
    told = "\n".join(block.text for block in result.content)
    return "r-" + told.rpartition("handle r-")[2][:16]


def test_the_catalogue_lists_the_tools_of_tools_list_and_what_they_require(
    workspace: Workspace, mode: str
) -> None:
    async def use(client: Client) -> tuple[Any, set[str]]:
        names = {tool.name for tool in (await client.list_tools()).tools}
        return await content(client, "toolmd://catalog"), names

    one, names = over(workspace, mode, use)
    tools = {tool["name"]: tool for tool in json.loads(one.text)["tools"]}

    assert one.mime_type == "application/json"
    assert set(tools) == names
    assert tools["remind"]["requires"]["safety"]["requires_confirmation"] is True
    assert tools["whoami"]["kind"] == "tool"
    assert tools["remind_politely"]["requires"]["tools"] == ["greet", "remind"]


def test_a_file_with_any_name_is_read_by_its_uri(workspace: Workspace, mode: str) -> None:
    uri = "skill://plan-a-day/references/gr%C3%B6%C3%9Fe%201.md"

    async def use(client: Client) -> tuple[list[str], Any]:
        return await listed(client), await content(client, uri)

    uris, read = over(workspace, mode, use)

    assert uri in uris
    assert read.text == "# Size\n"


def test_a_kept_result_is_a_resource_of_its_user_alone(workspace: Workspace, mode: str) -> None:
    async def keep(client: Client) -> tuple[str, Any, list[str]]:
        uri = f"toolmd://results/{await handle_of(client)}"
        return uri, await content(client, uri), await listed(client)

    uri, page, uris = over(workspace, mode, keep)

    async def try_it(client: Client) -> tuple[bool, list[str]]:
        return await is_unknown(client, uri), await listed(client)

    assert uri in uris
    shown = json.loads(page.text)
    assert shown["total"] == 500
    assert shown["next_offset"] == len(shown["value"])
    assert len(page.text.encode()) <= 32 << 10
    for user in ("eve", None):
        denied, seen = over(workspace, mode, try_it, user)
        assert denied
        assert uri not in seen


def test_a_kept_result_is_a_resource_where_calls_need_a_confidence(
    project: Path, folder: Path, mode: str
) -> None:
    del folder
    free = f"{BIG}\n## Safety\n\n- **Min Confidence**: 0\n"
    (project / "tools_md" / "rows.tool.md").write_text(free)

    async def use(client: Client) -> Any:
        result = await client.call_tool("rows", {"_confidence": 1})
        told = "\n".join(block.text for block in result.content)
        handle = "r-" + told.rpartition("handle r-")[2][:16]
        return await content(client, f"toolmd://results/{handle}")

    with Workspace.open(project, overrides={"safety.default_min": 0.7}) as workspace:
        assert json.loads(over(workspace, mode, use).text)["total"] == 500


def test_a_projects_own_read_result_keeps_results_from_being_resources(
    project: Path, folder: Path, mode: str
) -> None:
    del folder
    tools = project / "tools_md"
    (tools / "read_result.tool.md").write_text(BIG.replace("rows", "read_result"))
    (tools / "read_result.py").write_text("def read_result():\n    return []\n")

    async def use(client: Client) -> tuple[bool, list[str], list[str]]:
        denied = await is_unknown(client, f"toolmd://results/{await handle_of(client)}")
        templates = (await client.list_resource_templates()).resource_templates
        return denied, await listed(client), [template.name for template in templates]

    with Workspace.open(project) as workspace:
        denied, uris, templates = over(workspace, mode, use)

    assert denied
    assert not [uri for uri in uris if uri.startswith("toolmd://results/")]
    assert templates == ["skill-file"]


def test_a_guard_of_the_project_denies_a_kept_result_as_a_resource(
    project: Path, folder: Path, mode: str
) -> None:
    del folder
    (project / "tools_md" / "plugin.py").write_text(
        "from toolmd import Action, Verdict, hookimpl\n\n"
        "CLOSED = Verdict(Action.DENY, 'closed', 'Closed today.')\n\n\n"
        "@hookimpl\ndef toolmd_guards(spec):\n"
        "    return [lambda call, arguments: CLOSED] if spec.name == 'read_result' else []\n"
    )

    async def use(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await content(client, f"toolmd://results/{await handle_of(client)}")
        return str(caught.value)

    with Workspace.open(project) as workspace:
        assert "Closed today." in over(workspace, mode, use)


def test_many_resources_are_listed_in_pages(workspace: Workspace, folder: Path, mode: str) -> None:
    for number in range(2 * PAGE):
        (folder / "references" / f"{number:03}.txt").write_text("x")

    async def use(client: Client) -> tuple[list[str], str | None, str]:
        with pytest.raises(MCPError) as caught:
            await client.list_resources(cursor="not one")
        first = await client.list_resources()
        return await listed(client), first.next_cursor, str(caught.value)

    uris, cursor, told = over(workspace, mode, use)

    assert cursor is not None
    assert uris == sorted(set(uris))
    assert len(uris) > 2 * PAGE
    assert "cursor" in told


def test_the_templates_name_their_variables(workspace: Workspace, mode: str) -> None:
    async def use(client: Client) -> list[str]:
        templates = (await client.list_resource_templates()).resource_templates
        return [template.uri_template for template in templates]

    assert over(workspace, mode, use) == ["skill://{skill}/{+path}", "toolmd://results/{handle}"]
