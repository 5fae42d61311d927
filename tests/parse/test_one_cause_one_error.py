"""A type that can't be read is one error, without any errors that follow from it."""

import pytest
from field_places import Place, read

FIELDS = [
    "- **Minimum**: 3",
    "- **Max Length**: 3",
    "- **Pattern**: `a+`",
    "- **Enum**: 1, 2",
    "- **Default**: 5",
    "- **Default**: later",
    "- **Min Items**: 2",
    "- **Items**: string",
    "- **Properties**:\n  - **code**:\n    - **Type**: string\n    - **Required**: true",
    "- **Minimum**: 3\n- **Maximum**: 9\n- **Default**: 5\n- **Example**: 7\n- **Unique**: true",
]


@pytest.mark.parametrize("word", ["nmber", "strng | nmber", "array of nmber", "list[nmber"])
@pytest.mark.parametrize("fields", FIELDS)
def test_an_unreadable_type_is_one_error(word, fields) -> None:
    place = Place("tool", "parameter")
    text = place.text(fields)[0].replace("- **Type**: number", f"- **Type**: {word}", 1)
    spec, diagnostics = read(place, text)
    assert spec is None
    assert [d.code for d in diagnostics if d.severity == "error"] == ["unknown-type"]
    assert not [d for d in diagnostics if d.code == "array-without-items"]
