"""Count the files and functions that a call, a reply, a file and a durable run enter.

`python tests/benchmarks/trace_path.py` prints a row for each; with a name, such as `call`, it lists
the functions in order. Everything is warm: each path runs once before it is traced.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import toolmd
from toolmd import Workspace, parse_tool

SOURCE = str(Path(toolmd.__file__).parent) + "/"
TOOL = """\
# Greet

Greet a person.

## Metadata

- **Name**: greet
- **Version**: 1.0.0
- **Category**: talk
- **Read Only**: yes

## Parameters

### name

- **Type**: string
- **Required**: true
- **Description**: The person
- **Max Length**: 20

## Returns

- **Type**: object
- **Description**: The greeting

## Safety

- **Min Confidence**: 0.5
"""
PYTHON = "async def greet(name):\n    return {'text': f'Hello, {name}'}\n"
SKILL = """\
# Greet Twice

Greet a person twice.

## Metadata

- **Name**: greet_twice
- **Version**: 1.0.0
- **Category**: talk
- **Required Tools**: greet
- **Durable**: yes

## Input Schema

### name

- **Type**: string
- **Required**: true
- **Description**: The person

## Workflow

1. **Greet**.
   - **Use**: greet
   - **With**:
     - name: `name`

2. **Greet again**.
   - **Use**: greet
   - **With**:
     - name: `name`

## Output Schema

- **Type**: object (SkillResult)
"""
REPLY = 'Gladly. Action: {"tool": "greet", "args": {"name": "Ana", "_confidence": 0.9}}'


class Tracer:
    """The functions of Toolmd that a path enters, each with its file, in all threads."""

    def __init__(self) -> None:
        """Watch this thread and those that start from now on."""
        self._entered: list[tuple[str, str]] | None = None
        self._frames: set[FrameType] = set()
        threading.setprofile(self._enter)
        sys.setprofile(self._enter)

    def trace(self, path: Callable[[], Any]) -> list[tuple[str, str]]:
        """Return what a path enters the second time."""
        path()
        self._entered = entered = []
        path()
        self._entered = None
        return entered

    def _enter(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event != "call" or self._entered is None or code.co_name.startswith("<"):
            return  # A comprehension is a part of its function.
        # A coroutine that is resumed has the frame with which it began.
        if code.co_filename.startswith(SOURCE) and frame not in self._frames:
            self._frames.add(frame)
            self._entered.append((code.co_filename.removeprefix(SOURCE), code.co_qualname))


def measure(folder: Path, tracer: Tracer, wanted: str | None) -> None:
    """Print a row for each path through a project in this folder."""
    with Workspace.open(folder, overrides={"plugins": []}) as workspace, asyncio.Runner() as runner:

        async def call() -> None:
            assert (await workspace.call("greet", {"name": "Ana"}, 0.9)).success

        async def denied() -> None:
            assert (await workspace.call("greet", {"name": 1}, 0.9)).error is not None

        async def handle() -> None:
            assert (await workspace.handle(REPLY, "action")).results[0].success

        async def run() -> None:
            assert (await workspace.run("greet_twice", {"name": "Ana"}, confidence=0.9)).success

        paths: dict[str, Callable[[], Any]] = {
            "call": lambda: runner.run(call()),
            "denied": lambda: runner.run(denied()),
            "handle": lambda: runner.run(handle()),
            "parse": lambda: parse_tool(TOOL, "greet.tool.md"),
            "run": lambda: runner.run(run()),
        }
        for name, path in paths.items():
            if wanted in {None, name}:
                report(name, tracer.trace(path), listed=wanted is not None)


def report(name: str, entered: list[tuple[str, str]], *, listed: bool) -> None:
    """Print the counts of a path: files, functions, and switches from one file to another."""
    files = [file for file, _ in entered]
    switches = sum(one != other for one, other in pairwise(files))
    back = sum(
        one == other != between
        for one, between, other in zip(files, files[1:], files[2:], strict=False)
    )
    if listed:
        print(*(f"{file:48} {function}" for file, function in entered), sep="\n")
    print(
        f"{name:12} {len(set(files)):4} files {len(set(entered)):4} functions"
        f" {switches:4} switches, {back:3} of them straight back"
    )


def main(wanted: str | None) -> None:
    """Print the rows."""
    tracer = Tracer()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "tools_md").mkdir()
        (folder / "skills_md").mkdir()
        (folder / "tools_md/greet.tool.md").write_text(TOOL)
        (folder / "tools_md/greet.py").write_text(PYTHON)
        (folder / "skills_md/greet-twice.skill.md").write_text(SKILL)
        measure(folder, tracer, wanted)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
