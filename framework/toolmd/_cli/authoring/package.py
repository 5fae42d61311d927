"""The files of a new plugin: an installable package with a tool, its Python and a test."""

from toolmd._cli.authoring.starter import definition_files


def package_files(name: str) -> dict[str, str]:
    """Give path and text of each file; `name` is in snake_case, and the tool's name too."""
    kebab = name.replace("_", "-")
    source = f"src/{name}"
    files = {
        "pyproject.toml": _PYPROJECT.format(name=name, kebab=kebab, toolmd=_requirement()),
        "README.md": _README.format(name=name, kebab=kebab),
        f"{source}/__init__.py": f'"""The tools of {kebab}."""\n',
        f"{source}/plugin.py": _PLUGIN.format(name=name),
    }
    return files | definition_files("tool", name, f"{source}/tools_md")


def _requirement() -> str:
    """Require this release, or a later one that keeps its promises: `toolmd>=0.1,<0.2`."""
    from importlib.metadata import version

    major, minor = map(int, version("toolmd").split(".")[:2])
    return f"toolmd>={major}.{minor},<{f'{major + 1}' if major else f'0.{minor + 1}'}"


_PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "{kebab}"
version = "0.1.0"
description = "Tools for Toolmd."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["{toolmd}"]

[project.entry-points.toolmd]
{kebab} = "{name}.plugin"

[tool.hatch.build.targets.wheel]
packages = ["src/{name}"]

# In this folder the tools are tried as they lie here, with this plugin and no other.
[tool.toolmd]
tools = ["src/{name}/tools_md"]
skills = []
plugins = ["{kebab}"]
"""

_README = """\
# {kebab}

Tools for Toolmd. Once this package is installed, every project of the same
environment has them:

    pip install -e .
    toolmd plugins
    toolmd list

The definitions stand in `src/{name}/tools_md`, each with its Python beside it.
"""

_PLUGIN = '''\
"""Tell Toolmd where this package's definitions are."""

from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable

from toolmd.hooks import hookimpl


@hookimpl
def toolmd_definitions() -> Iterable[Traversable]:
    """Give the folder of definitions; their Python stands beside them."""
    return [files(__package__) / "tools_md"]
'''
