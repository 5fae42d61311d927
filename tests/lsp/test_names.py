"""An editor finds and renames names across definitions, expressions, examples and Python."""

import pytest
from language_client import Editor
from lsprotocol import types
from orchard import FILES, HARVEST, PICK, PYTHON
from pygls.exceptions import JsonRpcException

TOOL, PY, SKILL = "pick-fruit.tool.md", "pick_fruit.py", "harvest.skill.md"


def references(editor: Editor, name: str, after: str) -> list[tuple[str, str]]:
    context = types.ReferenceContext(include_declaration=True)
    return editor.pieces(editor.near("references", name, after, context=context))


def test_references_of_a_parameter_are_in_rules_examples_skills_and_python(
    orchard: Editor,
) -> None:
    found = references(orchard, PICK, "### amou")
    assert found == sorted(
        [
            *[(TOOL, "amount")] * 5,
            (SKILL, "amount"),
            *[(PY, "amount")] * 2,
            ("glean.py", "amount"),
        ]
    )
    assert references(orchard, PICK, ".size >= amou") == found
    assert references(orchard, HARVEST, "     - amou") == found


def test_renaming_a_parameter_changes_every_use_and_nothing_else(orchard: Editor) -> None:
    changed = orchard.renamed(PICK, "### amou", "count")
    assert set(changed) == {TOOL, SKILL, PY, "glean.py"}
    tool = changed[TOOL]
    assert "### count\n" in tool
    assert "basket.size >= count`" in tool
    assert "**Confirm When**: `count > 20`" in tool
    assert '{"treeName": "amount", "count": 51}' in tool
    assert "- count: `rounds * 5`" in changed[SKILL]
    assert "tree_name: str, count: int = 5," in changed[PY]
    assert 'picked = f"{count}" if tree_name' in changed[PY]
    assert '"""Pick the amount."""' in changed[PY]
    assert '"count": 1}' in changed["glean.py"]


def test_a_renamed_parameter_with_limits_is_a_policy_change(orchard: Editor) -> None:
    changed = orchard.renamed(PICK, "### amou", "count")
    assert orchard.save(PICK, changed[TOOL]) == ["weakened-policy"]
    orchard.client.answer = "Accept"
    accept = types.ExecuteCommandParams("toolmd.acceptChange", [orchard.uri(PICK), "pick_fruit"])
    assert orchard.ask("workspace_execute_command", accept) is True
    assert orchard.open(HARVEST) == []


def test_a_parameter_has_its_own_form_of_the_new_name_in_python(orchard: Editor) -> None:
    changed = orchard.renamed(PICK, "### treeNa", "oldTree")
    assert "### oldTree" in changed[TOOL]
    assert "def pick_fruit(old_tree: str," in changed[PY]
    assert 'if old_tree else "0"' in changed[PY]


def test_renaming_an_input_changes_the_steps_that_read_it(orchard: Editor) -> None:
    changed = orchard.renamed(HARVEST, "### tr", "which")
    assert set(changed) == {SKILL}
    assert "- treeName: {which}" in changed[SKILL]
    assert "**Return**: {which} gave {has(crop)" in changed[SKILL]
    assert "**Return**: {which} rests." in changed[SKILL]
    assert "### which\n" in changed[SKILL]


def test_renaming_a_saved_result_and_a_section(orchard: Editor) -> None:
    changed = orchard.renamed(HARVEST, "has(cr", "gathered")[SKILL]
    assert "**Save as**: gathered" in changed
    assert "{has(gathered) ? gathered.picked : 0}" in changed
    changed = orchard.renamed(HARVEST, "go to Re", "Later")[SKILL]
    assert "go to Later" in changed
    assert "### Later" in changed


@pytest.mark.parametrize("name", ["to", "o"])
def test_a_section_is_not_a_part_of_the_words_that_lead_to_it(orchard: Editor, name: str) -> None:
    skill = FILES[HARVEST].replace("### Rest", f"### {name}").replace("to Rest", f"to {name}")
    (orchard.root / HARVEST).write_text(skill, "utf-8")
    orchard.open(HARVEST)
    changed = orchard.renamed(HARVEST, f"### {name[0]}", "Idle")
    assert changed[SKILL] == FILES[HARVEST].replace("Rest", "Idle")


