"""The agents of the pages run unchanged against servers that speak the protocols."""

import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests import warm_python

from toolmd.testing import ModelServer, RawReply, asking

ROOT = Path(__file__).parents[2]
PAGES = [(ROOT / page).read_text("utf-8") for page in
         ("README.md", "docs/how-to/give-tools-to-a-model.md")]  # fmt: skip
TITLED = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.DOTALL | re.MULTILINE)
FILES = dict(found for page in PAGES for found in TITLED.findall(page))
BOOKING = "- **Requires Confirmation**: true\n"
"""A further restriction, appended to the tool's file."""
TABLE = {"guests": 4, "place": "terrace"}
PROMPT = "I'd like to book table: guests: 4, place: terrace. Is this correct? [y/n] "


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with the files of the pages, whose tool always asks first."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + BOOKING if name.endswith(".tool.md") else text, "utf-8")
    (tmp_path / "toolmd.toml").write_text("plugins = []\n", "utf-8")
    return tmp_path


def run(project: Path, agent: str, answers: str, **environment: str) -> str:
    """Run an agent on a terminal, and type these answers."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    done = warm_python.run(
        [sys.executable, agent],
        cwd=project,
        env={"PATH": path, "HOME": str(project), **environment},
        input=answers,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_agent_stays_short() -> None:
    agents = {name: text for name, text in FILES.items() if name.endswith("_agent.py")}

    assert sorted(agents) == ["anthropic_agent.py", "mcp_agent.py", "openai_agent.py"]
    for text in agents.values():
        assert sum(bool(line.strip()) for line in text.splitlines()) <= 27


def test_the_openai_agent_asks_and_reports_a_yes_to_the_model(project: Path) -> None:
    first = asking(("book_table", TABLE), text="Let me look.")
    with ModelServer(first, "Done.") as model:
        printed = run(
            project, "openai_agent.py", "y\n",
            OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="a-key",
        )  # fmt: skip

    assert printed == f"Let me look.\n{PROMPT}Done.\n"
    assert model.heard[0]["tools"][0]["function"]["name"] == "book_table"
    assert [message["role"] for message in model.heard[1]["messages"]] == [
        "user", "assistant", "tool",
    ]  # fmt: skip
    result = model.heard[1]["messages"][2]
    assert result["tool_call_id"] == "call_1"
    assert '"terrace 5"' in result["content"]


def test_the_openai_agent_continues_after_an_unreadable_reply(project: Path) -> None:
    with ModelServer(asking(("book_table", "{guests")), "Sorry.") as model:
        printed = run(
            project, "openai_agent.py", "",
            OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="a-key",
        )  # fmt: skip

    assert printed == "Sorry.\n"
    said = [message["role"] for message in model.heard[1]["messages"]]
    assert said == ["user", "assistant", "tool"]


class AnthropicServer(ThreadingHTTPServer):
    """A server of the Messages API on 127.0.0.1 that enforces its rules on tools."""

    daemon_threads = True

    def __init__(self, *replies: list[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Messages)
        self.replies = list(replies)
        self.heard: list[Any] = []

    def answer(self, request: Any) -> RawReply:
        """Return the next reply, or the API's error for a request that breaks a rule."""
        self.heard.append(request)
        if trouble := _problem(request):
            error = {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": trouble},
            }
            return RawReply(400, json.dumps(error))
        content = self.replies.pop(0)
        uses = any(block["type"] == "tool_use" for block in content)
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": content,
            "stop_reason": "tool_use" if uses else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return RawReply(200, json.dumps(message))


class _Messages(BaseHTTPRequestHandler):
    server: AnthropicServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers["authorization"] or self.headers["x-api-key"]
        known = self.path == "/v1/messages" and key in {"Bearer a-key", "a-key"}
        reply = self.server.answer(request) if known else RawReply(404, "{}")
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(reply.body.encode())

    def log_message(self, format: str, *values: object) -> None:  # noqa: A002 - the base's name
        pass


def _problem(request: Any) -> str | None:
    """Return the API's error unless the next message answers every use of a tool."""
    if not isinstance(request.get("max_tokens"), int):
        return "max_tokens: Field required"
    for tool in request["tools"]:
        if tool["input_schema"]["type"] != "object" or not re.fullmatch(r"[\w-]+", tool["name"]):
            return "tools: Input should be a valid tool"
    waiting: set[str] = set()
    for number, message in enumerate(request["messages"]):
        blocks = message["content"] if isinstance(message["content"], list) else []
        answered = {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"}
        if answered != waiting:
            return f"messages.{number}: tool_use ids were found without tool_result blocks"
        waiting = {b["id"] for b in blocks if b["type"] == "tool_use"}
    return "messages: the last use of a tool has no result" if waiting else None


@pytest.fixture
def claude() -> Iterator[Any]:
    """Return a function that starts a server with a script."""
    servers = []

    def start(*replies: list[dict[str, Any]]) -> AnthropicServer:
        server = AnthropicServer(*replies)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_anthropic_agent_asks_and_reports_a_no_to_the_model(project: Path, claude: Any) -> None:
    server = claude(
        [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "book_table", "input": TABLE},
        ],
        [{"type": "text", "text": "Done."}],
    )

    printed = run(
        project, "anthropic_agent.py", "n\n",
        ANTHROPIC_BASE_URL=f"http://127.0.0.1:{server.server_port}", ANTHROPIC_API_KEY="a-key",
    )  # fmt: skip

    assert printed == f"Let me look.\n{PROMPT}Done.\n"
    assert server.heard[0]["tools"][0]["name"] == "book_table"
    (result,) = server.heard[1]["messages"][2]["content"]
    assert result["tool_use_id"] == "toolu_1"
    assert "rejected" in json.dumps(result["content"])


def test_the_mcp_agent_asks_and_gets_the_result(project: Path) -> None:
    printed = run(project, "mcp_agent.py", "y\n")

    assert printed.startswith(f"['book_table']\n{PROMPT}")
    assert "terrace 5" in printed
