"""What tests of tools and of their hosts need: a workspace from text, a clock, a scripted model."""

from toolmark.testing.clock import FakeClock
from toolmark.testing.model import ModelServer, RawReply, ScriptedModel, asking
from toolmark.testing.workspace import FOLDER, memory_workspace

__all__ = [
    "FOLDER",
    "FakeClock",
    "ModelServer",
    "RawReply",
    "ScriptedModel",
    "asking",
    "memory_workspace",
]
