"""Imports follow the layers: down only, never between siblings, nothing hidden."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

from tracked import ROOT, tracked

PACKAGE = ROOT / "framework" / "toolmd"
PYTHON = [name for name in tracked() if re.fullmatch(r"framework/toolmd/.*\.py", name)]

# In a process of its own, because it configures logging and silences every existing logger.
LINT = (
    "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
)


def test_imports_go_down_only() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LINT], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Return each node of the package with its place."""
    for path in (ROOT / name for name in PYTHON):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", node


def test_every_package_is_in_the_architecture() -> None:
    architecture = (ROOT / "docs" / "explanation" / "architecture.md").read_text("utf-8")
    packages = {
        p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }

    assert {name for name in packages if f"`{name}`" not in architecture} <= {
        "__init__",
        "__main__",
    }


def test_no_package_imports_the_public_module() -> None:
    upward = set()
    for place, node in nodes():
        match node:
            case ast.Import(names=names) if any(alias.name == "toolmd" for alias in names):
                upward.add(place)
            case ast.ImportFrom(module="toolmd") | ast.ImportFrom(level=1 | 2 | 3):
                upward.add(place)

    assert not upward


def test_a_plugin_uses_only_the_public_api() -> None:
    private = set()
    for name in tracked():
        if not re.fullmatch(r"plugins/[^/]+/src/.*\.py", name):
            continue
        for node in ast.walk(ast.parse((ROOT / name).read_text("utf-8"))):
            match node:
                case ast.Import(names=names):
                    modules = [alias.name for alias in names]
                case ast.ImportFrom(module=str(module), names=names):
                    modules = [f"{module}.{alias.name}" for alias in names]
                case _:
                    continue
            private |= {(name, m) for m in modules if m.startswith(("toolmd._", "toolmd._mcp"))}

    assert not private
