"""What holds for every test: properties take their time, and runs live in memory."""

import os

from hypothesis import settings

settings.register_profile("house", settings(deadline=None))
settings.load_profile("house")
os.environ.setdefault("TOOLMARK_ENGINE", "memory")
