"""What holds for every test: properties take their time, runs live in memory, Ctrl-C is heard."""

import os
import signal

from hypothesis import settings

settings.register_profile("house", settings(deadline=None))
settings.load_profile("house")
os.environ.setdefault("TOOLMARK_ENGINE", "memory")
# A shell starts what it puts into the background deaf to Ctrl-C, and what that starts stays so.
signal.signal(signal.SIGINT, signal.default_int_handler)
