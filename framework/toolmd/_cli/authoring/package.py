"""Build the files of a new plugin: an installable package with a tool, its Python and a test."""

from toolmd._cli.authoring.starter import definition_files


def package_files(name: str) -> dict[str, str]:
    """Return the text of each file by path; `name`, in snake_case, is also the tool's name."""
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
    """Return the requirement of this release or a later compatible one: `toolmd>=0.1,<0.2`."""
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

# In this folder, Toolmd reads the tools from the source, with this plugin and no other.
[tool.toolmd]
tools = ["src/{name}/tools_md"]
skills = []
plugins = ["{kebab}"]
"""

_README = """\
# {kebab}

Tools for Toolmd. After you install this package, every project of the same
environment has them:

    pip install -e .
    toolmd plugins
    toolmd list

The definitions are in `src/{name}/tools_md`, each with its Python next to it.
"""

_PLUGIN = '''\
"""Register this package's definitions with Toolmd."""

from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable

from toolmd.hooks import hookimpl


@hookimpl
def toolmd_definitions() -> Iterable[Traversable]:
    """Return the folder of definitions; their Python is next to them."""
    return [files(__package__) / "tools_md"]
'''
