"""What holds for every test: time for properties, and runs in memory but where a test keeps them."""

import os

from hypothesis import settings

settings.register_profile("house", settings(deadline=None))
settings.load_profile("house")
os.environ.setdefault("TOOLMARK_ENGINE", "memory")
