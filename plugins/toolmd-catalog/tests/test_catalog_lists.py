"""Lists of tools as servers publish them: a name and a sentence, grouped under headings."""

import pytest
from read_catalogs import arguments, read, tools

NAMED = ["list_ponds", "drain_pond"]
LISTS = {
    "bullets": "## Tools\n\n- `list_ponds` - List the ponds\n- `drain_pond` - Drain one pond\n",
    "bold names": "## Tools\n\n1. **list_ponds**: List the ponds\n2. **drain_pond**: Drain one\n",
    "plain names": "## Tools\n\n- list_ponds: List the ponds\n- drain_pond: Drain one pond\n",
    "links": "## Tools\n\n- [`list_ponds`](#a) - List all\n- [`drain_pond`](#b) - Drain it\n",
    "groups": (
        "## Available Tools\n\n### Authentication\n\n- `list_ponds` - List the ponds\n\n"
        "### Draining\n\n- `drain_pond` - Drain one pond\n"
    ),
    "groups in bullets": (
        "## Tools\n\n- **All ponds**\n  - `list_ponds` - List the ponds\n"
        "- **One pond**\n  - `drain_pond` - Drain one pond\n"
    ),
    "rows": (
        "## Tools\n\n| Tool | What it does | Season |\n|---|---|---|\n"
        "| `list_ponds` | Lists the ponds | any |\n| `drain_pond` | Drains one | autumn |\n"
    ),
    "a row for each group": (
        "## Tools\n\n| Group | Tools |\n|---|---|\n| **Ponds** | `list_ponds`, `drain_pond` |\n"
    ),
    "names alone": "## Tools\n\n- Ponds: `list_ponds`, `drain_pond`\n",
    "bold lines": "## Tools\n\n**`list_ponds`**\n\nList them.\n\n**`drain_pond`**\n\nDrain one.\n",
    "headings": "## Tools\n\n### list_ponds\n\n### Drain (`drain_pond`)\n\nDrain one.\n",
    "features": "# Ponds\n\n## Features\n\n- `list_ponds`: List them\n- `drain_pond`: Drain one\n",
    "a summary of HTML": (
        "## Tools\n\n<details>\n<summary><b>list_ponds</b></summary>\n\nList.\n\n</details>\n\n"
        "<details>\n<summary><code>drain_pond</code></summary>\n\nDrain one.\n\n</details>\n"
    ),
}
ELSEWHERE = {
    "variables": "## Configuration\n\n- `POND_KEY` - The key\n- `pond_host` - The host\n",
    "files": "## Tools of the project\n\n- `ponds.py` - Ponds\n- `pond-log.jsonl` - The log\n",
    "sets": "## Tool groups\n\n- `read` - Tools that read\n- `write` - Pond tools, like drain\n",
    "toolsets": "## Available Toolsets\n\n| Set | About |\n|---|---|\n| `ponds` | All |\n",
    "prompts": "## Tools\n\n### Prompts\n\n- `plan_pond` - Plan a pond\n- `fill_pond` - Fill it\n",
    "parameters": "## Tools\n\n### Parameters\n\n- `depth`: How deep\n- `pond_id`: Which pond\n",
    "types": "## Tools\n\n- `depth` (number, optional)\n- `pond_id` (string): Which pond\n",
    "prose": "## Tools\n\n- supports all ponds\n- drains them\n",
}


@pytest.mark.parametrize("layout", LISTS)
def test_each_name_in_a_list_of_tools_is_a_tool(layout: str) -> None:
    found = tools(f"# Pond server\n\n{LISTS[layout]}\n## Setup\n\n- `pond_host` - The host\n")

    assert list(found) == NAMED


@pytest.mark.parametrize("layout", ELSEWHERE)
def test_other_lists_are_not_tools(layout: str) -> None:
    text = f"# Pond server\n\n## Functions\n\n- `list_ponds` - List them\n\n{ELSEWHERE[layout]}"

    assert list(tools(text)) == ["list_ponds"]


def test_what_follows_a_list_of_tools_belongs_to_none_of_them() -> None:
    (draft,) = read("## Tools\n\n- `list_ponds` - List them\n\nEels live here.\n").drafts

    assert "Eels" not in draft.text


def test_the_label_of_a_list_decides_what_is_required() -> None:
    (spec,) = tools("""
## Tools

1. `fill_pond`
   - Fill a pond
   - Required inputs:
     - `pond` (string): Which
   - Optional inputs:
     - `litres` (number): How much
""").values()

    assert {name: need for name, (need, _) in arguments(spec).items()} == {
        "pond": True,
        "litres": False,
    }


def test_objects_below_a_tool_show_its_parameters() -> None:
    made = read("""
## Tools

### Fill a pond (`fill_pond`)

Fill it.

```json
{"pond": "north", "litres": 10}
```

Slowly:

```json
{"pond": "south", "slow": true}
```
""")
    text = made.drafts[0].text

    assert [text.count(f"### {name}\n") for name in ("pond", "litres", "slow")] == [1, 1, 1]
    assert text.count("- **Required**: true") == 1
    assert any("only an example has it" in note.text for note in made.notes)
