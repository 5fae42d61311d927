"""The types of parameters that the text leaves open are guessed, with a note."""

import pytest
from read_catalogs import arguments, read, tools

TYPES = {
    "- `deep`: Whether it is deep": "boolean",
    "- `fish`: Array of fish": "array",
    "- `frogs`: Number of frogs": "integer",
    "- `max_frogs`: How many": "integer",
    "- `include_eels`: With eels": "boolean",
    "- `plants`: Plants (comma-separated, max 15)": "string",
    "- `name__like`: Its name": "string",
}


@pytest.mark.parametrize("line", TYPES)
def test_a_type_that_is_not_written_is_guessed_with_a_note(line: str) -> None:
    made = read(f"## Tools\n\n### find_pond\n\nFind it.\n\nParameters:\n{line}\n")
    name = line.split("`")[1]

    assert f"### {name}\n\n- **Type**: {TYPES[line]}\n" in made.drafts[0].text
    assert any(n.path == name and "no type in the text" in n.text for n in made.notes)


LINES = {
    "a name": "- `limit`: How far",
    "an example": '- `frogs`: Frogs\n\nExample:\n```json\n{"frogs": 3}\n```',
    "a range": "- `frogs`: Frogs (1-20)",
    "a default": "- `frogs`: Frogs (default: 3)",
    "a description": "- `frogs`: Number of frogs",
}


@pytest.mark.parametrize("shown", LINES)
@pytest.mark.parametrize(
    ("runner", "kind"),
    [
        ("npx -y @ponds/pond-mcp", "number"),
        ("bunx pond-mcp", "number"),
        ("uvx pond-mcp", "integer"),
        ("npx -y pond-mcp\nuvx pond-mcp", "integer"),
        ("", "integer"),
    ],
)
def test_a_guessed_whole_number_has_the_type_of_the_servers_language(
    runner: str, kind: str, shown: str
) -> None:
    (spec,) = tools(
        f"{runner}\n\n## Tools\n\n### find_pond\n\nFind it.\n\nParameters:\n{LINES[shown]}\n"
    ).values()

    assert [said["type"] for _, said in arguments(spec).values()] == [kind]


def test_a_type_that_the_text_says_is_kept_whatever_runs_the_server() -> None:
    (spec,) = tools(
        "npx -y pond-mcp\n\n## Tools\n\n### find_pond\n\nFind it.\n\n"
        "Parameters:\n- `limit` (integer): How far\n"
    ).values()

    assert arguments(spec)["limit"][1]["type"] == "integer"


NAMESAKES = """## Tools

### find_pond

Find it.

Parameters:
- `keeper`: The keeper
- `fish`: Which

### fill_pond

Fill it.

Parameters:
- `keeper` (integer): The keeper
- `fish` (array): Which

### drain_pond

Drain it.

Parameters:
- `fish` (string): Which
"""


def test_a_parameter_without_a_type_has_that_of_its_namesakes_where_they_agree() -> None:
    made = read(NAMESAKES)
    found = arguments(tools(NAMESAKES)["find_pond"])

    assert found["keeper"][1]["type"] == "integer"
    assert found["fish"][1]["type"] == "string"
    assert [n.text for n in made.notes if (n.definition, n.path) == ("find_pond", "keeper")] == [
        "not marked, and nothing is optional here: required",
        "no type in the text: integer, from the parameter of fill_pond",
    ]
