"""Helpers for tests of tools and hosts: a workspace from text, a clock, a scripted model."""

from toolmd.testing.clock import FakeClock
from toolmd.testing.model import ModelServer, RawReply, ScriptedModel, asking
from toolmd.testing.workspace import FOLDER, memory_workspace

__all__ = [
    "FOLDER",
    "FakeClock",
    "ModelServer",
    "RawReply",
    "ScriptedModel",
    "asking",
    "memory_workspace",
]
