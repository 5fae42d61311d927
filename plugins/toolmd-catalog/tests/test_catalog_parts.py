"""Where a catalogue's parts belong: tools, shared parameters, choices, fields and examples."""

import json

import pytest
from read_catalogs import arguments, read, tools


def test_plain_words_below_one_title_are_each_a_tool() -> None:
    text = "# Desk\n\n## pay\n\nParams:\n- amount: integer\n\n## look\n\nParams:\n- word: string\n"

    assert {name: list(arguments(spec)) for name, spec in tools(text).items()} == {
        "pay": ["amount"],
        "look": ["word"],
    }


def test_shared_parameters_belong_to_the_tools_that_the_text_names() -> None:
    listed = """
Global parameters (where applicable):
- limit: integer, 1-100 (optional)

## find

Find it.

Params:
- query: string
- limit?: number

## drop

Drop it.

Params:
- id: string
"""
    found = tools(listed)
    everywhere = tools(listed.replace("where applicable", "all tools"))

    assert arguments(found["find"])["limit"][1] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 100,
    }
    assert "limit" not in arguments(found["drop"])
    assert "limit" in arguments(everywhere["drop"])


def test_a_choice_between_parameters_is_a_rule() -> None:
    (spec,) = tools("""
## look_up

Look someone up.

Params:
- email?: string
- phone?: string
- At least one of email or phone is required.
""").values()

    assert [rule.expression for rule in spec.rules] == ["has(email) || has(phone)"]


def test_an_objects_fields_stand_below_it() -> None:
    (spec,) = tools("""
## go

Go there.

Parameters:
- `origin` (object, required): Where from
  - `lat` (number, required, -90 to 90)
  - `name` (string, optional)
""").values()
    origin = arguments(spec)["origin"][1]

    assert origin["properties"]["lat"] == {"type": "number", "minimum": -90, "maximum": 90}
    assert origin["required"] == ["lat"]


NO_CATALOGUES = {
    "nothing": "",
    "prose": "# A letter\n\nDear reader,\n\n- one: two\n- three: four\n",
    "a changelog": "# Changelog\n\n## 1.2.0\n\n- Added: a thing\n\n## 1.1.0\n\n- Fixed: b\n",
    "a tutorial": "# Guide\n\n```python\ndef main():\n    run()\n```\n",
    "only hidden tools": "## `drop_all` (internal)\n\nParams:\n- id: string\n",
}


@pytest.mark.parametrize("name", NO_CATALOGUES)
def test_a_document_without_tools_is_reported(name: str) -> None:
    made = read(NO_CATALOGUES[name])

    assert made.drafts == ()
    assert made.refused[0].text.startswith("no tool was found")


def test_an_invalid_example_is_left_out_with_a_note() -> None:
    text = (
        "## pay\n\nPay it.\n\nParams:\n- amount: integer, 1-5\n\nExample:\n```json\n"
        + json.dumps({"tool": "pay", "args": {"amount": 9}})
        + "\n```\n"
    )
    made = read(text)

    assert "9" not in made.drafts[0].text
    assert any("an example does not fit the tool" in note.text for note in made.notes)


def test_a_response_under_example_invents_no_parameter() -> None:
    (spec,) = tools("""## pay

Pay it.

Params:
- amount: integer

Example:

```json
{"amount": 3}
```

```json
{"success": true, "receipt": "r-1"}
```
""").values()

    assert list(arguments(spec)) == ["amount"]
    assert [example.arguments for example in spec.examples] == [{"amount": 3}]


NESTED = """# Tools

## Commits

- **search_commits** - Search commits
  - **Required OAuth Scopes**: `repo`
  - `order`: Sort order (string, optional)
  - `query`: Commit search query (string, required)

- **get_me** - Get my profile
  - No parameters required
"""
RESTRICTED = """# Tools

## delete_row(table: string, id: int)

Delete one row.

- Must never be used on table `users`
- Cannot delete more than 10 rows per minute
"""


def test_a_bullet_that_is_no_parameter_is_kept_and_drops_no_other() -> None:
    made = read(NESTED)

    assert "### order" in made.drafts[0].text
    assert "### query" in made.drafts[0].text
    assert "Required OAuth Scopes" in made.drafts[0].text
    assert any("Required OAuth Scopes" in note.text for note in made.notes)


def test_a_restriction_below_a_signature_is_kept_and_noted() -> None:
    made = read(RESTRICTED)

    for words in ("Must never be used on table", "Cannot delete more than 10 rows"):
        assert words in made.drafts[0].text
        assert any(words in note.text for note in made.notes)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (
            '{"git": {"command": "uvx", "args": ["mcp-server-git", "--repo", "a b"]}}',
            "toolmd import mcp --live git -- uvx mcp-server-git --repo 'a b'",
        ),
        (
            '"command": "npx",\n"args": [\n"-y",\n"@ponds/pond-mcp@latest",\n]',
            "toolmd import mcp --live pond -- npx -y @ponds/pond-mcp@latest",
        ),
        (
            "    npx -y @modelcontextprotocol/server-memory@1.2\n",
            "toolmd import mcp --live memory -- npx -y @modelcontextprotocol/server-memory@1.2",
        ),
        (
            '"url": "https://mcp.shop.example/mcp"',
            "toolmd import mcp --live shop --url https://mcp.shop.example/mcp",
        ),
        ("npx -y prettier", ""),
        ("Call npx for the mcp server", ""),
    ],
)
def test_a_document_that_names_its_server_is_told_the_exact_import(text: str, command: str) -> None:
    notes = [
        note.text for note in read(f"# Desk\n\n## pay\n\nParams:\n- a: text\n\n{text}\n").notes
    ]

    assert [note for note in notes if "--live" in note] == (
        [f"an MCP server has these tools: `{command}` reads them exactly"] if command else []
    )
