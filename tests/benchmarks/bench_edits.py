"""Measure what one edit costs among many tools: `python tests/benchmarks/bench.py edits`."""

import tempfile
import threading
import time
from pathlib import Path

import peers
from bench_start import project

from toolmd import Watcher, Workspace

GOALS = {1000: 50, 5000: 150}
"""Milliseconds of a reload, by the number of tools, on the reference machine."""
ROUNDS = 3
PATIENCE = 120


def edits():
    """Yield the milliseconds of a reload, without a change and with one file changed."""
    for count, goal in GOALS.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(project(place, count))
            with Workspace.open(folder) as workspace:
                _edit(folder, 0)
                workspace.reload()
                same = min(_seconds(workspace.reload) for _ in range(ROUNDS))
                changed = []
                for number in range(1, ROUNDS + 1):
                    _edit(folder, number)
                    changed.append(_seconds(workspace.reload))
                    assert _version(workspace) == f"1.0.{number}"
                title = f"a reload of {count:,} tools, nothing changed (ms)"
                yield title, same * 1e3, goal, ""
                title = f"a reload of {count:,} tools, one file changed (ms)"
                yield title, min(changed) * 1e3, goal, ""
                if count == min(GOALS):
                    title = f"from a save to live among {count:,} tools, the 150 ms included (ms)"
                    yield title, _save_to_live(folder, workspace) * 1e3, 700, "median of wall time"


def _save_to_live(folder, workspace):
    """Return the median seconds from a save until the snapshot that has it is live."""
    took = []
    live = threading.Event()
    workspace.on_change(lambda _old, _new: live.set())
    with Watcher(workspace):
        for number in range(100, 100 + 2 * ROUNDS + 1):
            live.clear()
            began = time.perf_counter()
            _edit(folder, number)
            assert live.wait(PATIENCE)
            took.append(time.perf_counter() - began)
            assert _version(workspace) == f"1.0.{number}"
    return sorted(took)[len(took) // 2]


def _version(workspace):
    return workspace.tools[peers.name_of(0)].spec.version


def _file(folder):
    return folder / "tools_md" / f"{peers.name_of(0)}.tool.md"


def _edit(folder, number):
    """Write another version of the first tool, by one atomic replacement."""
    file = _file(folder)
    lines = file.read_text("utf-8").splitlines(keepends=True)
    text = "".join(
        f"- **Version**: 1.0.{number}\n" if line.startswith("- **Version**") else line
        for line in lines
    )
    draft = folder / "draft"
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)


def _seconds(work):
    began = time.process_time()
    work()
    return time.process_time() - began
