"""The workspace: the one package that imports all workers and combines them."""

from toolmd._workspace.plugins import plugin_commands
from toolmd._workspace.workspace import Workspace

__all__ = ["Workspace", "plugin_commands"]
