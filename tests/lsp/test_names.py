"""An editor finds names across definitions, expressions and examples, and a tool's Python."""

from language_client import Editor
from lsprotocol import types
from orchard import FILES, HARVEST, PICK, PYTHON

TOOL, PY, SKILL = "pick-fruit.tool.md", "pick_fruit.py", "harvest.skill.md"


def references(editor: Editor, name: str, after: str) -> list[tuple[str, str]]:
    context = types.ReferenceContext(include_declaration=True)
    return editor.pieces(editor.near("references", name, after, context=context))


def test_references_of_a_parameter_are_in_rules_examples_and_skills(
    orchard: Editor,
) -> None:
    found = references(orchard, PICK, "### amou")
    assert found == [(SKILL, "amount"), *[(TOOL, "amount")] * 5]
    assert references(orchard, PICK, ".size >= amou") == found
    assert references(orchard, HARVEST, "     - amou") == found


def test_definition_leads_from_a_name_to_its_file_and_from_there_to_python(orchard: Editor) -> None:
    def found(name: str, after: str) -> list[tuple[str, str]]:
        return orchard.pieces(orchard.near("definition", name, after))

    assert found(HARVEST, "**Use**: pick") == [(TOOL, "pick_fruit")]
    assert found(HARVEST, "     - treeNa") == [(TOOL, "treeName")]
    assert found(HARVEST, "{has(crop) ? cr") == [(SKILL, "crop")]
    assert found(PICK, "**Name**: pick") == [(PY, "pick_fruit")]
    assert found(PICK, "### treeNa") == [(PY, "pick_fruit")]
    assert found(PYTHON, "def pick") == []


def test_a_broken_file_still_has_its_names(orchard: Editor) -> None:
    broken = FILES[PICK].replace("- **Type**: string", "- **Type**: strng", 1)
    (orchard.root / PICK).write_text(broken)
    assert orchard.type(PICK, broken) == ["unknown-type"]
    assert len(references(orchard, PICK, "### amou")) == 6
