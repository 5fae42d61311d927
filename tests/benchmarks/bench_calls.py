"""Measure calls against the bare function: `python tests/benchmarks/bench.py calls large policies`.

As shipped: a project that `Workspace.open` reads, with its audit, whatever else stands in the
default settings, and a deadline for each function that awaits.
"""

import asyncio
import gc
import json
import tempfile
import time
from pathlib import Path
from typing import Literal

from book import BOOKING
from pydantic import create_model

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


async def {name}(child_names, appointment_time, appointment_type):
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
WORK = {
    "book": "",
    "book_count": "return {'count': len(child_names)}",
    "book_later": "await asyncio.sleep(0)",
    "book_safely": "await asyncio.sleep(0)",
}
POLICIES = {
    "book_slower": ("Rate", "## Limits\n\n- **Rate**: 1000000/s"),
    "book_few": ("Max Calls", "## Limits\n\n- **Max Calls**: 1000000"),
    "book_counted": ("Quota", "## Limits\n\n- **Quota**: 1000000 calls per user ever"),
    "book_own": ("a rule over the caller", '## Rules\n\n- `caller.user == "ana"`: Only Ana.'),
    "book_apart": ("Max Concurrent", "## Limits\n\n- **Max Concurrent**: 4"),
    "book_once": ("Idempotent `keyed`", ""),
    "book_asking": ("Requires Confirmation", "## Safety\n\n- **Requires Confirmation**: true"),
    "book_warily": ("Crisis When", '## Safety\n\n- **Crisis When**: `appointment_type == "x"`'),
}
"""Tools with a policy that needs the store, and the section that states it."""
ROUNDS, CALLS = 40, 200


def calls():
    """Measure calls from JSON text through `Workspace.call` against the bare function."""
    with tempfile.TemporaryDirectory() as place:
        with _opened(Path(place, "shipped")) as workspace:
            times = asyncio.run(_least(_makers(workspace)))
        with _opened(Path(place, "unrecorded"), {"audit.enabled": False}) as workspace:
            unrecorded = asyncio.run(_least(_makers(workspace)))["valid"]
    bare = times["bare"]
    rows = [
        ("a valid call", times["valid"], 45),
        ("the same without the audit", unrecorded, 30),
        ("the same of a user in a conversation", times["conversing"], 400),
        ("a valid call of a function that awaits", times["awaiting"], 65),
        ("the same with a confidence and an intent", times["guarded"], 70),
        ("a denied call whose message is read", times["denied"], 85),
    ]
    for title, took, bound in rows:
        note = f"{took * 1e6:.1f} µs; the function {bare * 1e6:.2f}"
        yield f"{title} / the bare function", took / bare, bound, note


def large():
    """Measure arguments of 1 MB against pydantic's own check, and how long they hold the loop."""
    names = {"child_names": [f"child {number:06d}" for number in range(66_000)]}
    text = json.dumps({**ARGUMENTS, **names})
    types = Literal["exam", "cleaning", "exam_and_cleaning", "emergency"]
    checked = create_model(
        "Booking", child_names=(list[str], ...), appointment_time=(str, ...),
        appointment_type=(types, ...),
    )  # fmt: skip

    async def check():
        checked.model_validate_json(text)

    async def longest(making):
        calling, held = asyncio.create_task(making()), 0.0
        while not calling.done():
            began = time.perf_counter()
            await asyncio.sleep(0)
            held = max(held, time.perf_counter() - began)
        return held

    async def measure(call):
        least = await _least({"call": call, "pydantic": check}, ("pydantic",), 20, 1)
        return least, min([await longest(call) for _ in range(20)])

    with tempfile.TemporaryDirectory() as place, _opened(Path(place, "shipped")) as workspace:
        call = lambda: workspace.call("book_count", text, context={"patient": "p1"})  # noqa: E731
        least, held = asyncio.run(measure(call))
    note = f"{len(text) / 1e6:.1f} MB, {least['call'] * 1e3:.1f} ms"
    yield "a call with arguments of 1 MB / pydantic", least["call"] / least["pydantic"], 1.5, note
    yield (
        "the longest that they hold up the event loop (ms)",
        held * 1e3,
        7,
        "threads change each 5 ms",
    )


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
            _write(folder, name, text, "")
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


def _opened(folder, overrides=None):
    """Write the project and open it as a user would."""
    (folder / "tools_md").mkdir(parents=True)
    (folder / "toolmd.toml").write_text("plugins = []\n", encoding="utf-8")
    for name, work in WORK.items():
        text = BOOKING.format(name=name) + SAFETY * (name == "book_safely")
        _write(folder, name, text, work)
    return Workspace.open(folder, overrides=overrides)


def _write(folder, name, text, work):
    """Write a tool and its Python."""
    tools = folder / "tools_md"
    (tools / f"{name.replace('_', '-')}.tool.md").write_text(text, encoding="utf-8")
    python = PYTHON.format(name=name, work=work or "pass")
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
    """Read the message of a denied call, as a model does."""
    result = await calling
    assert result.error.code == "invalid_arguments"
    assert result.error.message
    return result


async def _least(makers, unchecked=("bare", "denied"), rounds=ROUNDS, calls=CALLS):
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
