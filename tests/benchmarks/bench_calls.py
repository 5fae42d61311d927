"""Measure calls against the bare function: `python tests/benchmarks/bench.py calls blocking`.

As shipped: a project that `Workspace.open` reads, with its audit, whatever else stands in the
default settings, and a deadline for each function that awaits. Lean: the same without the audit,
and a function that awaits nothing. Each lean row follows the row that it is the best case of.
"""

import asyncio
import gc
import json
import tempfile
import time
from pathlib import Path

from book import BOOKING

from toolmd import Workspace

ARGUMENTS = {
    "child_names": ["Emma", "Noah"],
    "appointment_time": "2026-03-05T09:00:00",
    "appointment_type": "exam",
}
GOOD = json.dumps(ARGUMENTS)
BAD = json.dumps({**ARGUMENTS, "appointment_type": "exm"})
SAFETY = """
## Safety

- **Min Confidence**: 0.7
- **Explicit Intent**: true
- **Intent Keywords**: book, schedule
"""
SAID = "Please book an exam for Emma and Noah on March 5 at nine"
PYTHON = '''\
"""A booking without any work, so that all that is measured is the way to it."""

import asyncio
import time


{define} {name}(child_names, appointment_time, appointment_type):
    """Return a booking."""
    {work}
    return {{
        "booking_id": f"A-{{len(child_names)}}",
        "status": "booked",
        "datetime": appointment_time,
        "appointment_type": appointment_type,
        "child_names": child_names,
    }}
'''
WORK = {"book": "", "book_later": "await asyncio.sleep(0)", "book_safely": "await asyncio.sleep(0)"}
BLOCKING = {"book_blocking": "", "book_slowly": "time.sleep(1)"}
POLICIES = {
    "book_slower": ("Rate", "## Limits\n\n- **Rate**: 1000000/s"),
    "book_few": ("Max Calls", "## Limits\n\n- **Max Calls**: 1000000"),
    "book_apart": ("Max Concurrent", "## Limits\n\n- **Max Concurrent**: 4"),
    "book_once": ("Idempotent `keyed`", ""),
    "book_asking": ("Requires Confirmation", "## Safety\n\n- **Requires Confirmation**: true"),
    "book_warily": ("Escalate When", '## Safety\n\n- **Escalate When**: `appointment_type == "x"`'),
}
"""Tools with a policy that needs the store, and the section that states it."""
ROUNDS, CALLS = 40, 200
AT_ONCE = 400


def calls():
    """Measure calls from JSON text through `Workspace.call` against the bare function."""
    with tempfile.TemporaryDirectory() as place:
        times = {}
        for lean in (False, True):
            with _opened(Path(place, str(lean)), lean=lean) as workspace:
                times[lean] = asyncio.run(_least(_makers(workspace)))
    # One denominator: the function that awaits nothing, awaited where it was quickest.
    bare = min(times[lean]["bare"] for lean in times)
    rows = [
        ("a valid call", "valid", 45, 25),
        ("the same of a user in a conversation", "conversing", 55, 35),
        ("a valid call of a function that awaits", "awaiting", 55, 35),
        ("the same with a confidence and an intent", "guarded", 65, 40),
        ("a denied call whose message is read", "denied", 90, 60),
    ]
    for title, name, shipped, lean in rows:
        for how, bound, of in (("as shipped", shipped, False), ("lean", lean, True)):
            took = times[of][name]
            note = f"{took * 1e6:.1f} µs; the function {bare * 1e6:.2f}"
            yield f"{title}, {how} / the bare function", took / bare, bound, note


def blocking():
    """Measure calls of functions that block, in their threads."""
    with tempfile.TemporaryDirectory() as place:
        for lean in (False, True):
            with _opened(Path(place, str(lean)), lean=lean) as workspace:
                least = asyncio.run(_least(_blocking_makers(workspace)))
                how = "lean" if lean else "as shipped"
                ratio = least["call"] / least["thread"]
                note = f"{least['call'] * 1e6:.0f} µs"
                yield f"a `def` tool, {how} / asyncio.to_thread", ratio, 2, note
                if not lean:
                    took, denied = asyncio.run(_at_once(workspace))
                    title = f"{AT_ONCE} calls at once of a function that blocks for 1 s"
                    yield f"{title}: denied", denied, 0, "as shipped"
                    yield f"{title} (s)", took, 5, "as shipped"


