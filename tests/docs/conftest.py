"""Run the code blocks of a page in order, in a folder of its own.

The info string shows the kind of a block:

- `console`: lines after `$ ` (continued after `> `) run in a shell and their output is
  compared, where `...` matches anything; the last command must exit with `exit=N`, or 0 without
  it. Outside of the README, a plain `toolmd` command runs in this process;
- a language and `title="FILE"`: the block is written to that file; `into="FILE"` adds it there;
- `python`: executed, with `await` allowed; a `text output` block after it shows its output;
- `sh`: not executed; `make` must have the target, `toolmd` the command, and a word with a slash
  must be a path of the repository;
- `json`: must be JSON; `text`, `mermaid`: not checked.

A page that begins with `<!-- in the clinic -->` has this repository's own project in its folder.
A page that begins with `<!-- needs MODULE -->` is skipped where the module is not installed: `make
test-adapters` installs it. The page of a plugin loads that plugin. A page that begins with `<!--
loads NAME -->` loads that plugin, which `pip install` installs for the page only. Other pages load
none.
"""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp.client.stdio  # noqa: F401 - it keeps the stderr of its import, which tests replace
import pytest
from markdown_it import MarkdownIt
from sybil import Document, Example, Region, Sybil
from tests.command import run_command

ROOT = Path(__file__).parents[2]
CLINIC = "<!-- in the clinic -->"
TO_INSTALL = re.compile(r"`pip install \./plugins/(toolmd-[a-z]+)`")
"""A plugin that a page asks its readers to install."""
PLAIN = re.compile(r"toolmd ((?!serve|dev|worker|doctor)[^$|&;<>*?#`\\~\n]*)")
"""A command that needs no shell, and none of whose effects outlive it."""
FIRST = ("README.md",)
"""The pages whose commands all start programs, as their readers do."""
NEEDS = re.compile(r"<!-- needs (\w+) -->")
LOADS = re.compile(r"<!-- loads (\w+) -->")
PIP = """\
#!/bin/sh
for last; do :; done
exec python -m pip install --quiet --disable-pip-version-check --no-index --no-deps \\
    --no-build-isolation --target "$PYTHONPATH" "./$last"
"""
"""Installs the folder of the last argument for this page only."""


