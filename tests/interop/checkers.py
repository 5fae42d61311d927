"""Third-party checkers of the MCP server, each with the tools that it needs by name."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import NamedTuple

from applies import REASONS, reason_against
from environments import CONFORMANCE, INSPECTOR, npm_packages, python_with
from published import SERVERS, seen_of
from served import TOKEN, copied, over_http, stdio_command

CLIENTS = Path(__file__).parent / "clients"
TIMEOUT_S = 900
GRADED = f"conformance {CONFORMANCE.rpartition('@')[2]}"
INSPECTED = f"Inspector {INSPECTOR.rpartition('@')[2]}"
REVISIONS = ("2026-07-28", "2025-11-25")
OLDER = ("2025-06-18", "2025-03-26")
"""Revisions without a frozen list of what they require: all that the suite has for them."""
SKILL_SCENARIOS = (
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
    "sep-2640-skills-directory",
)


class Row(NamedTuple):
    """The findings of one checker."""

    guard: str
    what: str
    passed: int
    failed: tuple[str, ...] = ()
    """The failed checks that apply, with the checker's messages."""
    beside: int = 0
    """Checks that do not apply (applies.py)."""


def clients() -> Iterator[Row]:
    """Test the server with the SDK of the old era and the clients of frameworks."""
    for package, requirements, script in (
        ("mcp", ("mcp<2",), "with_mcp_1.py"),
        ("fastmcp", ("fastmcp>=4.1",), "with_fastmcp.py"),
        ("openai-agents", ("openai-agents>=0.24",), "with_openai_agents.py"),
        ("pydantic-ai-slim", ("pydantic-ai-slim[mcp]>=2.68",), "with_pydantic_ai.py"),
        ("langchain-mcp-adapters", ("langchain-mcp-adapters", "langchain"), "with_langchain.py"),
    ):
        python = python_with(*requirements)
        asked = f"from importlib.metadata import version; print(version('{package}'))"
        name = f"{package} {_run([str(python), '-c', asked]).stdout.strip()}"
        with copied() as project:
            command = [str(python), str(CLIENTS / script), "stdio", *stdio_command(project)]
            yield _of_client(name, "stdio", command)
        with copied() as project, over_http(project) as served:
            command = [str(python), str(CLIENTS / script), "http", served.url, TOKEN]
            yield _of_client(name, "HTTP", command)


def _of_client(name: str, transport: str, command: list[str]) -> Row:
    done = _run(command)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    failed = tuple(f"{one['check']}: {one['note']}" for one in said if not one["ok"])
    if done.returncode or not said:
        failed += (f"the client ended with {done.returncode}: {done.stderr[-300:]}",)
    return Row(name, transport, sum(one["ok"] for one in said), failed)


def conformance() -> Iterator[Row]:
    """Let the conformance suite grade the server, by revision, and its skills."""
    packages = npm_packages(CONFORMANCE)
    suite = [packages.command("conformance"), "server"]
    runs = [(revision, ["--requirements", revision]) for revision in REVISIONS]
    runs += [(one, ["--spec-version", one, "--suite", "all"]) for one in OLDER]
    runs += [(scenario, ["--scenario", scenario]) for scenario in SKILL_SCENARIOS]
    used: set[str] = set()
    for what, options in runs:
        with copied() as project, over_http(project) as served, _folder() as found:
            command = [*suite, "--url", served.open_url, *options, "--output-dir", found]
            done = _run(command, packages.environment)
            row, reasons = _graded(what, Path(found))
        used |= reasons
        if not row.passed:
            row = row._replace(failed=(f"the suite graded nothing: {done.stderr[-300:]}",))
        yield row
    if unused := set(REASONS) - used:
        yield Row(GRADED, "reasons", 0, tuple(f"excuses nothing: {one}" for one in unused))


