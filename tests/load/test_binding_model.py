"""In random folders, each tool is bound as a plain model of the rules says."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bind_project import Project, tool
from hypothesis import given
from hypothesis import strategies as st

NAMES = ("book", "cancel", "greet")
STEMS = ("book", "cancel", "clinic", "front-desk", "front_desk", "_shared", "__init__", "plugin")
FOLDERS = ("", "a/", "a/b/")
WRITTEN = {
    "function": "def {0}(): ...",
    "async": "async def {0}(): ...",
    "private": "def _{0}(): ...",
    "class": "class {0}: ...",
    "alias": "def _x(): ...\n{0} = _x",
    "import": "from os import getcwd as {0}",
    "method": "class Inner:\n    def {0}(self): ...",
    "inner": "def _outer():\n    def {0}(): ...",
    "choice": "try:\n    import os\nexcept ImportError:\n    def {0}(): ...",
    "comment": "# def {0}(): ...",
    "text": '"""\ndef {0}(): ...\n"""',
}
PUBLIC = {"function", "async", "choice"}


class Module(NamedTuple):
    """A file of Python, and how it has each name."""

    path: str
    has: tuple[tuple[str, str], ...]
    broken: bool

    @property
    def text(self) -> str:
        parts = [WRITTEN[how].format(name) for name, how in self.has]
        return "\n".join([*parts, "x = ("] if self.broken else parts) + "\n"

    @property
    def folder(self) -> str:
        *above, name = self.path.split("/")
        return "/".join(above[:-1] if name == "__init__.py" else above)

    @property
    def name(self) -> str:
        *above, name = self.path.split("/")
        whole = above[-1] if name == "__init__.py" and above else name.removesuffix(".py")
        return whole.replace("-", "_")

    def holds(self, name: str) -> bool:
        if self.broken:
            # A line that begins with the function counts, wherever it stands.
            begun = {"function", "async", "text"}
            return any(own == name and how in begun for own, how in self.has)
        return any(own == name and how in PUBLIC for own, how in self.has)


@st.composite
def modules(draw: st.DrawFn) -> list[Module]:
    found = {}
    for folder in draw(st.lists(st.sampled_from(FOLDERS), max_size=5)):
        stem = draw(st.sampled_from(STEMS))
        package = draw(st.integers(0, 3)) == 0
        path = f"{folder}{stem}/__init__.py" if package else f"{folder}{stem}.py"
        ways = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(sorted(WRITTEN))))
        has = draw(ways.map(lambda pairs: tuple(dict(pairs).items())))
        found[path] = Module(path, has, draw(st.integers(0, 4)) == 0)
    return list(found.values())


places = st.none() | st.tuples(
    st.sampled_from(["book", "clinic", "front_desk", "front-desk", "_shared", "os"]),
    st.sampled_from([*NAMES, "_book"]),
)
tools = st.dictionaries(
    st.sampled_from(NAMES), st.tuples(st.sampled_from(FOLDERS), places), min_size=1
)


def model(
    name: str, folder: str, named: tuple[str, str] | None, files: list[Module]
) -> tuple[str, str]:
    """Return the kind and the target of a tool's binding, as the documentation has it."""
    beside = [
        one for one in files if one.folder == folder.rstrip("/") and one.path != "__init__.py"
    ]
    if named is not None:
        module, function = named[0].replace("-", "_"), named[1]
        own = sorted(
            (one for one in beside if one.name == module),
            key=lambda one: (one.path.endswith("__init__.py"), "-" in one.path),
        )
        if own:
            return "sibling", f"tools_md/{own[0].path}:{function}"
        return "entry_point", f"{module}:{function}"
    if any(one.path == f"{folder}{name}.py" for one in beside):
        return "sibling", f"tools_md/{folder}{name}.py:{name}"
    holders = [
        one for one in beside if one.holds(name) and one.name[0] != "_" and one.path != "plugin.py"
    ]
    if len(holders) == 1:
        return "sibling", f"tools_md/{holders[0].path}:{name}"
    return "none", "&".join(sorted(one.path.rpartition("/")[2] for one in holders))


@given(modules(), tools)
def test_each_tool_is_bound_as_the_rules_say(
    files: list[Module], defined: dict[str, tuple[str, tuple[str, str] | None]]
) -> None:
    with TemporaryDirectory() as folder:
        project = Project(Path(folder))
        for one in files:
            project.write(f"tools_md/{one.path}", one.text)
        for name, (below, named) in defined.items():
            text = tool(name)
            if named is not None:
                line = f"- **Implemented By**: {named[0]}:{named[1]}\n"
                text = text.replace("- **Category**: test\n", f"- **Category**: test\n{line}")
            project.write(f"tools_md/{below}{name}.tool.md", text)
        found = project.build().registry.tools

        for name, (below, named) in defined.items():
            kind, target = model(name, below, named, files)
            binding = found[name].binding
            assert binding.kind == kind
            if kind != "none":
                assert binding.target == target
                assert binding.inspect is not None
                binding.inspect()
            elif target.count("&"):
                assert binding.inspect is not None
                (said,) = binding.inspect()
                assert str(said.code) == "ambiguous-function"
                assert all(file in said.message for file in target.split("&"))
            else:
                assert binding.inspect is None