def test_an_input_is_not_a_part_of_the_fact_that_it_supplies(orchard: Editor) -> None:
    context = "- **Context**: treehouse from tree\n- **Required"
    skill = FILES[HARVEST].replace("- **Required", context, 1)
    (orchard.root / HARVEST).write_text(skill, "utf-8")
    orchard.open(HARVEST)
    changed = orchard.renamed(HARVEST, "### tr", "which")
    assert "- **Context**: treehouse from which\n" in changed[SKILL]


def test_renaming_a_tool_changes_its_function_and_the_skills_that_use_it(
    orchard: Editor,
) -> None:
    changed = orchard.renamed(HARVEST, "**Use**: pick", "gather_fruit")
    assert "**Name**: gather_fruit" in changed[TOOL]
    assert "def gather_fruit(" in changed[PY]
    assert "**Required Tools**: gather_fruit" in changed[SKILL]
    assert "**Use**: gather_fruit" in changed[SKILL]
    assert "**Required Tools**: gather_fruit" in changed["glean.skill.md"]
    assert 'context.call("gather_fruit",' in changed["glean.py"]
    assert orchard.type(PICK, changed[TOOL]) == []
    orchard.saved(PICK)
    assert orchard.open(HARVEST) == []


@pytest.mark.parametrize(
    ("name", "after", "new", "why"),
    [
        (PICK, "### amou", "basket", "two parameters 'basket'"),
        (PICK, "### amou", "9 lives", "not a valid name"),
        (PICK, "**Name**: pick", "harvest", "already the name"),
        (PICK, "Pick fruit fr", "x", "here is no name"),
    ],
)
def test_a_rename_that_would_break_something_is_denied(
    orchard: Editor, name: str, after: str, new: str, why: str
) -> None:
    with pytest.raises(JsonRpcException, match=why):
        orchard.near("rename", name, after, new_name=new)


def test_a_rename_is_denied_where_python_computes_the_arguments(orchard: Editor) -> None:
    computed = FILES["skills_md/glean.py"].replace('{"treeName"', '{**given, "treeName"')
    (orchard.root / "skills_md/glean.py").write_text(computed)
    with pytest.raises(JsonRpcException, match=r"glean\.py:8: the arguments of pick_fruit"):
        orchard.near("rename", PICK, "### amou", new_name="count")


def test_what_can_be_renamed_is_the_whole_name(orchard: Editor) -> None:
    found = orchard.near("prepare_rename", PICK, "basket.size >= amou")
    assert found.end.character - found.start.character == len("amount")
    with pytest.raises(JsonRpcException, match="here is no name"):
        orchard.near("prepare_rename", PICK, "Pick fruit fr")


def test_definition_leads_from_a_file_to_python_and_back(orchard: Editor) -> None:
    def found(name: str, after: str) -> list[tuple[str, str]]:
        return orchard.pieces(orchard.near("definition", name, after))

    assert found(HARVEST, "**Use**: pick") == [(TOOL, "pick_fruit")]
    assert found(HARVEST, "     - treeNa") == [(TOOL, "treeName")]
    assert found(HARVEST, "{has(crop) ? cr") == [(SKILL, "crop")]
    assert found(PICK, "**Name**: pick") == [(PY, "pick_fruit")]
    assert found(PICK, "### treeNa") == [(PY, "tree_name")]
    assert found(PYTHON, "def pick") == [(TOOL, "pick_fruit")]
    assert found(PYTHON, "def pick_fruit(tree_n") == [(TOOL, "treeName")]


def test_a_broken_file_still_has_its_names(orchard: Editor) -> None:
    broken = FILES[PICK].replace("- **Type**: string", "- **Type**: strng", 1)
    (orchard.root / PICK).write_text(broken)
    assert orchard.type(PICK, broken) == ["unknown-type"]
    assert len(references(orchard, PICK, "### amou")) == 9
    (orchard.root / PYTHON).write_text("def pick_fruit(:\n")
    assert len(references(orchard, PICK, "### amou")) == 7


def test_workspace_symbols_are_found_by_a_part_of_their_name(orchard: Editor) -> None:
    found = orchard.ask("workspace_symbol", types.WorkspaceSymbolParams("amou"))
    own = [one for one in found if one.location.uri == orchard.uri(PICK)]
    assert [(one.name, one.container_name) for one in own] == [("amount", "pick_fruit")]
    found = orchard.ask("workspace_symbol", types.WorkspaceSymbolParams("HARV"))
    assert "harvest" in {one.name for one in found}
