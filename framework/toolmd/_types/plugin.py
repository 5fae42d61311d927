"""The name and state of a plugin."""

from typing import Literal, NamedTuple


class PluginInfo(NamedTuple):
    """A plugin's name, and the result of loading it."""

    name: str
    package: str | None = None
    """The installed package; None for the plugin of a folder of definitions."""
    version: str | None = None
    state: Literal["loaded", "asleep", "broken"] = "loaded"
    """A folder's plugin is asleep until Toolmd calls a hook that it may implement."""
    about: str = ""
    """The first line of its docstring, or why it is broken."""
