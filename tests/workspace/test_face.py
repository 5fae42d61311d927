"""The face: every name comes when it is asked for, and nothing heavy before."""

import subprocess
import sys

import pytest

import toolmark


def run(code: str) -> str:
    """Run Python of its own; gives what it printed."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_name_of_the_face_is_there() -> None:
    for name in toolmark.__all__:
        assert getattr(toolmark, name) is not None, name
    assert set(toolmark.__all__) <= set(dir(toolmark))
    assert toolmark.__version__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_it"):
        toolmark.nothing_of_it  # noqa: B018


def test_the_import_alone_brings_nothing_with_it() -> None:
    heavy = "pydantic", "pluggy", "asyncio", "markdown_it", "svcs", "toolmark._model"

    loaded = run(f"import sys, toolmark; print([m for m in {heavy!r} if m in sys.modules])")

    assert loaded.strip() == "[]"


def test_a_project_is_opened_without_what_only_calls_need(tmp_path) -> None:
    (tmp_path / "tools_md").mkdir()
    heavy = "asyncio", "markdown_it", "svcs", "httpx", "rich", "celpy", "typer"
    code = (
        f"import sys, toolmark; ws = toolmark.Workspace.open({str(tmp_path)!r},"
        " overrides={'plugins': []}); ws.registry.diagnostics;"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )

    assert run(code).strip() == "[]"
