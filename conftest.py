"""What holds for every test: properties take their time, runs live in memory, Ctrl-C is heard."""

import os
import signal

from hypothesis import settings

# What lands is judged by the same examples each time; new ones are tried on people's machines.
chosen = settings(deadline=None, derandomize="CI" in os.environ)
settings.register_profile("house", chosen)
settings.load_profile("house")
os.environ.setdefault("TOOLMARK_ENGINE", "memory")
# A shell starts what it puts into the background deaf to Ctrl-C, and what that starts stays so.
signal.signal(signal.SIGINT, signal.default_int_handler)
