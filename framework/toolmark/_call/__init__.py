"""The call path: one door, down the ladder, to a verdict and a result."""

from toolmark._call.door import Door
from toolmark._call.invoke.context import CallContext, Resources, ResourceScope
from toolmark._call.invoke.start import start

__all__ = ["CallContext", "Door", "ResourceScope", "Resources", "start"]
