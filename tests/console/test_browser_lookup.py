"""A browser is found where Playwright put it, and on the PATH."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ROOT = Path(__file__).parents[2]
OPEN = """
import sys
from playwright.sync_api import sync_playwright
from docs.browser import NoBrowserError, open_browser
with sync_playwright() as playwright:
    try:
        print(open_browser(playwright.chromium, path=sys.argv[1]).version)
    except NoBrowserError as error:
        sys.exit(str(error))
"""


def opened(cache: Path, path: str) -> subprocess.CompletedProcess[str]:
    # A process of its own: Playwright's driver reads where its browsers lie when it starts.
    return subprocess.run(
        [sys.executable, "-c", OPEN, path],
        cwd=ROOT,
        env=os.environ | {"PLAYWRIGHT_BROWSERS_PATH": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def installed() -> Path:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on the PATH to lay into Playwright's folder")
    return Path(found)


def test_playwrights_own_browser_is_found_without_one_on_the_path(installed, tmp_path):
    place = re.search(r"doesn't exist at ([^;)]+)", opened(tmp_path, "").stderr)
    assert place is not None
    program = Path(place[1].strip())
    assert program.is_relative_to(tmp_path)
    program.parent.mkdir(parents=True)
    program.symlink_to(installed)
    done = opened(tmp_path, "")
    assert re.fullmatch(r"[\d.]+\n", done.stdout), done.stderr


def test_a_browser_on_the_path_is_found_by_the_last_of_its_names(installed, tmp_path):
    (tmp_path / NAMES[-1]).symlink_to(installed)
    done = opened(tmp_path / "none", str(tmp_path))
    assert re.fullmatch(r"[\d.]+\n", done.stdout), done.stderr


def test_where_no_browser_starts_the_message_says_how_to_install_one(tmp_path):
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    done = opened(tmp_path, "")
    assert done.returncode == 1
    assert "playwright install chromium" in done.stderr
