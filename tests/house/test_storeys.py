"""Hold every import to the storeys: down only, siblings apart, nothing hidden."""

import ast
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "framework" / "toolmark"
FILES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_imports_run_down_only(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)

    assert status == 0, capsys.readouterr().out


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_room_imports_the_face(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                assert all(alias.name != "toolmark" for alias in names)
            case ast.ImportFrom(module="toolmark"):
                raise AssertionError(f"line {node.lineno} imports from the face")
            case ast.ImportFrom(level=level):
                assert level == 0, f"line {node.lineno} is a relative import"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_import_of_ours_hides_from_the_storeys(path: Path) -> None:
    """A noun that only fits under TYPE_CHECKING stands too high: move it down."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            assert "toolmark" not in ast.unparse(node), f"line {node.lineno}"
