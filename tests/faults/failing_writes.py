"""Run one command again and again, its n-th change of the disk failing: `failing_writes.py FOLDER`.

Reads JSON from stdin: `files`, a project's by path, and `argv`, the command. Gives, as JSON, what
an undisturbed run left, and for each way of failing and each n what the command said and left, and
what came of the same command afterwards, where it had failed. Each way ends with the first n that
is never reached. It is a process of its own: what lets writes fail there can't be taken off again.
"""

import errno
import json
import os
import pkgutil
import resource
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import toolmd._cli
import toolmd._workspace
from toolmd._cli.main import main

CHANGES = {"os.rename", "os.mkdir", "os.link", "os.chmod", "os.truncate"}
"""Beside opening a file to write in it."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
WAYS = ("once", "no room")
ROOMS = (0, 100, 3000)
"""How large a file may get, in bytes, one after the other."""


def fail(way: str, number: int, folder: str, told: int) -> None:
    """Let changes below the folder fail in this process; the first that does is told."""
    if way == "no room":
        size = ROOMS[number - 1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        return
    seen = 0

    def hook(event: str, given: tuple[Any, ...]) -> None:
        nonlocal seen
        if event not in CHANGES and (event != "open" or not (given[2] or 0) & WRITES):
            return
        if not str(given[0]).startswith(folder):
            return
        seen += 1
        if seen == number:
            os.write(told, b"x")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(given[0]))

    sys.addaudithook(hook)


def attempt(folder: Path, argv: list[str], way: str = "", number: int = 0) -> dict[str, Any]:
    """Run the command in a child; give what it said and left, and whether something failed."""
    pipes = [os.pipe() for _ in range(3)]
    child = os.fork()
    if child == 0:
        code = 99
        try:
            for descriptor, (_, writer) in zip((1, 2), pipes, strict=False):
                os.dup2(writer, descriptor)
            os.chdir(folder)
            if way:
                fail(way, number, str(folder), pipes[2][1])
            sys.argv = ["toolmd", *argv]
            code = int(main() or 0)
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    said = []
    for reader, writer in pipes:
        os.close(writer)
        with os.fdopen(reader, "rb") as opened:
            said.append(opened.read().decode(errors="replace"))
    _, status = os.waitpid(child, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "said": said[1] + said[0],
        "reached": bool(said[2]) or way == "no room",
        "files": contents(folder),
    }


def contents(folder: Path) -> dict[str, str]:
    """Give every file of the project by its path, but those of its state."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".toolmd" not in path.parts and "__pycache__" not in path.parts
    }


def project(root: Path, name: str, files: dict[str, str]) -> Path:
    """Write a fresh project."""
    folder = root / name / "project"
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def everything(root: Path, files: dict[str, str], argv: list[str]) -> dict[str, Any]:
    """Give what an undisturbed run and each disturbed one came to."""
    whole = attempt(project(root, "whole", files), argv)
    broken = []
    for way in WAYS:
        for number in range(1, len(ROOMS) + 1 if way == "no room" else 200):
            folder = project(root, "broken", files)
            tried = attempt(folder, argv, way, number)
            if not tried["reached"]:
                break
            again = attempt(folder, argv) if tried["code"] else tried
            broken.append({"way": way, "number": number, **tried, "again": again})
    return {"whole": whole, "broken": broken}


if __name__ == "__main__":
    # What a child needs is there before it is made: a start of its own would cost a second.
    for room in (toolmd._cli, toolmd._workspace):
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            import_module(found.name)
    given = json.load(sys.stdin)
    json.dump(everything(Path(sys.argv[1]), given["files"], given["argv"]), sys.stdout)
