"""Test the extension in a real VS Code: code-server, driven by Chromium.

The first run builds code-server in the cache: some minutes. It needs a C++ compiler, make
and on Debian libkrb5-dev, libsecret-1-dev, libxkbfile-dev and libx11-dev.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from node import CACHE, ROOT, extension, node, npm
from playwright.sync_api import Error, Page, expect, sync_playwright

sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests/lsp"))
from docs.browser import open_browser
from orchard import FILES, HARVEST, PICK

VERSION = "4.139.1"
SETTINGS = {
    "files.autoSave": "off",
    "workbench.startupEditor": "none",
    "chat.disableAIFeatures": True,
    "editor.minimap.enabled": False,
    "editor.acceptSuggestionOnEnter": "on",
    "toolmd.command": [sys.executable, "-m", "toolmd"],
}
SHOTS = CACHE / "shots"


def code_server() -> Path:
    """Return the program; build it first if the cache has none."""
    folder = CACHE / "cs"
    program = folder / "node_modules/.bin/code-server"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        npm("install", f"code-server@{VERSION}", "--foreground-scripts", folder=folder)
    return program


@contextmanager
def serving(scratch: Path, project: Path) -> Iterator[str]:
    """Serve VS Code with the extension on a project; yield its address."""
    program, vsix = code_server(), extension()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    user = scratch / "user"
    (user / "User").mkdir(parents=True)
    (user / "User/settings.json").write_text(json.dumps(SETTINGS))
    (scratch / "config.yaml").write_text(f"bind-addr: 127.0.0.1:{port}\nauth: none\ncert: false\n")
    own = ["--user-data-dir", str(user), "--extensions-dir", str(scratch / "extensions")]
    env = {**os.environ, "PATH": f"{node()}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([program, *own, "--install-extension", vsix], env=env, check=True)
    words = ["--config", str(scratch / "config.yaml"), "--disable-telemetry",
             "--disable-update-check", "--disable-workspace-trust"]  # fmt: skip
    with (scratch / "log").open("w") as log:
        running = subprocess.Popen(
            [program, *own, *words, project], env=env, stdout=log, stderr=log
        )
        try:
            yield f"http://127.0.0.1:{port}/?folder={project}"
        finally:
            running.terminate()
            running.wait()


def again(act: Callable[[], None]) -> None:
    """Act until it has the effect: VS Code drops keys while it is busy."""
    for _ in range(9):
        try:
            return act()
        except (AssertionError, Error):
            continue
    return act()


class Workbench:
    """A page that shows VS Code."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, name: str) -> None:
        file = Path(name).name
        tab = self.page.locator(f'.tab.active[data-resource-name="{file}"]')

        def opened() -> None:
            self.press("Escape")
            self.press("Control+p")
            self.page.locator(".quick-input-widget input").fill(file)
            row = f'.quick-input-list .monaco-list-row[aria-label^="{file}"]'
            self.page.locator(row).first.click(timeout=5_000)
            expect(tab).to_be_visible(timeout=5_000)

        again(opened)

    def go(self, line: int, column: int) -> None:
        def went() -> None:
            self.press("Control+g")
            self.page.locator(".quick-input-widget input").fill(f":{line}:{column}")
            self.press("Enter")
            place = f"Ln {line}, Col {column}"
            status = self.page.locator("#status\\.editor\\.selection", has_text=place)
            expect(status).to_be_visible(timeout=3_000)

        again(went)

    def at(self, name: str, after: str) -> None:
        """Open a file, and put the cursor behind a part of its text."""
        self.open(name)
        before = FILES[name][: FILES[name].index(after) + len(after)]
        self.go(before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)

    def press(self, keys: str) -> None:
        self.page.keyboard.press(keys)

    def command(self, title: str) -> None:
        self.press("F1")
        self.page.locator(".quick-input-widget input").fill(f">{title}")
        expect(self.page.locator(".quick-input-list .monaco-list-row").first).to_contain_text(title)
        self.press("Enter")

    def sees(self, selector: str, text: str) -> None:
        expect(self.page.locator(selector, has_text=text).first).to_be_visible()


def problems(bench: Workbench) -> None:
    """A misspelt type is a problem as one types, and its fix is one key away."""
    bench.at(PICK, "### treeName\n\n- **Type**: string")
    for _ in "string":
        bench.press("Backspace")
    bench.page.keyboard.type("strng")
    bench.press("Escape")
    expect(bench.page.locator(".squiggly-error").first).to_be_visible()
    bench.press("Control+Shift+m")
    bench.sees(".markers-panel .monaco-list-row", "unknown type 'strng'")
    bench.go(15, 15)
    action = bench.page.locator(".action-widget .monaco-list-row", has_text="string")

    def asked() -> None:
        bench.press("Control+.")
        expect(action.first).to_be_visible(timeout=5_000)

    again(asked)
    bench.press("Enter")
    expect(bench.page.locator(".squiggly-error")).to_have_count(0)


def completion(bench: Workbench) -> None:
    """Fields are offered behind a dot in an expression, with their types."""
    bench.at(PICK, "`amount > 20")
    bench.page.keyboard.type(" && basket.")
    bench.press("Control+Space")
    bench.sees(".suggest-widget .monaco-list-row", "owner")
    bench.press("Escape")
    for _ in " && basket.":
        bench.press("Backspace")


def hover(bench: Workbench) -> None:
    """A hover shows a value's type and limits."""
    bench.at(PICK, "basket.size >= amou")
    bench.command("Show or Focus Hover")
    bench.sees(".monaco-hover", "1 to 50")
    bench.press("Escape")


def definition(bench: Workbench) -> None:
    """F12 leads from a skill to the tool, and from the tool's name to its Python."""
    bench.at(HARVEST, "**Use**: pick")
    bench.press("F12")
    bench.sees(".tab.active", "pick-fruit.tool.md")
    bench.at(PICK, "**Name**: pick")
    bench.press("F12")
    bench.sees(".tab.active", "pick_fruit.py")


STEPS: list[Callable[[Workbench], None]] = [
    problems, completion, hover, definition,
]  # fmt: skip


def main() -> int:
    """Run each step in one VS Code; return 1 if any fails."""
    expect.set_options(timeout=40_000)
    SHOTS.mkdir(parents=True, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        scratch = Path(folder)
        project = scratch / "orchard"
        for name, text in FILES.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text)
        with serving(scratch, project) as address, open_browser(playwright.chromium) as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(60_000)
            _reach(page, address)
            bench = Workbench(page)
            for step in STEPS:
                began = time.monotonic()
                try:
                    step(bench)
                    words = "passed"
                except Exception as error:  # noqa: BLE001 - each step is reported
                    failed = 1
                    words = f"failed: {str(error).partition(chr(10))[0]}"
                page.screenshot(path=SHOTS / f"{step.__name__}.png")
                print(f"{step.__name__:12} {time.monotonic() - began:5.1f} s  {words}", flush=True)
        if failed:
            shutil.copy(scratch / "log", SHOTS / "log")
            print(f"pictures of each step: {SHOTS}")
    return failed


def _reach(page: Page, address: str) -> None:
    for _ in range(60):
        try:
            page.goto(address)
            break
        except Exception:  # noqa: BLE001 - the server is not listening yet
            page.wait_for_timeout(1000)
    page.locator(".explorer-folders-view .monaco-list-row").first.wait_for(timeout=240_000)


if __name__ == "__main__":
    sys.exit(main())
