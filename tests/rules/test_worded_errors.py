"""Errors: what a caller reads of the exceptions of plain Python, as the file words it."""

from pathlib import Path

import pytest
from tests.definitions import Folder, tool

from toolmd import Workspace, parse_tool
from toolmd._parse import tool_text

ERRORS = """
## Errors

Some are said in other words.

- `ValueError`: value: A value is wrong.
- `KeyError`: no_order: There is no such order.
- `sqlite3.IntegrityError`: taken: Somebody was faster.
- `Closed`: The shop is closed.
- `OSError`: shelf: The shelf can't be read: try later.

## Limits

- **Quota**: 1 call per user ever
"""
PYTHON = """
import sqlite3

class Closed(Exception):
    pass

def find(id):
    if id == "closed":
        raise Closed("secret")
    if id == "shelf":
        open("/no/such/shelf")
    if id == "taken":
        raise sqlite3.IntegrityError("UNIQUE constraint failed: secret")
    if id == "nan":
        return {"id": float("nan")}
    if id == "odd":
        raise ZeroDivisionError("secret")
    return {"1": "one"}[id]
"""
ID = "### id\n\n- **Type**: string\n- **Required**: true\n\n"


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ("2", "no_order", "There is no such order."),
        ("taken", "taken", "Somebody was faster."),
        ("closed", "tool_error", "The shop is closed."),
        ("shelf", "shelf", "The shelf can't be read: try later."),
        ("odd", "tool_error", "find raised an error; its log reference is "),
    ],
)
def test_an_exception_is_told_in_the_words_of_the_file(
    tmp_path: Path, given: str, code: str, message: str
) -> None:
    folder = Folder(tmp_path)
    folder.write("tools_md/find.tool.md", tool("find", ID, ERRORS))
    folder.write("tools_md/find.py", PYTHON)
    with Workspace.open(tmp_path, overrides={"plugins": []}) as workspace:
        assert not workspace.diagnostics
        error = workspace.call_sync("find", {"id": given}, user="ana").error
        after = workspace.call_sync("find", {"id": "1"}, user="ana")

    assert error is not None
    assert error.code == code
    assert error.message.startswith(message)
    # Words change no outcome: nobody knows whether there was an effect, so the call counts.
    assert after.error is not None
    assert after.error.code == "quota_exceeded"


def test_errors_are_written_back_and_prose_stays_prose() -> None:
    text = tool("find", ID, ERRORS)
    spec, _ = parse_tool(text, "find.tool.md")
    assert spec is not None
    again, _ = parse_tool(tool_text(spec), "find.tool.md")
    assert again is not None
    assert [one.exception for one in spec.errors] == [
        "ValueError", "KeyError", "sqlite3.IntegrityError", "Closed", "OSError"
    ]  # fmt: skip
    assert (again.errors, again.hash) == (spec.errors, spec.hash)

    for line in ("- `OSError`: a: Again.", "- `E`: not_allowed: No.", "- KeyError: No."):
        more = text.replace("- `OSError`", f"{line}\n- `OSError`")
        spec, found = parse_tool(more, "find.tool.md")
        assert (spec, [one.code.value for one in found]) == (None, ["unreadable-value"]), line

    prose = tool("find", ID, "\n## Errors\n\n- `404`: Not found.\n- Else: nothing.\n")
    spec, found = parse_tool(prose, "find.tool.md")
    assert spec is not None
    assert not found
    assert spec.errors == ()
    assert "`404`" in spec.sections["Errors"]
