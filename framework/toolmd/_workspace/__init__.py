"""The waist: the one room that knows the workers and puts them together."""

from toolmd._workspace.plugins import plugin_commands
from toolmd._workspace.workspace import Workspace

__all__ = ["Workspace", "plugin_commands"]
