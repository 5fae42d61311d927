"""Find a Chromium for the tests and the pictures: Playwright's own first, then the PATH's."""

import shutil

from playwright.sync_api import Browser, BrowserType, Error

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
"""The names of Chromium on the PATH."""
REMEDY = "playwright install chromium, or on Debian: apt-get install chromium-headless-shell"


class NoBrowserError(Exception):
    """Raised if neither Playwright nor the PATH has a Chromium that starts."""


def open_browser(chromium: BrowserType, path: str | None = None) -> Browser:
    """Open the first Chromium that starts.

    Args:
        chromium: Playwright's browser type, with the browsers that Playwright installed.
        path: The folders to search after that, in the form of PATH; None searches PATH.

    Raises:
        NoBrowserError: No Chromium starts; the message names the remedy.

    """
    found = [None, *filter(None, (shutil.which(name, path=path) for name in NAMES))]
    reasons = []
    for program in found:
        try:
            # --no-sandbox: in CI the tests run as root, where Chromium's sandbox does not start.
            return chromium.launch(executable_path=program, args=["--no-sandbox"])
        except Error as error:
            reasons.append(error.message.strip().partition("\n")[0])
    raise NoBrowserError(f"no Chromium starts here: {REMEDY} ({'; '.join(reasons)})")
