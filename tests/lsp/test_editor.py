"""An editor shows diagnostics, completions and fixes while its user types."""

from pathlib import Path
from typing import Any

import pytest
from language_client import SKILL, TOOL, Client, Editor
from lsprotocol import types

WATER = "tools_md/water-plant.tool.md"
CARE = "skills_md/care.skill.md"


def labels(editor: Editor, name: str, text: str, after: str) -> list[str]:
    editor.type(name, text)
    document, position = editor.at(name, text, after)
    found = editor.ask("text_document_completion", types.CompletionParams(document, position))
    return [item.label for item in found]


def hover(editor: Editor, name: str, text: str, after: str) -> str:
    document, position = editor.at(name, text, after)
    found: Any = editor.ask("text_document_hover", types.HoverParams(document, position))
    return "" if found is None else str(found.contents.value)


def test_a_valid_file_has_no_diagnostics(editor: Editor) -> None:
    assert editor.open(WATER) == []
    assert editor.open(CARE) == []


def test_an_error_is_shown_while_typing_until_it_is_fixed(editor: Editor) -> None:
    editor.open(WATER)
    assert editor.type(WATER, TOOL.replace("string", "strng", 1)) == ["unknown-type"]
    (shown,) = editor.shown(WATER)
    assert shown.range == types.Range(types.Position(14, 12), types.Position(14, 17))
    assert shown.severity == types.DiagnosticSeverity.Error
    assert "did you mean 'string'?" in shown.message
    assert editor.type(WATER, TOOL) == []


def test_a_skill_is_checked_against_the_tools_while_typing(editor: Editor) -> None:
    editor.open(CARE)
    codes = editor.type(CARE, SKILL.replace("- plant: {plant}", "- plnt: {plant}"))
    assert "unknown-argument" in codes
    assert editor.type(CARE, SKILL) == []


def test_saving_a_tool_shows_what_it_breaks_elsewhere(editor: Editor) -> None:
    editor.open(WATER)
    assert editor.open(CARE) == []
    renamed = TOOL.replace("### plant", "### flower")
    assert editor.save(WATER, renamed, about=CARE) != []
    assert editor.save(WATER, TOOL, about=CARE) == []


def test_python_that_differs_is_shown_when_the_file_is_saved(editor: Editor) -> None:
    editor.open(WATER)
    more = TOOL.replace("## Returns", "### litres\n\n- **Type**: number\n\n## Returns")
    assert editor.save(WATER, more) == ["parameter-drift"]


def test_columns_are_counted_as_the_editor_counts_them(editor: Editor) -> None:
    editor.open(WATER)
    slip = TOOL.replace("- **Type**: string", "- **Type**: `🌱`, strng", 1)
    assert editor.type(WATER, slip) == ["unknown-type"]
    (shown,) = editor.shown(WATER)
    line = slip.split("\n")[14].encode("utf-16-le")
    start, end = shown.range.start.character, shown.range.end.character
    assert (line[2 * start : 2 * end].decode("utf-16-le"), end - start) == ("🌱", 2)


def test_a_fix_is_offered_and_applied(editor: Editor) -> None:
    editor.open(WATER)
    slip = TOOL.replace("**Required**", "**Requried**")
    assert editor.type(WATER, slip) == ["misspelt-field"]
    document, position = editor.at(WATER, slip, "**Requ")
    (action,) = editor.ask(
        "text_document_code_action",
        types.CodeActionParams(
            document, types.Range(position, position), types.CodeActionContext([])
        ),
    )
    (edit,) = action.edit.changes[editor.uri(WATER)]
    assert (edit.new_text, action.kind) == ("Required", "quickfix")
    line = slip.split("\n")[edit.range.start.line]
    mended = line[: edit.range.start.character] + "Required" + line[edit.range.end.character :]
    assert mended == "- **Required**: true"


def test_formatting_gives_the_canonical_text(editor: Editor) -> None:
    editor.open(WATER)
    odd = TOOL.replace("- **Type**: string", "* type: string")
    editor.type(WATER, odd)
    options = types.FormattingOptions(2, insert_spaces=True)
    params = types.DocumentFormattingParams(editor.document(WATER), options)
    (edit,) = editor.ask("text_document_formatting", params)
    assert edit.new_text == TOOL
    editor.type(WATER, TOOL)
    assert not editor.ask("text_document_formatting", params)


def test_a_broken_text_is_not_formatted(editor: Editor) -> None:
    editor.open(WATER)
    editor.type(WATER, TOOL.replace("string", "strng"))
    options = types.FormattingOptions(2, insert_spaces=True)
    params = types.DocumentFormattingParams(editor.document(WATER), options)
    assert not editor.ask("text_document_formatting", params)


@pytest.mark.parametrize(
    ("old", "new", "after", "wanted"),
    [
        ("- **Required**: true", "- ", "string\n- ", ["Type", "Required", "Description", "Enum"]),
        ("- **Required**: true", "- **Re", "- **Re", ["Required"]),
        ("- **Type**: string", "- **Type**: ", "**Type**: ", ["string", "integer", "boolean"]),
        ("- **Required**: true", "- **Required**: ", "**Required**: ", ["yes", "no"]),
        ("## Returns", "## \n\n## Returns", "plant\n\n## ", ["Rules", "Safety", "Limits"]),
        ("## Returns", "## Safety\n\n- \n\n## Returns", "Safety\n\n- ", ["Min Confidence"]),
        (
            "## Returns",
            "## Safety\n\n- **Sensitivity**: \n\n## Returns",
            "**Sensitivity**: ",
            ["low", "critical"],
        ),
    ],
)
def test_completions_are_offered(
    editor: Editor, old: str, new: str, after: str, wanted: list[str]
) -> None:
    editor.open(WATER)
    found = labels(editor, WATER, TOOL.replace(old, new, 1), after)
    assert [word for word in wanted if word not in found] == []


