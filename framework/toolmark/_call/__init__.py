"""The call path: one door, down the ladder, to a verdict and a result."""

from toolmark._call.context import CallContext, Listener, Resources, Scope
from toolmark._call.deadline import DEFAULT_S
from toolmark._call.door import Door
from toolmark._call.start import start

__all__ = ["DEFAULT_S", "CallContext", "Door", "Listener", "Resources", "Scope", "start"]
