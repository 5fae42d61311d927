"""`import`: drafts from what people already have, never over a file that is there."""

import json
import sys
from pathlib import Path

import pytest

CATALOG = """# Tools

## find_roses(color: string, most?: int = 5)

Find roses of a color (read-only).

## cut_roses

Cut roses.

Params:
- count: integer, 1-50
"""
FUNCTIONS = [
    {
        "type": "function",
        "function": {
            "name": "findTulips",
            "description": "Find tulips.",
            "parameters": {
                "type": "object",
                "properties": {"color": {"type": "string"}},
                "required": ["color"],
            },
        },
    }
]
SKILL = "---\nname: make-bouquets\ndescription: Make bouquets.\n---\n\nTake what is fresh.\n"


def test_drafts_land_in_the_projects_folder_and_check(shop) -> None:
    shop.write("catalog.md", CATALOG)
    typed = shop("import", "catalog", "catalog.md")

    assert typed.code == 0
    assert typed.out.splitlines() == [
        "made tools_md/find-roses.tool.md",
        "made tools_md/cut-roses.tool.md",
    ]
    assert "note: line 12: cut_roses.count: not marked" in typed.err
    assert "Next: look the drafts over, then toolmd check" in typed.err
    found = json.loads(shop("check", "--json").out)
    assert [d for d in found if d["severity"] == "error"] == []
    assert shop("fmt", "--check").code == 0
    shown = json.loads(shop("show", "find_roses", "--json").out)
    assert shown["read_only"] is True
    assert shown["input_schema"]["required"] == ["color"]


def test_as_json_the_notes_stand_beside_the_files(shop) -> None:
    shop.write("catalog.md", CATALOG)
    typed = shop("import", "catalog", "catalog.md", "--json", "--out", "drafts")
    told = json.loads(typed.out)

    assert told["written"] == ["drafts/find-roses.tool.md", "drafts/cut-roses.tool.md"]
    assert told["refused"] == []
    assert {
        "definition": "cut_roses",
        "path": "count",
        "text": "not marked, and nothing is optional here: required",
        "line": 12,
    } in told["notes"]


def test_a_file_that_is_there_is_never_written_over(shop) -> None:
    shop.write("catalog.md", CATALOG)
    mine = shop.write("tools_md/cut-roses.tool.md", "mine")
    typed = shop("import", "catalog", "catalog.md")

    assert typed.code == 2
    assert "tools_md/cut-roses.tool.md: there already; nothing was written" in typed.err
    assert mine.read_text() == "mine"
    assert not (shop.folder / "tools_md/find-roses.tool.md").exists()

    assert shop("import", "catalog", "catalog.md", "--force").code == 0
    assert mine.read_text().startswith("# Cut Roses\n")


def test_what_cannot_be_written_leaves_nothing_behind(console) -> None:
    console.write("catalog.md", CATALOG)
    console.write("drafts/in-the-way", "no folder")
    typed = console("import", "catalog", "catalog.md", "--out", "drafts/in-the-way")

    assert typed.code == 1
    assert [p.name for p in (console.folder / "drafts").iterdir()] == ["in-the-way"]


def test_without_a_project_the_default_folders_are_made_here(console) -> None:
    console.write("make-bouquets/SKILL.md", SKILL)
    functions = console("import", "openai", "-", stdin=json.dumps(FUNCTIONS))
    skills = console("import", "agentskills", "make-bouquets")

    assert functions.out == "made tools_md/find-tulips.tool.md\n"
    assert "called 'findTulips' in the source" in functions.err
    assert skills.out == "made skills_md/make-bouquets.skill.md\n"


def test_a_folder_of_skills_is_read_whole(shop) -> None:
    shop.write("theirs/make-bouquets/SKILL.md", SKILL)
    shop.write("theirs/tie/SKILL.md", SKILL.replace("make-bouquets", "tie"))
    shop.write("theirs/twin/SKILL.md", SKILL.replace("make-bouquets", "tie"))
    typed = shop("import", "agentskills", "theirs")

    assert typed.code == 1
    assert typed.out.splitlines() == [
        "made skills_md/make-bouquets.skill.md",
        "made skills_md/tie.skill.md",
    ]
    assert "not imported: tie: a second skill of this name" in typed.err


def test_what_is_left_out_ends_with_one(shop) -> None:
    shop.write("tools.json", json.dumps([*FUNCTIONS, {"type": "web_search"}]))
    typed = shop("import", "openai", "tools.json")

    assert typed.code == 1
    assert "made tools_md/find-tulips.tool.md" in typed.out
    assert "not imported: web_search: no function" in typed.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("catalog", "nowhere.md"), 5, "nowhere.md: no such file"),
        (("agentskills", "empty"), 5, "no SKILL.md in this folder"),
        (("poems", "catalog.md"), 5, "Toolmd reads openai, mcp, agentskills, catalog"),
        (("openai", "catalog.md"), 1, "line 1, column 1: no JSON"),
        (("catalog", "latin.md"), 1, "byte 4 is no UTF-8"),
        (("catalog", "letter.md"), 1, "Nothing was imported."),
        (("mcp", "http://127.0.0.1:9/mcp"), 5, "no MCP server answers"),
    ],
)
def test_each_failure_says_what_it_is(shop, words, code: int, told: str) -> None:
    shop.write("catalog.md", CATALOG)
    shop.write("letter.md", "Dear reader,\n")
    (shop.folder / "latin.md").write_bytes(b"bouq\xfbet")
    (shop.folder / "empty").mkdir()
    typed = shop("import", *words)

    assert typed.code == code
    assert told in typed.err
    assert "made" not in typed.out


SERVER = """
import asyncio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import ListToolsResult, Tool

async def listed(ctx, params):
    schema = {"type": "object", "properties": {"color": {"type": "string"}}}
    lilies = Tool(name="find_lilies", description="Find.", inputSchema=schema)
    return ListToolsResult(tools=[lilies])

async def main():
    server = Server("shop", on_list_tools=listed)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

asyncio.run(main())
"""


def test_a_servers_tools_are_asked_of_the_server(shop) -> None:
    pytest.importorskip("mcp")
    server = shop.write("server.py", SERVER)
    typed = shop("import", "mcp", f"{sys.executable} {server}")

    assert typed.code == 0, typed.err
    assert typed.out == "made tools_md/find-lilies.tool.md\n"


PLUGIN = """
from toolmd.hooks import hookimpl

@hookimpl
def toolmd_importers():
    return {"poems": poems, "bad": lambda source: {"../x.tool.md": ""}, "odd": lambda source: 1 / 0}

def poems(source):
    return {"read-poem.tool.md": f"from {source}"}
"""


def test_a_plugin_reads_what_toolmd_does_not(shop) -> None:
    shop.write("tools_md/plugin.py", PLUGIN)
    typed = shop("import", "poems", "book.txt")

    assert typed.out == "made tools_md/read-poem.tool.md\n"
    assert (shop.folder / "tools_md/read-poem.tool.md").read_text() == "from book.txt"
    assert shop("import", "bad", "x").code == 1
    assert not Path(shop.folder / "x.tool.md").exists()
    assert shop("import", "odd", "x").code == 1
    assert "plugins add bad, odd, poems" in shop("import", "prose", "x").err
