"""Take the pictures of the console; `make pictures` runs it, and needs a Chromium."""

import datetime as dt
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.browser import NoBrowserError, open_browser
from playwright.sync_api import Page, ViewportSize, sync_playwright

ROOT = Path(__file__).parents[1]
PICTURES = Path(__file__).parent / "pictures"
SIZE: ViewportSize = {"width": 1280, "height": 860}
LARGEST = 300_000
"""The most bytes that a picture may have."""
_NOW = dt.date.today()  # noqa: DTZ011 - the day on this machine, where the clinic is served
TODAY = str(_NOW + dt.timedelta(days=7 - _NOW.weekday()))
"""The first day of the clinic's sample data: the next Monday, as visits of the past are denied."""
TOOL = "tools_md/appointment"


def main() -> None:
    """Copy the clinic, and take each picture."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as scratch, sync_playwright() as playwright:
        try:
            opened = open_browser(playwright.chromium)
        except NoBrowserError as error:
            sys.exit(str(error))
        project = Path(scratch) / "clinic"
        for name in ("tools_md", "skills_md"):
            shutil.copytree(ROOT / name, project / name)
        (project / "toolmd.toml").write_text("plugins = []\n")
        toolmd("clinic", "seed", f"--today={TODAY}", f"--project={project}")
        with served(project) as link:
            page = opened.new_page()
            page.set_default_timeout(120_000)  # A busy machine takes its time.
            page.goto(link)
            page.wait_for_selector("[data-feed=live]")
            for name, scene in SCENES.items():
                page.set_viewport_size(SIZE)
                page.emulate_media(color_scheme="light")
                scene(page, project)
                file = PICTURES / f"console-{name}.png"
                page.screenshot(path=file, animations="disabled")
                print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1000} KB")
                assert file.stat().st_size < LARGEST
        opened.close()


def toolmd(*words: str) -> None:
    """Run the command line of this environment."""
    command = [sys.executable, "-m", "toolmd", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def served(project: Path) -> Iterator[str]:
    """Serve a project, and yield the link to its console."""
    command = [sys.executable, "-m", "toolmd", "dev", f"--project={project}", "--port=0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            found = next(filter(None, (re.search(r"http\S+#\S+", line) for line in server.stdout)))
            yield found[0]
        finally:
            server.terminate()


def go(page: Page, path: str) -> None:
    """Open a page of the console, and wait until it follows the events."""
    page.goto(re.sub(r"(//[^/]+).*", r"\1", page.url) + path)
    page.wait_for_selector("[data-feed=live]")


def tool(page: Page, _project: Path) -> None:
    """Show the markdown and the export of a tool."""
    go(page, "/tools/book_appointment")


def tried(page: Page, _project: Path) -> None:
    """Show the form of a tool, and the checks of one call."""
    go(page, "/tools/book_appointment")
    page.get_by_role("button", name="Brother and sister").click()
    page.locator("[name=context]").fill("patient=P-1001")
    page.get_by_role("button", name="Dry run").click()
    page.wait_for_selector(".check.is-pending")
    page.locator("#try").evaluate("title => scrollTo(0, title.offsetTop - 24)")


def run(page: Page, _project: Path) -> None:
    """Show a skill's run that waits for a person."""
    go(page, "/skills/schedule_appointment")
    values = {"patientId": "P-1001", "date": TODAY, "numChildren": "2", "parentPhone": "+1214555"}
    for key, value in values.items():
        page.locator(f".field[data-key='{key}'] > input").fill(value)
    page.locator(".field[data-key='timeRange'] select").select_option(label="morning")
    page.locator("[name=user]").fill("elena")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".step.waiting")
    page.wait_for_selector("nav .badge")
    page.set_viewport_size({"width": 1280, "height": 1180})
    page.emulate_media(color_scheme="dark")
    page.evaluate("scrollTo(0, 0)")


def waiting(page: Page, _project: Path) -> None:
    """Show the pending call of the run, with the form to edit it."""
    go(page, "/pending")
    page.get_by_role("button", name="Edit…").click()


def catalogue(page: Page, project: Path) -> None:
    """Show the catalogue after two saves: one weakens a policy, one breaks a file."""
    replaced(
        project / TOOL / "book-appointment.tool.md", "Confirmation**: true", "Confirmation**: false"
    )
    replaced(project / TOOL / "cancel-appointment.tool.md", "**Type**: string", "**Type**: strng")
    go(page, "/")
    page.wait_for_selector("mark:text('strng')")
    page.wait_for_selector(".slip")


def replaced(file: Path, old: str, new: str) -> None:
    """Replace a text in a file."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


SCENES: dict[str, Callable[[Page, Path], None]] = {
    "tool": tool,
    "tried": tried,
    "run": run,
    "waiting": waiting,
    "catalogue": catalogue,
}

if __name__ == "__main__":
    main()
