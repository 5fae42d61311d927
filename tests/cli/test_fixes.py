"""Edits applied to files: bottom-up, whole, in the file's own line endings."""

from pathlib import Path

import pytest

from toolmd._cli.diagnostics import Fixed, apply_edits, fix_files
from toolmd._types.diagnostic import Diagnostic, Edit, Severity, Span


def finding(path: str, *fix: Edit, code: str = "misspelt-field") -> Diagnostic:
    return Diagnostic(Span(path, 1, 1, 1, 2), code, Severity.WARNING, "wrong", "", fix)


@pytest.mark.parametrize(
    ("text", "edits", "mended"),
    [
        ("abc\ndef\n", [Edit(1, 2, 1, 3, "X")], "aXc\ndef\n"),
        ("abc\ndef\n", [Edit(1, 1, 1, 2, "11"), Edit(2, 1, 2, 2, "22")], "11bc\n22ef\n"),
        ("abc\r\ndef\r\n", [Edit(2, 1, 2, 1, "new\n")], "abc\r\nnew\r\ndef\r\n"),
        ("\ufeffabc\n", [Edit(1, 1, 1, 2, "X")], "\ufeffXbc\n"),
        ("abc\rdef", [Edit(2, 1, 2, 4, "X")], "abc\rX"),
        ("a\u2028b\nc", [Edit(2, 1, 2, 2, "X")], "a\u2028b\nX"),
        ("abc", [Edit(2, 1, 2, 1, "\nend")], "abc\nend"),
        ("abc\ndef\nghi", [Edit(1, 4, 2, 4, "")], "abc\nghi"),
        ("😀b", [Edit(1, 2, 1, 3, "X")], "😀X"),
    ],
)
def test_edits_are_applied_at_their_positions(text: str, edits: list[Edit], mended: str) -> None:
    assert apply_edits(text, edits) == mended


def test_a_fix_that_touches_another_waits_for_the_next_reading(tmp_path: Path) -> None:
    (tmp_path / "x.tool.md").write_text("abcdef\n")
    first = finding("x.tool.md", Edit(1, 1, 1, 4, "X"), code="first")
    second = finding("x.tool.md", Edit(1, 3, 1, 5, "Y"), code="second")
    third = finding("x.tool.md", Edit(1, 6, 1, 7, "Z"), code="third")
    assert fix_files([first, second, third], tmp_path) == [Fixed("x.tool.md", ("first", "third"))]
    assert (tmp_path / "x.tool.md").read_text() == "XdeZ\n"


def test_a_file_keeps_its_rights_and_its_link(tmp_path: Path) -> None:
    real = tmp_path / "real.md"
    real.write_text("abc\n")
    real.chmod(0o640)
    (tmp_path / "x.tool.md").symlink_to(real)
    fix_files([finding("x.tool.md", Edit(1, 1, 1, 2, "X"))], tmp_path)
    assert (tmp_path / "x.tool.md").is_symlink()
    assert real.read_text() == "Xbc\n"
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["real.md", "x.tool.md"]


def test_nothing_to_change_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.tool.md").write_text("abc\n")
    assert fix_files([finding("x.tool.md")], tmp_path) == []