class Page:
    """One page's folder, its Python names and its last output."""

    def __init__(
        self, text: str, folder: Path, plugins: str = "", *, starts_programs: bool = False
    ) -> None:
        self.folder = folder
        self.starts_programs = starts_programs
        if loads := LOADS.match(text):
            plugins = loads[1]
        self.environment = environment(folder) | {"TOOLMD_LOAD_PLUGINS": plugins}
        if loads:
            self.starts_programs = True
            self.own_site()
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""
        self.runner = asyncio.Runner()
        if text.startswith(CLINIC):
            shutil.copy(ROOT / "pyproject.toml", folder)
            for name in ("tools_md", "skills_md"):
                shutil.copytree(ROOT / name, folder / name)

    def own_site(self) -> None:
        """Make `pip install` work without changing the environment of the tests."""
        pip = self.folder / ".bin/pip"
        pip.parent.mkdir()
        pip.write_text(PIP, encoding="utf-8")
        pip.chmod(0o755)
        self.environment["PATH"] = os.pathsep.join([str(pip.parent), self.environment["PATH"]])
        self.environment["PYTHONPATH"] = str(self.folder / ".site")

    def run(self, info: str, content: str) -> None:
        language, *marks = shlex.split(info) or [""]
        marked = dict(mark.partition("=")[::2] for mark in marks)
        if title := marked.get("title"):
            self.write(title, content, mode="w")
        elif into := marked.get("into"):
            self.write(into, "\n" + content, mode="a")
        elif language == "console":
            self.console(content, int(marked.get("exit", "0")))
        elif language == "python":
            self.python(content)
        elif language == "sh":
            self.shell(content)
        elif language == "json":
            json.loads(content)
        elif "output" in marked:
            assert_like(self.printed, content)
        else:
            assert language in {"text", "mermaid"}, f"how is a {language or 'bare'} block run?"

    def write(self, name: str, content: str, *, mode: str) -> None:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open(mode, encoding="utf-8", newline="\n") as file:
            file.write(content)

    def console(self, content: str, status: int) -> None:
        exchanges = re.split(r"^\$ ", content, flags=re.MULTILINE)
        assert not exchanges[0].strip(), "a console block begins with a command"
        for number, exchange in enumerate(exchanges[1:], 1):
            lines = exchange.splitlines()
            more = next((i for i, x in enumerate(lines[1:], 1) if not x.startswith("> ")), None)
            command = "\n".join([lines[0], *(line[2:] for line in lines[1:more])])
            expected = "\n".join(lines[more:]) if more else ""
            printed, code = self.typed(command)
            assert_like(printed, expected)
            if number == len(exchanges) - 1:
                assert code == status, f"{command} ended with {code}"

    def typed(self, command: str) -> tuple[str, int]:
        """Return what a command printed, and its exit status."""
        if not self.starts_programs and (plain := PLAIN.fullmatch(command)):
            ended = run_command(
                self.folder, *shlex.split(plain[1]), merged=True, **self.environment
            )
            return ended.out, ended.code
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout, done.returncode

    def python(self, content: str) -> None:
        code = compile(content, "<page>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            if code.co_flags & inspect.CO_COROUTINE:
                self.runner.run(eval(code, self.names))
            else:
                exec(code, self.names)
        self.printed = printed.getvalue()

    def shell(self, content: str) -> None:
        for line in content.splitlines():
            words = shlex.split(line, comments=True)
            match words:
                case ["make", target]:
                    self.try_out("make", "-n", target)
                case ["toolmd", *command]:
                    self.try_out("toolmd", *command, "--help")
                case _:
                    assert all((ROOT / word).exists() for word in words if "/" in word), line

    def try_out(self, *words: str) -> None:
        subprocess.run(words, cwd=ROOT, env=self.environment, check=True, capture_output=True)

    def close(self) -> None:
        self.runner.close()


def environment(folder: Path) -> dict[str, str]:
    """Return a shell's environment: this Python's programs, and no settings of the user."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    quiet = {"NO_COLOR": "1", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    return quiet | {"PATH": path, "HOME": str(folder)}


def assert_like(printed: str, expected: str) -> None:
    """Compare the output with the page; `...` matches anything, including lines."""

    def lines(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = ".*?".join(map(re.escape, lines(expected).split("...")))
    if not re.fullmatch(pattern, lines(printed), re.DOTALL):
        assert lines(printed) == lines(expected)


def fences(document: Document) -> Iterator[Region]:
    """Find the fenced blocks with markdown-it."""
    starts = [0]
    for line in document.text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in MarkdownIt("commonmark").parse(document.text):
        if token.type == "fence" and token.map:
            first, last = token.map
            yield Region(starts[first], starts[last], (token.info, token.content), run_fence)


def run_fence(example: Example) -> None:
    example.namespace["page"].run(*example.parsed)


@pytest.fixture
def read_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that reads a page and creates its folder."""
    # The programs of a page store where its commands look.
    monkeypatch.delenv("TOOLMD_STORE", raising=False)
    pages = []

    def read(path: Path) -> Document:
        document = Sybil([fences]).parse(path)
        if needs := NEEDS.match(document.text):
            pytest.importorskip(needs[1])
        own = [path.parent.name] if path.parent.parent.name == "plugins" else []
        plugins = {*own, *TO_INSTALL.findall(document.text)}
        first = path.relative_to(ROOT).as_posix().startswith(FIRST)
        page = Page(document.text, tmp_path, ",".join(sorted(plugins)), starts_programs=first)
        pages.append(page)
        document.namespace["page"] = page
        return document

    yield read
    for page in pages:
        page.close()
