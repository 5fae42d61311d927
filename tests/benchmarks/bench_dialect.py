"""Measure the worst known replies of 256 KiB: `python tests/benchmarks/bench_dialect.py`."""

import contextlib
import json
import sys
import time

from toolmd._dialect import parse_reply
from toolmd.errors import MalformedReplyError

SIZE = 256 * 1024
BOUND_MS = 50
MARKER = "[TOOL_CALL:"
GOOD = '[TOOL_CALL:{"tool":"a","parameters":{}}]'
TAIL = "\n`[TOOL_CALL:` `Action:` \n```\n{}\n```\nend"
"""Makes every text dialect look for the quotes around its own marker."""


def filled(piece, tail=GOOD, head=""):
    """Give `head`, as many pieces as there is room for, and `tail`."""
    return (
        head + piece * ((SIZE - len(head.encode() + tail.encode())) // len(piece.encode())) + tail
    )


def argument(piece, end=""):
    """Give one call whose argument is full of the piece."""
    return filled(piece, f"{end}]}}}}]", '[TOOL_CALL:{"tool":"a","parameters":{"a":[')


def native(arguments):
    """Give a chat message with these arguments, as JSON text."""
    call = {"function": {"name": "a", "arguments": arguments}}
    return json.dumps({"role": "assistant", "tool_calls": [call]})


def replies():
    """Give the replies by what is hostile in them."""
    room = SIZE - 200
    return {
        "markers": filled(MARKER),
        "markers and braces": filled(MARKER + "{"),
        "markers in code": filled(f"`{MARKER}`"),
        "markers in quotations": filled(f"> {MARKER}\n"),
        "good calls": filled(GOOD),
        "an unclosed string": filled("a", "", MARKER + '{"a":"'),
        "deep lists": filled("[", "", MARKER + '{"parameters":'),
        "deep objects": filled('{"a":', "", MARKER),
        "empty lists": argument("[],", "1"),
        "empty objects": argument("{},", "1"),
        "small objects": argument('{"":1},', "1"),
        "numbers": argument("1e0,", "1"),
        "a huge number": argument("9"),
        "huge numbers": argument("9" * 4300 + ",", "1"),
        "escaped quotes": argument('\\"', '"').replace('"a":[', '"a":["', 1),
        "surrogates": argument("\\ud800", '"').replace('"a":[', '"a":["', 1),
        "backticks on lines": filled("`\n"),
        "backticks in a line": filled("` "),
        "backticks of all lengths": "".join("`" * n + " " for n in range(1, 700)) + GOOD,
        "fences": filled("```\n"),
        "fenced lines": filled("```\nx\n```\n"),
        "unclosed fences": filled("``` `\n"),
        "tildes": filled("~~~ a\n"),
        "lines": filled("\n", "`" + GOOD),
        "short lines in code": filled("a\n", "`" + GOOD, "`"),
        "indented lines in code": filled(" a\n", "`" + GOOD, "`"),
        "backslashes": filled("\\`"),
        "spaces": filled(" "),
        "list markers": filled("- "),
        "all readers, few fences": ("```\n```\n" * 600) + TAIL,
        "all readers, few spans": ("`a` " * 900) + TAIL,
        "actions": filled("Action:", ""),
        "actions in fences": filled("```\nAction: {}\n```\n", ""),
        "actions and fences": filled("Action: ```\n", ""),
        "braces": filled("{\n", ""),
        "braces behind words": filled("x{\n", ""),
        "braces in code": filled("`\n{\n`\n", ""),
        "fenced braces": filled("```\n{\n```\n", ""),
        "keys": filled('{"\n', ""),
        "a list of objects": filled('{"a":1},', "1]", "["),
        "parts": filled("{},", '{}],"role":"assistant"}', '{"content":['),
        "deep arguments": native("[" * room),
        "flat arguments": native('{"a":[' + "[]," * (room // 3) + "1]}"),
        "half surrogates": filled("\ud800".encode(errors="surrogatepass").decode("latin-1")),
    }


def slowest(reply, repeat=3):
    """Give the milliseconds of the slowest dialect, each at its best of some runs."""
    worst = 0.0
    for dialect in ("auto", "inline", "action", "plan", "openai", "anthropic"):
        best = float("inf")
        for _ in range(repeat):
            start = time.perf_counter()
            with contextlib.suppress(MalformedReplyError):
                parse_reply(reply, dialect)
            best = min(best, time.perf_counter() - start)
        worst = max(worst, best * 1e3)
    return worst


def main():
    """Print every reply's worst time; 1 where one is beyond the bound."""
    measured = sorted(((slowest(reply), name) for name, reply in replies().items()), reverse=True)
    for milliseconds, name in measured:
        sys.stdout.write(f"{milliseconds:8.1f} ms  {name}\n")
    worst, name = measured[0]
    sys.stdout.write(f"worst: {worst:.1f} ms ({name}); bound: {BOUND_MS} ms\n")
    return int(worst > BOUND_MS)


if __name__ == "__main__":
    sys.exit(main())