def policies():
    """Measure what a call costs whose policy or conversation needs the store, as shipped."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "tools_md").mkdir()
        (folder / "toolmd.toml").write_text("plugins = []\n", encoding="utf-8")
        for name, (_, section) in POLICIES.items():
            text = BOOKING.format(name=name) + f"\n{section}\n"
            if name == "book_once":
                text = text.replace("- **Category**", "- **Idempotent**: keyed\n- **Category**")
            _write(folder, name, text, "async def", "")
        with Workspace.open(folder) as workspace:
            made = iter(range(10**9))
            makers = {
                name: lambda name=name: workspace.call(
                    name, GOOD, context={"patient": "p1"}, user="ana",
                    conversation="c1", call_id=f"call-{next(made)}",
                )
                for name in POLICIES
            }  # fmt: skip
            least = asyncio.run(_least(makers, unchecked={"book_asking"}, rounds=8, calls=50))
        for name, (policy, _) in POLICIES.items():
            title = f"a call of a tool with {policy}, in a conversation (ms)"
            yield title, least[name] * 1e3, 8, "as shipped"


def _opened(folder, *, lean):
    """Write the project and open it as a user would."""
    (folder / "tools_md").mkdir(parents=True)
    settings = "plugins = []\n" + "audit = false\n" * lean
    (folder / "toolmd.toml").write_text(settings, encoding="utf-8")
    for name, work in {**WORK, **BLOCKING}.items():
        text = BOOKING.format(name=name) + SAFETY * (name == "book_safely")
        _write(folder, name, text, "def" if name in BLOCKING else "async def", work)
    return Workspace.open(folder)


def _write(folder, name, text, define, work):
    """Write a tool and its Python."""
    tools = folder / "tools_md"
    (tools / f"{name.replace('_', '-')}.tool.md").write_text(text, encoding="utf-8")
    python = PYTHON.format(define=define, name=name, work=work or "pass")
    (tools / f"{name}.py").write_text(python, encoding="utf-8")


async def bare(child_names, appointment_time, appointment_type):
    """Return a booking without any work."""
    return {
        "booking_id": f"A-{len(child_names)}",
        "status": "booked",
        "datetime": appointment_time,
        "appointment_type": appointment_type,
        "child_names": child_names,
    }


def _makers(workspace):
    call = workspace.call
    return {
        "bare": lambda: bare(**ARGUMENTS),
        "valid": lambda: call("book", GOOD, context={"patient": "p1"}),
        "conversing": lambda: call(
            "book", GOOD, context={"patient": "p1"}, user="ana", conversation="c1"
        ),
        "awaiting": lambda: call("book_later", GOOD, context={"patient": "p1"}),
        "guarded": lambda: call(
            "book_safely", GOOD, context={"patient": "p1"}, confidence=0.9, message=SAID
        ),
        "denied": lambda: _read(call("book", BAD, context={"patient": "p1"})),
    }


async def _read(calling):
    """Read the message of a denied call, as a model does: lean, it is written when it is read."""
    result = await calling
    assert result.error.code == "invalid_arguments"
    assert result.error.message
    return result


def _blocking_makers(workspace):
    def function():
        return {"booking_id": "A-2"}

    return {
        "thread": lambda: asyncio.to_thread(function),
        "call": lambda: workspace.call("book_blocking", GOOD, context={"patient": "p1"}),
    }


async def _least(makers, unchecked=("bare", "thread", "denied"), rounds=ROUNDS, calls=CALLS):
    """Return the least processor seconds of a call of each, taken in turns."""
    for name, make in makers.items():
        result = await make()
        assert name in unchecked or result.success, result
    least = dict.fromkeys(makers, 9.0)
    gc.disable()
    for _ in range(rounds):
        for name, make in makers.items():
            began = time.process_time()
            for _ in range(calls):
                await make()
            least[name] = min(least[name], (time.process_time() - began) / calls)
        gc.collect()
    gc.enable()
    return least


async def _at_once(workspace):
    """Return the seconds until all of many calls of a blocking function ended, and the denied."""
    began = time.perf_counter()
    made = (workspace.call("book_slowly", GOOD, context={"patient": "p1"}) for _ in range(AT_ONCE))
    results = await asyncio.gather(*made)
    return time.perf_counter() - began, sum(not result.success for result in results)
