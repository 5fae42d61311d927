"""Stand in front of published MCP servers: import their tools, check the drafts, and call them."""

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from environments import npm_packages, python_with

from toolmd import Result, Workspace
from toolmd._types.imported import RESTRICTED

_NPM = "@modelcontextprotocol/server-"


class Published(NamedTuple):
    """A server, the arguments of its program, and calls with a text that each result holds.

    The text is empty where the result depends on what the server kept of an earlier run.
    """

    package: str
    program: str
    arguments: tuple[str, ...]
    calls: tuple[tuple[str, dict[str, Any], str], ...]

    @property
    def command(self) -> list[str]:
        """The command that starts it; raises MissingError."""
        if self.package.startswith("@"):
            return [npm_packages(self.package).command(self.program), *self.arguments]
        return [str(python_with(*self.package.split()).parent / self.program), *self.arguments]


SERVERS = (
    Published(_NPM + "everything", "mcp-server-everything", (), (
        ("echo", {"message": "hello"}, "hello"),
        ("get_sum", {"a": 2, "b": 3}, "5"),
        ("get_structured_content", {"location": "New York"}, "temperature"),
        ("get_tiny_image", {}, "image/png"),
    )),
    Published(_NPM + "filesystem", "mcp-server-filesystem", ("{folder}",), (
        ("list_directory", {"path": "{folder}"}, "page.html"),
        ("write_file", {"path": "{folder}/new.txt", "content": "written"}, "new.txt"),
        ("read_text_file", {"path": "{folder}/new.txt"}, "written"),
    )),
    Published(_NPM + "memory", "mcp-server-memory", (), (
        ("create_entities", {"entities": [
            {"name": "Mia", "entityType": "person", "observations": ["likes tea"]}]}, ""),
        ("search_nodes", {"query": "tea"}, "Mia"),
        ("read_graph", {}, "likes tea"),
    )),
    Published(_NPM + "sequential-thinking", "mcp-server-sequential-thinking", (), (
        ("sequentialthinking", {"thought": "one", "nextThoughtNeeded": False, "thoughtNumber": 1,
                                "totalThoughts": 1}, "thoughtHistoryLength"),
    )),
    Published("mcp-server-git", "mcp-server-git", (), (
        ("git_status", {"repo_path": "{folder}"}, "branch"),
        ("git_log", {"repo_path": "{folder}"}, "First"),
        ("git_create_branch", {"repo_path": "{folder}", "branch_name": "next"}, "next"),
    )),
    Published("mcp-server-time", "mcp-server-time", (), (
        ("get_current_time", {"timezone": "Europe/Berlin"}, "Europe/Berlin"),
        ("convert_time", {"source_timezone": "UTC", "time": "12:00",
                          "target_timezone": "Asia/Tokyo"}, "21:00"),
    )),
    Published("mcp-server-fetch", "mcp-server-fetch", (
        "--ignore-robots-txt", "--allow-private-ips",
    ), (
        ("fetch", {"url": "{site}/page.html"}, "A page"),
    )),
    Published("mcp-server-calculator", "mcp-server-calculator", (), (
        ("calculate", {"expression": "6*7"}, "42"),
    )),
    Published("mcp-text-editor mcp<2", "mcp-text-editor", (), (
        ("get_text_file_contents", {"files": [
            {"file_path": "{folder}/page.html", "ranges": [{"start": 1}]}]}, "A page"),
    )),
    Published("mcp-server-motherduck", "mcp-server-motherduck", (
        "--db-path", ":memory:", "--read-write",
    ), (
        ("execute_query", {"sql": "select 6 * 7 as answer"}, "42"),
    )),
)  # fmt: skip


class Seen(NamedTuple):
    """What was seen of one server."""

    package: str
    tools: int
    held: int
    failed: tuple[str, ...]


def seen_of(server: Published) -> Seen:
    """Import a server into a new project, and call its tools there; raises MissingError."""
    command = server.command
    with tempfile.TemporaryDirectory() as place, _site() as (folder, site):
        put = partial(_put, {"{folder}": str(folder), "{site}": site})
        started = [put(word) for word in command]
        root = Path(place)
        (root / "toolmd.toml").write_text("plugins = []\n", encoding="utf-8")
        for _ in range(2):  # a first start of a new environment may take too long
            first = _toolmd(root, "import", "mcp", "--live", "it", "--", *started)
            if "did not answer" not in first.stderr:
                break
        again = _toolmd(root, "import", "mcp", "--live", "it")
        _decide(root)
        checked = _toolmd(root, "check")
        files = sorted((root / "tools_md").glob("*.tool.md"))
        held = {
            "import": first.returncode in {0, 1} and bool(files),
            "import again": len(sorted((root / "tools_md").glob("*.tool.md"))) == len(files)
            and again.returncode in {0, 1},
            "check": checked.returncode == 0,
        }
        said = {
            "import": first.stderr,
            "import again": again.stderr,
            "check": checked.stdout + checked.stderr,
        }
        with Workspace.open(root) as workspace:
            for name, arguments, expected in server.calls:
                result = asyncio.run(_called(workspace, name, put(arguments)))
                told = f"{result.data} {result.parts} {result.error}"
                held[f"{name} {arguments}"] = result.success and expected in told
                said[f"{name} {arguments}"] = told
    failed = tuple(f"{what}: {said[what].strip()[-300:]}" for what in held if not held[what])
    return Seen(server.package.split()[0], len(files), len(held) - len(failed), failed)


def _decide(root: Path) -> None:
    """Delete the lines of sentences that a person must look at; the descriptions keep them."""
    for file in (root / "tools_md").glob("*.tool.md"):
        file.write_text(RESTRICTED.sub("", file.read_text("utf-8")), "utf-8")


async def _called(workspace: Workspace, name: str, arguments: dict[str, Any]) -> Result:
    """Call a tool, and approve the call where its draft asks for a person."""
    result = await workspace.call(name, arguments)
    if result.confirmation is not None:
        result = await workspace.confirmations.approve(result.confirmation.id)
    return result


def _put(words: dict[str, str], value: Any) -> Any:
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace(word, text)
    elif isinstance(value, dict):
        value = {key: _put(words, one) for key, one in value.items()}
    elif isinstance(value, list):
        value = [_put(words, one) for one in value]
    return value


def _toolmd(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "toolmd", "--project", str(root), *words],
        cwd=root, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@contextlib.contextmanager
def _site() -> Iterator[tuple[Path, str]]:
    """Yield a folder with a page and a git repository, and its address on this machine."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        (folder / "page.html").write_text("<p>A page</p>\n", encoding="utf-8")
        author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        for words in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "First")):
            subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
        handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
            threading.Thread(target=serving.serve_forever, daemon=True).start()
            yield folder, f"http://127.0.0.1:{serving.server_port}"
            serving.shutdown()
