"""A project that is watched and served, and a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_project import ServedProject, Visitor


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedProject]:
    with ServedProject(tmp_path / "project") as started:
        yield started


# While Playwright is at work its event loop is the thread's: it must end before tests elsewhere
# begin loops of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from docs.browser import NoBrowserError, open_browser

    api.expect.set_options(timeout=15_000)
    with api.sync_playwright() as playwright:
        try:
            opened = open_browser(playwright.chromium)
        except NoBrowserError as error:
            pytest.skip(str(error))
        yield opened
        opened.close()


@pytest.fixture
def visitor(browser: Any, served: ServedProject) -> Iterator[Visitor]:
    came = Visitor(browser, served, viewport={"width": 1280, "height": 900})
    yield came
    came.context.close()
    assert came.complaints == []
