"""Resources over MCP: the files of skills."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_clients import over

from toolmd import Workspace


@pytest.fixture
def folder(project: Path) -> Path:
    """The folder of the skill `plan_a_day`, next to its definition."""
    made = project / "skills_md" / "plan-a-day"
    (made / "references").mkdir(parents=True)
    (made / "references" / "größe 1.md").write_text("# Size\n", "utf-8")
    return made


@pytest.fixture
def workspace(folder: Path, project: Path) -> Any:
    del folder
    with Workspace.open(project) as opened:
        yield opened


async def listed(client: Client) -> list[str]:
    """Return every URI."""
    return [str(resource.uri) for resource in (await client.list_resources()).resources]


async def content(client: Client, uri: str) -> Any:
    (one,) = (await client.read_resource(uri)).contents
    return one


def test_a_file_with_any_name_is_read_by_its_uri(workspace: Workspace, mode: str) -> None:
    uri = "skill://plan-a-day/references/gr%C3%B6%C3%9Fe%201.md"

    async def use(client: Client) -> tuple[list[str], Any]:
        return await listed(client), await content(client, uri)

    uris, read = over(workspace, mode, use)

    assert uri in uris
    assert read.text == "# Size\n"


def test_the_templates_name_their_variables(workspace: Workspace, mode: str) -> None:
    async def use(client: Client) -> list[str]:
        templates = (await client.list_resource_templates()).resource_templates
        return [template.uri_template for template in templates]

    assert over(workspace, mode, use) == ["skill://{skill}/{+path}"]
