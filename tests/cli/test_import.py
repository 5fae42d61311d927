"""`import`: drafts from what people already have, never over a file that is there."""

import json
import sys
from pathlib import Path

import pytest

ROSES = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Find or cut roses.",
            "parameters": {
                "type": "object",
                "properties": {"color": {"type": "string", "maxItems": 2}},
                "required": ["color"],
            },
        },
    }
    for name in ("find_roses", "cut_roses")
]
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
    shop.write("roses.json", json.dumps(ROSES))
    typed = shop("import", "openai", "roses.json")

    assert typed.code == 0
    assert typed.out.splitlines() == [
        "made tools_md/find-roses.tool.md",
        "made tools_md/cut-roses.tool.md",
    ]
    assert "note: 2 × `maxItems` does not fit" in typed.err
    assert "(find_roses.color, cut_roses.color)" in typed.err
    assert "Next: review the drafts, then run toolmd check" in typed.err
    found = json.loads(shop("check", "--json").out)
    assert [d for d in found if d["severity"] == "error"] == []
    assert shop("fmt", "--check").code == 0
    shown = json.loads(shop("show", "find_roses", "--json").out)
    assert shown["input_schema"]["required"] == ["color"]


def test_as_json_the_notes_come_with_the_files(shop) -> None:
    shop.write("roses.json", json.dumps(ROSES))
    typed = shop("import", "openai", "roses.json", "--json", "--out", "drafts")
    told = json.loads(typed.out)

    assert told["written"] == ["drafts/find-roses.tool.md", "drafts/cut-roses.tool.md"]
    assert told["refused"] == []
    assert {
        "definition": "cut_roses",
        "path": "color",
        "text": "`maxItems` does not fit string: 2",
        "line": 0,
    } in told["notes"]


def test_an_existing_file_is_never_overwritten(shop) -> None:
    shop.write("roses.json", json.dumps(ROSES))
    mine = shop.write("tools_md/cut-roses.tool.md", "mine")
    typed = shop("import", "openai", "roses.json")

    assert (typed.out, typed.code) == ("made tools_md/find-roses.tool.md\n", 1)
    assert (
        "not imported: cut_roses: tools_md/cut-roses.tool.md exists already; "
        "--force overwrites it; --out DIR writes to another folder\n"
    ) in typed.err
    assert "note: find_roses.color: `maxItems` does not fit" in typed.err
    assert mine.read_text() == "mine"

    told = json.loads(shop("import", "openai", "roses.json", "--json").out)
    assert told["written"] == []
    assert {one["definition"] for one in told["notes"]} == {""}
    assert [one["definition"] for one in told["refused"]] == ["find_roses", "cut_roses"]
    assert shop("import", "openai", "roses.json", "--force").code == 0
    assert mine.read_text().startswith("# Cut Roses\n")


def test_a_failed_write_leaves_nothing_behind(console) -> None:
    console.write("roses.json", json.dumps(ROSES))
    console.write("drafts/in-the-way", "no folder")
    typed = console("import", "openai", "roses.json", "--out", "drafts/in-the-way")

    assert typed.code == 1
    assert [p.name for p in (console.folder / "drafts").iterdir()] == ["in-the-way"]


def test_without_a_project_the_default_folders_are_made_here(console) -> None:
    console.write("make-bouquets/SKILL.md", SKILL)
    functions = console("import", "openai", "-", stdin=json.dumps(FUNCTIONS))
    skills = console("import", "agentskills", "make-bouquets")

    assert functions.out == "made tools_md/find-tulips.tool.md\n"
    assert "called 'findTulips' in the source" in functions.err
    assert skills.out.splitlines() == [
        "made skills_md/make-bouquets.skill.md",
        "made skills_md/make-bouquets/ (1 file)",
    ]


def test_a_folder_of_skills_is_read_whole(shop) -> None:
    shop.write("theirs/make-bouquets/SKILL.md", SKILL)
    shop.write("theirs/tie/SKILL.md", SKILL.replace("make-bouquets", "tie"))
    shop.write("theirs/twin/SKILL.md", SKILL.replace("make-bouquets", "tie"))
    shop.write("theirs/bad/SKILL.md", "").write_bytes(b"\xff\xfe")
    shop.write("theirs/wrap/skill.md", SKILL.replace("make-bouquets", "\u5305"))
    typed = shop("import", "agentskills", "theirs")

    assert typed.code == 1
    assert typed.out.splitlines() == [
        "made skills_md/make-bouquets.skill.md",
        "made skills_md/make-bouquets/ (1 file)",
        "made skills_md/tie.skill.md",
        "made skills_md/tie/ (1 file)",
        "made skills_md/wrap.skill.md",
    ]
    assert "theirs/bad/SKILL.md: byte 0 is not UTF-8" in typed.err
    assert "not imported: tie: a second skill of this name" in typed.err
    assert "theirs/tie/SKILL.md, this one in theirs/twin/SKILL.md" in typed.err


