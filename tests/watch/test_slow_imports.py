"""Python that takes long to import blocks nothing else and is reported."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from tests import warm_python
from watched_shop import Shop

from toolmd import Registry, Watcher, Workspace
from toolmd.hooks import hookimpl

PATIENCE = 30
"""Seconds until something is given up."""
ASKS = "\n## Safety\n\n- **Requires Confirmation**: true\n"
HANGS = "import time\ntime.sleep(3600)\ndef two(): return {}\n"
ENDS = {
    "KeyboardInterrupt": "raise KeyboardInterrupt\n",
    "SystemExit": "import sys\nsys.exit(3)\n",
    "GeneratorExit": "raise GeneratorExit\n",
    "RecursionError": "def deep(): return deep()\ndeep()\n",
    "Own": "class Own(BaseException): ...\nraise Own\n",
}


class Pipe:
    """What an import waits for, until the test lets it go on."""

    def __init__(self, at: Path) -> None:
        self._at = at
        os.mkfifo(at)

    @property
    def python(self) -> str:
        return (
            f"with open({str(self._at)!r}) as pipe:\n    SAID = pipe.read()\n"
            "def two(): return {'said': SAID}\n"
        )

    def let_go(self, words: str) -> None:
        self._at.write_text(words)


@pytest.fixture
def pipe(tmp_path_factory: pytest.TempPathFactory) -> Pipe:
    return Pipe(tmp_path_factory.mktemp("pipe") / "pipe")


def two_tools(shop: Shop, python: str) -> None:
    shop.tool("one", "", "def one(): return {}")
    shop.tool("two", "", python)


def late(workspace: Workspace) -> list[Any]:
    return [found for found in workspace.diagnostics if found.code == "import-timeout"]


def test_an_import_that_hangs_is_reported_with_its_line_the_deadline_and_the_remedy(
    shop: Shop,
) -> None:
    two_tools(shop, HANGS)
    ws = shop.open(import_timeout="0.3")

    (found,) = late(ws)

    assert (found.span.path, found.span.line, found.severity) == ("tools_md/two.py", 2, "error")
    assert "0.3 s" in found.message
    assert "time.sleep(3600)" in found.message
    assert "import_timeout" in found.help
    assert ws.call_sync("one").success
    assert "tools_md/two.tool.md" in found.message


def test_a_call_of_a_hanging_import_ends_with_the_reason(shop: Shop) -> None:
    two_tools(shop, HANGS)
    ws = shop.open(import_timeout="0.3")

    result = ws.call_sync("two")

    assert (result.outcome, result.error.code) == ("failed", "tool_error")
    assert "import_timeout" in result.error.message


@pytest.mark.parametrize("how", ENDS)
def test_python_that_ends_the_program_is_a_finding(shop: Shop, how: str) -> None:
    two_tools(shop, ENDS[how])
    ws = shop.open()

    (found,) = ws.diagnostics

    assert (found.code, found.span.path) == ("broken-implementation", "tools_md/two.py")
    assert how in found.message
    assert ws.call_sync("two").error.code == "tool_error"
    assert ws.call_sync("one").success


@pytest.mark.parametrize("how", ENDS)
def test_a_plugin_that_ends_the_program_is_a_finding(shop: Shop, how: str) -> None:
    two_tools(shop, "def two(): ...")
    shop.write("tools_md/plugin.py", ENDS[how])
    ws = shop.open()

    assert {str(found.code) for found in ws.diagnostics} == {"broken-plugin"}
    assert ws.call_sync("one").outcome == "denied"


class Raises:
    """A plugin whose hooks raise, or hang, when they are asked at load."""

    def __init__(self, hook: str, error: type[BaseException] | None) -> None:
        def answer(*_: Any, **__: Any) -> Any:
            if error is None:
                threading.Event().wait()
            else:
                raise error

        setattr(self, hook, hookimpl(answer))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, None])
@pytest.mark.parametrize("hook", ["toolmd_definitions", "toolmd_default_min", "toolmd_dialects"])
def test_a_hook_that_ends_or_hangs_at_load_leaves_its_plugin_out(
    shop: Shop, hook: str, error: type[BaseException] | None
) -> None:
    two_tools(shop, "def two(): return {}")
    with Workspace.open(
        shop.root, overrides={"import_timeout": 0.3}, plugins={"odd": Raises(hook, error)}
    ) as ws:
        (found,) = ws.diagnostics
        assert (found.code, found.span.path) == ("broken-plugin", "odd")
        assert ws.call_sync("two").success


def test_a_late_import_is_used_when_it_ends(shop: Shop, pipe: Pipe) -> None:
    two_tools(shop, pipe.python)
    ws = shop.open(import_timeout="0.3")
    assert late(ws)

    pipe.let_go("after all")

    for _ in range(PATIENCE * 10):
        if not (found := late(ws)):
            break
        threading.Event().wait(0.1)
    assert found == []
    assert ws.call_sync("two").data == {"said": "after all"}


class StreamedEvent:
    """The snapshots of a workspace, as they become live."""

    def __init__(self, workspace: Workspace) -> None:
        self._queue: SimpleQueue[Registry] = SimpleQueue()
        workspace.on_change(lambda _old, new: self._queue.put(new))

    def until(self, wanted: Any) -> Registry:
        while True:
            new = self._queue.get(timeout=PATIENCE)
            if wanted(new):
                return new


@pytest.fixture
def in_use(shop: Shop) -> Iterator[tuple[Workspace, StreamedEvent, Watcher]]:
    """A shop whose tools were called, under a watcher."""
    two_tools(shop, "def two(): return {'said': 'before'}")
    ws = shop.open(import_timeout="3")
    assert ws.call_sync("one").success
    assert ws.call_sync("two").success
    heard = StreamedEvent(ws)
    with Watcher(ws) as watcher:
        yield ws, heard, watcher


def asks(registry: Registry) -> bool:
    return registry.tools["one"].spec.safety.requires_confirmation is True


def test_an_import_that_hangs_delays_no_snapshot(
    shop: Shop, in_use: tuple[Workspace, StreamedEvent, Watcher], pipe: Pipe
) -> None:
    ws, heard, watcher = in_use
    old = ws.registry
    shop.write("tools_md/two.py", pipe.python)
    heard.until(lambda new: new is not old)

    shop.tool("one", ASKS)
    heard.until(asks)
    assert ws.call_sync("one").outcome == "confirm"

    threading.Thread(target=pipe.let_go, args=("now",), daemon=True).start()
    assert ws.call_sync("two").data == {"said": "now"}
    assert ws.diagnostics == ()
    assert watcher.problem == ""


def test_a_hanging_import_recovers_after_a_repair(
    shop: Shop, in_use: tuple[Workspace, StreamedEvent, Watcher]
) -> None:
    ws, heard, _ = in_use
    old = ws.registry
    shop.write("tools_md/two.py", HANGS)
    broken = heard.until(lambda new: new is not old)
    assert not ws.call_sync("two").success

    shop.write("tools_md/two.py", "def two(): return {'said': 'mended'}")
    heard.until(lambda new: new is not broken)

    assert ws.call_sync("two").data == {"said": "mended"}
    assert ws.diagnostics == ()


def typed(shop: Shop, *words: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    return warm_python.run(
        [sys.executable, "-m", "toolmd", *words, "--project", str(shop.root)],
        env={**os.environ, "TOOLMD_IMPORT_TIMEOUT": "0.5", "NO_COLOR": "1"},
        capture_output=True, text=True, check=False, timeout=60, **options,
    )  # fmt: skip


@pytest.mark.parametrize("python", [HANGS, *ENDS.values()])
def test_check_and_call_end_and_say_why(shop: Shop, python: str) -> None:
    two_tools(shop, python)

    checked = typed(shop, "check", "--output-format", "concise")
    assert checked.returncode == 1, checked
    assert "tools_md/two.py:" in checked.stdout

    called = typed(shop, "call", "two")
    assert called.returncode == 1, called
    assert "two" in called.stderr


def test_the_users_own_interrupt_ends_a_check_that_waits_for_an_import(
    shop: Shop, pipe: Pipe, tmp_path: Path
) -> None:
    begun = Pipe(tmp_path / "begun")
    two_tools(shop, f"open({str(tmp_path / 'begun')!r}, 'w').close()\n{pipe.python}")
    del begun
    process = warm_python.Popen(
        [sys.executable, "-m", "toolmd", "check", "--project", str(shop.root)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    (tmp_path / "begun").read_text()  # the import runs now
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)

    assert process.returncode != 0
