"""The call pipeline: the dispatcher, the checks, the verdict and the result."""

from toolmd._call.context import CallContext, Resources, ResourceScope
from toolmd._call.dispatcher import Dispatcher
from toolmd._call.invoke import start
from toolmd._call.threads import in_daemon_thread

__all__ = ["CallContext", "Dispatcher", "ResourceScope", "Resources", "in_daemon_thread", "start"]
