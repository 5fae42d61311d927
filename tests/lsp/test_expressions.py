"""Within an expression an editor completes, explains and checks names with their types."""

import pytest
from language_client import Editor
from lsprotocol import types
from orchard import FILES, HARVEST, PICK


def completed(editor: Editor, name: str, old: str, new: str) -> list[str]:
    """Replace a part of a file, and complete at the bar in the new part."""
    before, _, behind = new.partition("|")
    text = FILES[name].replace(old, before + behind, 1)
    editor.open(name)
    editor.type(name, text)
    document, position = editor.at(name, text, before)
    found = editor.ask("text_document_completion", types.CompletionParams(document, position))
    return [f"{item.label}: {item.detail}" for item in found]


@pytest.mark.parametrize(
    ("name", "old", "new", "first"),
    [
        (PICK, "`amount > 20`", "`am", ["treeName: string", "amount: integer", "basket: object"]),
        (PICK, "`amount > 20`", "`basket.", ["size: integer", "owner: string"]),
        (PICK, "`amount > 20`", "`basket.size > am", ["treeName: string", "amount: integer"]),
        (PICK, "`amount > 20`", "`treeName.", ["contains: function", "endsWith: function"]),
        (HARVEST, "`rounds * 5`", "`ro", ["tree: string", "rounds: integer"]),
    ],
)
def test_names_fields_and_functions_are_offered_with_their_types(
    orchard: Editor, name: str, old: str, new: str, first: list[str]
) -> None:
    assert completed(orchard, name, old, f"{new}|`")[: len(first)] == first


def test_a_saved_result_has_the_type_of_what_its_tool_returns(orchard: Editor) -> None:
    orchard.open(HARVEST)
    text = FILES[HARVEST].replace("crop.picked : 0}", "crop.}")
    orchard.type(HARVEST, text)
    document, position = orchard.at(HARVEST, text, "? crop.")
    found = orchard.ask("text_document_completion", types.CompletionParams(document, position))
    assert (found[0].label, found[0].detail) == ("picked", "integer")


def test_a_name_that_a_macro_binds_has_the_type_of_an_item(orchard: Editor) -> None:
    text = FILES[PICK].replace("`amount > 20`", "`[basket].exists(b, b.)`")
    orchard.type(PICK, text)
    document, position = orchard.at(PICK, text, "exists(b, b.")
    found = orchard.ask("text_document_completion", types.CompletionParams(document, position))
    assert [item.label for item in found[:2]] == ["size", "owner"]


def test_a_hover_shows_types_limits_and_the_type_of_the_whole(orchard: Editor) -> None:
    def hover(name: str, after: str) -> str:
        found = orchard.near("hover", name, after)
        return str(found.contents.value) if found is not None else ""

    told = hover(PICK, "basket.size >= amou")
    assert told.startswith("**amount**: integer\n\nHow many\n\nDefault 5, 1 to 50.")
    assert told.endswith("gives boolean.")
    assert hover(PICK, "|| basket.si").startswith("**size**: integer")
    assert hover(HARVEST, "? crop.pick").startswith("**picked**: integer")
    assert hover(HARVEST, "     - treeNa").startswith("**treeName**: string\n\nWhich tree")


def test_an_expression_that_does_not_fit_its_types_is_an_error_at_its_place(
    orchard: Editor,
) -> None:
    text = FILES[PICK].replace("`amount > 20`", "`treeName > 20`")
    assert orchard.type(PICK, text) == ["invalid-expression"]
    (shown,) = orchard.shown(PICK)
    line = text.split("\n")[shown.range.start.line]
    assert "Confirm When" in line
    assert line[: shown.range.start.character].endswith("`treeName ")
    assert "string" in shown.message
    assert "integer" in shown.message