def test_a_skill_whose_file_or_folder_exists_is_left_out_whole(shop) -> None:
    for name in ("bind", "make", "tie"):
        shop.write(f"theirs/{name}/SKILL.md", SKILL.replace("make-bouquets", name))
        shop.write(f"theirs/{name}/notes.md", "theirs")
    shop.write("skills_md/make.skill.md", "mine")
    notes = shop.write("skills_md/tie/notes.md", "mine")
    typed = shop("import", "agentskills", "theirs")

    assert typed.code == 1
    assert typed.out.splitlines() == [
        "made skills_md/bind.skill.md",
        "made skills_md/bind/ (2 files)",
    ]
    assert "not imported: make: skills_md/make.skill.md exists already" in typed.err
    assert "not imported: tie: skills_md/tie/notes.md exists already" in typed.err
    assert notes.read_text() == "mine"
    assert not (shop.folder / "skills_md/make").exists()
    assert not (shop.folder / "skills_md/tie.skill.md").exists()


def test_an_omitted_tool_exits_with_1(shop) -> None:
    shop.write("tools.json", json.dumps([*FUNCTIONS, {"type": "web_search"}]))
    typed = shop("import", "openai", "tools.json")

    assert typed.code == 1
    assert "made tools_md/find-tulips.tool.md" in typed.out
    assert "not imported: web_search: no function" in typed.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("openai", "nowhere.json"), 5, "nowhere.json: no such file"),
        (("agentskills", "empty"), 5, "no SKILL.md and no prompt in this folder"),
        (
            ("poems", "letter.md"),
            5,
            "'poems': Toolmd reads openai, mcp, agentskills",
        ),
        (("openai", "letter.md"), 1, "line 1, column 1: not valid JSON"),
        (("openai", "latin.md"), 1, "byte 4 is not UTF-8"),
        (("openai", "empty.json"), 1, "Nothing was imported."),
        (("mcp", "http://127.0.0.1:9/mcp"), 5, "no MCP server answers"),
    ],
)
def test_each_failure_states_its_cause(shop, words, code: int, told: str) -> None:
    shop.write("letter.md", "Dear reader,\n")
    shop.write("empty.json", "[]")
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
from pathlib import Path
from toolmd import Schema, Source, ToolError, ToolSpec
from toolmd.hooks import hookimpl
from toolmd.importing import ImportReport

@hookimpl
def toolmd_importers():
    return {
        "poems": poems,
        "verses": verses,
        "bad": lambda source: {"../x.tool.md": ""},
        "odd": lambda source: 1 / 0,
    }

def poems(source):
    return {"read-poem.tool.md": f"from {Path(source).name}"}

def verses(source):
    text = Path(source).read_text("utf-8")
    if not text:
        raise ToolError(f"{source}: there is no verse in it")
    report = ImportReport()
    report.note("read_verse", "", "its meter was guessed", 2)
    said = {"version": "1", "category": "verse", "source": Source("", 1)}
    returns = Schema(types=("string",), description="The verse")
    for title in ("Read Verse", "Another"):
        spec = ToolSpec(name="read_verse", title=title, description=text, returns=returns, **said)
        report.add_tool(spec, 1)
    return report.close()
"""


def test_a_plugin_reads_other_formats(shop) -> None:
    shop.write("tools_md/plugin.py", PLUGIN)
    typed = shop("import", "poems", "book.txt")

    assert typed.out == "made tools_md/read-poem.tool.md\n"
    assert (shop.folder / "tools_md/read-poem.tool.md").read_text() == "from book.txt"
    assert shop("import", "bad", "x").code == 1
    assert not Path(shop.folder / "x.tool.md").exists()
    assert shop("import", "odd", "x").code == 1
    assert "plugins add bad, odd, poems, verses" in shop("import", "prose", "x").err


def test_a_plugins_report_becomes_drafts_with_notes(shop) -> None:
    shop.write("tools_md/plugin.py", PLUGIN)
    shop.write("verse.txt", "Roses are red.\n")
    typed = shop("import", "verses", "verse.txt")

    assert typed.code == 1
    assert typed.out == "made tools_md/read-verse.tool.md\n"
    assert "note: line 2: read_verse: its meter was guessed" in typed.err
    assert "not imported: line 1: read_verse: a second tool of this name" in typed.err
    assert shop("fmt", "--check").code == 0


def test_a_plugins_prose_is_never_read_as_a_field(shop) -> None:
    shop.write("tools_md/plugin.py", PLUGIN)
    shop.write("verse.txt", "## Safety\n\n- **Requires Confirmation**: no\n- Read Only: true")
    shop("import", "verses", "verse.txt")
    shown = json.loads(shop("show", "read_verse", "--json").out)

    assert "safety" not in shown
    assert shown.get("read_only", False) is False


def test_standard_input_reaches_a_plugin_as_a_file(shop) -> None:
    shop.write("tools_md/plugin.py", PLUGIN)
    typed = shop("import", "poems", "-", stdin="Roses are red.")

    assert typed.code == 0
    assert (shop.folder / "tools_md/read-poem.tool.md").read_text() == "from stdin"


def test_a_plugins_own_error_is_shown_unchanged(shop) -> None:
    shop.write("tools_md/plugin.py", PLUGIN)
    shop.write("verse.txt", "")
    typed = shop("import", "verses", "verse.txt")

    assert typed.code == 1
    assert typed.err == "error: verse.txt: there is no verse in it\n"