def public_skills(source: Path) -> Iterator[Row]:
    """Import a folder of Agent Skills, serve them, and let the Inspector verify each."""
    packages = npm_packages(INSPECTOR)
    with _folder() as found:
        project = Path(found)
        (project / "toolmd.toml").write_text("tools = []\nplugins = []\n", "utf-8")
        made = [sys.executable, "-m", "toolmd", "--project", found, "import", "agentskills"]
        imported = _run([*made, str(source), "--out", str(project / "skills_md")])
        refused = [one for one in imported.stderr.splitlines() if one.startswith("not imported")]
        inspect = [packages.command("mcp-inspector"), "--cli", "--protocol-era", "modern"]
        options = ["--method", "skills/list", "--verify", "--require-digests"]
        done = _run([*inspect, *options, *stdio_command(project)], packages.environment)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    failed = tuple(f"{one['name']}: {one['conformance']}" for one in said if not one["ok"])
    if done.returncode and not failed:
        failed = (f"the Inspector ended with {done.returncode}: {done.stderr[-300:]}",)
    yield Row(INSPECTED, "public skills", sum(one["ok"] for one in said), failed, len(refused))


def _graded(what: str, found: Path) -> tuple[Row, set[str]]:
    passed, failed, reasons = 0, [], []
    for file in sorted(found.glob("*/checks.json")):
        # The folder is named `server-SCENARIO-2026-11-21T04-16-20-432Z`.
        scenario = file.parent.name.removeprefix("server-").rsplit("-", 6)[0]
        for check in json.loads(file.read_text("utf-8")):
            if check["status"] == "SUCCESS":
                passed += 1
            elif check["status"] in {"FAILURE", "WARNING"}:
                reason = reason_against(scenario, check["id"])
                if reason is None:
                    failed.append(f"{scenario}:{check['id']}: {check.get('errorMessage', '')}")
                else:
                    reasons.append(reason)
    return Row(GRADED, what, passed, tuple(failed), len(reasons)), set(reasons)


def inspector() -> Iterator[Row]:
    """Let the Inspector look at tools and skills, in both eras, over both transports."""
    packages = npm_packages(INSPECTOR)
    base = [packages.command("mcp-inspector"), "--cli", "--format", "json"]
    verified = ["--method", "skills/list", "--verify", "--require-digests"]
    called = ["--method", "tools/call", "--tool-name", "test_multiple_content_types"]
    methods = {
        "tools, strictly": ["--method", "tools/list", "--strict"],
        "a call": called,
        "resources": ["--method", "resources/list"],
    }
    for era in ("legacy", "modern"):
        # Extensions, and with them skills, are declared since 2026-07-28.
        asked = methods if era == "legacy" else {**methods, "skills, verified": verified}
        for transport in ("stdio", "HTTP"):
            with copied() as project, ExitStack() as stack:
                target = stdio_command(project)
                if transport == "HTTP":
                    served = stack.enter_context(over_http(project))
                    header = f"Authorization: Bearer {TOKEN}"
                    target = ["--server-url", served.url, "--transport", "http", "--header", header]
                options = [*base, "--protocol-era", era]
                row = Row(INSPECTED, f"{era} over {transport}", 0)
                for what, method in asked.items():
                    done = _run([*options, *method, *target], packages.environment)
                    warned = "Warning: tool" in done.stderr
                    if done.returncode or warned:
                        said = f"{what} (exit {done.returncode}): {done.stderr[-400:]}"
                        row = row._replace(failed=(*row.failed, said))
                    else:
                        row = row._replace(passed=row.passed + 1)
                yield row


def published() -> Iterator[Row]:
    """Stand in front of published servers, and call their tools through Toolmd."""
    for server in SERVERS:
        seen = seen_of(server)
        what = f"{seen.tools} tools imported, checked and called"
        yield Row(seen.package, what, seen.held, seen.failed)


CHECKERS: dict[str, Callable[[], Iterator[Row]]] = {
    "published": published,
    "clients": clients,
    "conformance": conformance,
    "inspector": inspector,
}


def _folder() -> AbstractContextManager[str]:
    return tempfile.TemporaryDirectory()


def _run(
    command: list[str], environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=environment
    )
