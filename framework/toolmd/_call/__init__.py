"""The call pipeline: the dispatcher, the checks, the verdict and the result."""

from toolmd._call.daemon_thread import in_daemon_thread
from toolmd._call.dispatcher import Dispatcher
from toolmd._call.invoke.context import CallContext, Resources, ResourceScope
from toolmd._call.invoke.work import start

__all__ = ["CallContext", "Dispatcher", "ResourceScope", "Resources", "in_daemon_thread", "start"]
