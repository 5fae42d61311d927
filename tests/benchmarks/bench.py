"""Measure the figures of the README: `python tests/benchmarks/bench.py [NAME…] [--json]`.

Each figure is a ratio, or a time under a bound, within one run; nothing is compared with another
machine. Times are processor time, which other work changes little. Exit code 1 where a figure is
beyond its bound.
"""

import argparse
import gc
import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path

import bench_calls
import bench_cut
import bench_dialect
import bench_edits
import bench_gateway
import bench_reload
import bench_servers
import bench_start
from book import BOOKING

FILES = 1000


def best(measure, rounds=60):
    """Give the least seconds of so many rounds, the collector of garbage held off."""
    gc.disable()
    try:
        return min(measure() for _ in range(rounds))
    finally:
        gc.enable()


def _project(folder):
    tools = Path(folder) / "tools_md"
    tools.mkdir()
    for number in range(FILES):
        name = f"book_appointment_{number}"
        file = tools / f"{name.replace('_', '-')}.tool.md"
        file.write_text(BOOKING.format(name=name), encoding="utf-8")
    (Path(folder) / "toolmd.toml").write_text("plugins = []\nskills = []\n", encoding="utf-8")
    return tools


def _timed(work):
    def measure():
        began = time.process_time()
        work()
        return time.process_time() - began

    return measure


def loading():
    """Measure opening a project of 1,000 tool files, with and without its cache."""
    import shutil

    from markdown_it import MarkdownIt

    from toolmd import Workspace

    with tempfile.TemporaryDirectory() as folder:
        tools = _project(folder)

        def read():
            for file in sorted(tools.iterdir()):
                hashlib.sha256(file.read_bytes()).digest()

        def blocks():
            reader = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")
            reader.core.ruler.disable(["inline", "text_join"])
            for file in sorted(tools.iterdir()):
                reader.parse(file.read_text(encoding="utf-8"))

        def opened():
            with Workspace.open(folder) as workspace:
                assert len(workspace.tools) == FILES

        def cold():
            shutil.rmtree(Path(folder) / ".toolmd", ignore_errors=True)
            opened()

        opened()
        floor, warm = best(_timed(read), 5), best(_timed(opened), 5)
        parsed, without = best(_timed(blocks), 2), best(_timed(cold), 2)
    yield f"{FILES} files, warm / read and hash", warm / floor, 2.6, f"{warm * 1e3:.0f} ms"
    yield f"{FILES} files, no cache / block parse", without / parsed, 2, f"{without:.2f} s"


PATHOLOGICAL = {
    "brackets": "[",
    "images": "![",
    "emphasis": "*a_ ",
    "quotes": ">",
    "deep list": "  - a\n",
    "backticks": "`a``",
    "tables": "|a",
    "html": "<!--",
    "entities": "&#9999;",
    "headings": "# a\n",
    "bullets": "- **a**: b\n",
    "parameters": "### a\n\n- **Type**: string\n\n",
    "links": "[a](",
    "autolinks": "<a@",
    "nested bullets": "- - - - ",
    "references": "[a]: b\n",
    "front matter": "a: [",
    "zero width": "\u200b",
}


def pathological():
    """Measure the worst known texts at the cap of 64 KiB."""
    from toolmd import parse_tool

    slowest, worst = 0.0, ""
    heads = {"": "", " in a tool": BOOKING.format(name="a"), " in front matter": "---\n"}
    for name, piece in PATHOLOGICAL.items():
        for where, head in heads.items():
            text = head + piece * ((65536 - len(head.encode())) // len(piece.encode()))
            began = time.perf_counter()
            parse_tool(text, "a.tool.md")
            took = time.perf_counter() - began
            if took > slowest:
                slowest, worst = took, name + where
    yield "the worst text of 64 KiB (s)", slowest, 1.5, worst


def replies():
    """Measure the worst known replies of a model (256 KiB)."""
    found = bench_dialect.main()
    yield "replies beyond 50 ms", found, 0, ""


BENCHES = {
    "calls": bench_calls.calls,
    "blocking": bench_calls.blocking,
    "policies": bench_calls.policies,
    "loading": loading,
    "pathological": pathological,
    "replies": replies,
    "cut": bench_cut.cut,
    "start": bench_start.start,
    "many": bench_start.many,
    "edits": bench_edits.edits,
    "gateway": bench_gateway.gateway,
    "servers": bench_servers.servers,
    "reload": bench_reload.reload,
    "torn": bench_reload.torn,
}
LONG = {"torn"}
"""Minutes: only where it is named."""


def main():
    """Measure what was named, or everything that does not take minutes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHES], help="what to measure")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    names = options.names or [name for name in BENCHES if name not in LONG]
    rows = [row for name in names for row in BENCHES[name]()]
    if options.json:
        keys = ("figure", "value", "bound", "note")
        print(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], ensure_ascii=False))
    else:
        for figure, value, bound, note in rows:
            mark = "ok " if value <= bound else "OVER"
            print(f"{mark:4} {value:8.2f} ≤ {bound:<5} {figure}  {note}")
    return int(any(value > bound for _, value, bound, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
