"""The call path: one door, down the ladder, to a verdict and a result."""

from toolmd._call.door import Door
from toolmd._call.invoke.context import CallContext, Resources, ResourceScope
from toolmd._call.invoke.start import start
from toolmd._call.off_loop import off_loop

__all__ = ["CallContext", "Door", "ResourceScope", "Resources", "off_loop", "start"]
