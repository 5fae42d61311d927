"""Measure the figures of the README: `python tests/benchmarks/bench.py [NAME…] [--json]`.

Each figure is a ratio, or a time under a bound, within one run; nothing is compared with another
machine. Times are processor time, which other work changes little. Exit code 1 where a figure is
beyond its bound.
"""

import argparse
import json
import sys
import time

import bench_calls
import bench_edits
import bench_gateway
import bench_reload
import bench_servers
import bench_start
from book import BOOKING

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


BENCHES = {
    "calls": bench_calls.calls,
    "large": bench_calls.large,
    "policies": bench_calls.policies,
    "pathological": pathological,
    "start": bench_start.start,
    "many": bench_start.many,
    "edits": bench_edits.edits,
    "gateway": bench_gateway.gateway,
    "http": bench_servers.http,
    "servers": bench_servers.servers,
    "reload": bench_reload.reload,
}


def main():
    """Measure what was named, or everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHES], help="what to measure")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    names = options.names or BENCHES
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