@pytest.mark.parametrize(
    ("old", "new", "after", "wanted"),
    [
        ("   - **Use**: water_plant", "   - **Use**: ", "**Use**: ", ["water_plant"]),
        ("     - plant: {plant}", "     - ", "**With**:\n     - ", ["plant"]),
        ("   - **With**:", "   - ", "water_plant\n   - ", ["With", "Save as", "On error"]),
        ("Tools**: water_plant", "Tools**: ", "Tools**: ", ["water_plant"]),
    ],
)
def test_a_skills_steps_are_completed_from_the_project(
    editor: Editor, old: str, new: str, after: str, wanted: list[str]
) -> None:
    editor.open(CARE)
    found = labels(editor, CARE, SKILL.replace(old, new, 1), after)
    assert [word for word in wanted if word not in found] == []


def test_a_section_that_is_there_is_not_offered_again(editor: Editor) -> None:
    editor.open(WATER)
    found = labels(editor, WATER, TOOL + "\n## ", "was done\n\n## ")
    assert "Safety" in found
    assert "Parameters" not in found


def test_nothing_is_offered_within_code(editor: Editor) -> None:
    editor.open(WATER)
    assert labels(editor, WATER, TOOL + "\n```\n- \n```\n", "```\n- ") == []


def test_a_hover_explains_fields_sections_and_tools(editor: Editor) -> None:
    editor.open(WATER)
    editor.open(CARE)
    assert hover(editor, WATER, TOOL, "- **Requi").startswith("**Required**: ")
    assert hover(editor, WATER, TOOL, "## Retu").startswith("**Returns**: The result of a call")
    told = hover(editor, CARE, SKILL, "**Use**: water")
    assert told.startswith("**water_plant**(plant: string)")
    assert "Water one plant." in told
    assert hover(editor, CARE, SKILL, "   - **Us").startswith("**Use**: The tool or skill")


def test_a_tools_name_leads_to_its_file(editor: Editor) -> None:
    editor.open(CARE)
    document, position = editor.at(CARE, SKILL, "**Use**: water")
    (found,) = editor.ask("text_document_definition", types.DefinitionParams(document, position))
    assert found.uri == editor.uri(WATER)
    assert found.range.start == types.Position(6, 12)


def test_the_outline_has_sections_and_their_parameters(editor: Editor) -> None:
    editor.open(WATER)
    params = types.DocumentSymbolParams(editor.document(WATER))
    (top,) = editor.ask("text_document_document_symbol", params)
    assert top.name == "Water Plant"
    assert [child.name for child in top.children] == ["Metadata", "Parameters", "Returns"]
    assert [child.name for child in top.children[1].children] == ["plant"]


def test_another_markdown_file_is_left_alone(editor: Editor, garden: Path) -> None:
    (garden / "notes.md").write_text("# Notes\n\n- \n")
    editor.open(WATER)
    document, position = editor.at("notes.md", "# Notes\n\n- \n", "- ")
    found = editor.ask("text_document_completion", types.CompletionParams(document, position))
    assert not found
    assert editor.shown("notes.md") == []


def test_a_file_outside_of_any_project_is_read_by_itself(client: Client, tmp_path: Path) -> None:
    (tmp_path / "alone.tool.md").write_text(TOOL.replace("string", "strng", 1))
    with Editor(client, tmp_path) as editor:
        assert editor.open("alone.tool.md") == ["unknown-type"]


def test_closing_discards_the_diagnostics_of_an_unsaved_text(editor: Editor) -> None:
    editor.open(WATER)
    assert editor.type(WATER, TOOL.replace("string", "strng", 1)) != []
    assert editor.close(WATER) == []


def test_a_closed_file_keeps_the_diagnostics_of_its_saved_text(editor: Editor) -> None:
    editor.open(WATER)
    assert editor.save(WATER, TOOL.replace("### plant", "### flower"), about=CARE) != []
    editor.open(CARE)
    assert "unknown-argument" in editor.close(CARE)


def test_a_file_that_another_program_writes_or_deletes_is_read_again(editor: Editor) -> None:
    editor.open(CARE)
    assert editor.client.registered == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]
    (editor.root / WATER).write_text(TOOL.replace("### plant", "### flower"))
    assert "unknown-argument" in editor.written(WATER, about=CARE)
    (editor.root / WATER).unlink()
    assert editor.written(WATER, about=CARE) == ["unknown-tool"]


def test_python_that_reads_stdin_takes_nothing_from_the_protocol(editor: Editor) -> None:
    python = editor.root / "tools_md/water_plant.py"
    told = editor.root / "told"
    reads = f"import sys, pathlib\npathlib.Path({str(told)!r}).write_text(sys.stdin.read(9))\n"
    python.write_text(reads + python.read_text())
    assert editor.open(WATER) == []
    assert "water_plant" in hover(editor, CARE, SKILL, "**Use**: water")
    assert told.read_text() == ""
