"""No output of a run contains a Sensitive value of the skill or of its tools."""

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from kiosk import Kiosk
from mcp import Client
from mcp.types import ElicitResult

from toolmd._mcp.callers import Callers
from toolmd._mcp.server import McpServer
from toolmd._types.call import Caller

PASSWORD = "hunter2-of-the-skill"
PIN = "73920518-secret"
"""Made of an input that the skill does not mark; the tool does."""
SESSION = "session-of-the-tool"
CHANGED = "changed-by-a-person"
SECRETS = (PASSWORD, PIN, SESSION, CHANGED)

HEAD = """# {title}

Does {name}.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: test
"""
WORD = """### {name}

- **Type**: string
- **Required**: true
- **Description**: The {name}
{more}
"""
SENSITIVE = "- **Sensitive**: true\n"
WHO = WORD.format(name="who", more="")
OPEN_PIN = WORD.format(name="pin", more="")
HIDDEN = WORD.format(name="password", more=SENSITIVE)
TOOL = (
    HEAD.format(title="Log In", name="log_in")
    + f"\n## Parameters\n\n{WHO}{HIDDEN}{WORD.format(name='pin', more=SENSITIVE)}"
    "\n## Returns\n\n- **Type**: object\n- **Description**: The session\n- **Properties**:\n"
    "  - session:\n    - **Type**: string\n    - **Sensitive**: true\n"
    "\n## Safety\n\n- **Requires Confirmation**: true\n"
)
PYTHON = f"""
from toolmd import ToolError


def log_in(who, password, pin):
    if who == "crash":
        raise RuntimeError(f"cannot log in with {{password}} and {{pin}}")
    if who == "deny":
        raise ToolError(f"{{password}} and {{pin}} are wrong", code="wrong")
    return {{"session": "{SESSION}"}}
"""
WITH = "   - **With**:\n     - who: `who`\n     - password: `password`\n     - pin: {pin}-secret\n"
SKILL = (
    HEAD.format(title="Enter", name="enter") + "- **Required Tools**: log_in\n\n## Workflow\n\n"
    "1. **Ask**\n   - **Ask**: Enter as {who} with {password}?\n"
    f"2. **Log in**\n   - **Use**: log_in\n{WITH}   - **Save as**: entered\n"
    "3. **Log in again**\n   - **Ask**: With {password}, {pin}-secret and {entered.session}?\n"
    f"   - **Use**: log_in\n{WITH}"
    "4. **End**\n   - **Stop**: {who} has {entered.session} of {password} and {pin}-secret.\n"
    f"\n## Input Schema\n\n{WHO}{HIDDEN}{OPEN_PIN}\n"
    "## Output Schema\n\n- **Type**: object (SkillResult)\n"
)
LEAVE = (
    SKILL.replace("enter", "leave").replace("# Enter", "# Leave").split("## Workflow")[0]
    + f"## Workflow\n\n1. **Log in**\n   - **Use**: log_in\n{WITH}   - **Save as**: entered\n"
    "2. **Return**:\n   - session: `entered.session`\n   - password: `password`\n"
    "   - made: {pin}-secret\n"
    f"\n## Input Schema\n\n{WHO}{HIDDEN}{OPEN_PIN}\n"
    "## Output Schema\n\n- **Type**: object (SkillResult)\n"
)
DEPART = LEAVE.replace("leave", "depart").replace("# Leave", "# Depart")
DEPART_PYTHON = """
async def depart(who, password, pin, *, context):
    given = {"who": who, "password": password, "pin": f"{pin}-secret"}
    result = await context.call("log_in", given)
    return {"session": result.data["session"], "password": password, "made": given["pin"]}
"""
SNEAK = (
    SKILL.replace("enter", "sneak").replace("# Enter", "# Sneak").split("## Workflow")[0]
    + "## Workflow\n\n1. Log in, and break\n"
    + f"\n## Input Schema\n\n{WHO}{HIDDEN}{OPEN_PIN}\n"
    "## Output Schema\n\n- **Type**: object (SkillResult)\n"
)
SNEAK_PYTHON = """
async def sneak(who, password, pin, *, context):
    result = await context.call("log_in", {"who": who, "password": password,
                                             "pin": f"{pin}-secret"})
    raise RuntimeError(f"{result.data} of {password} and {pin}-secret")
"""


@pytest.fixture
def kiosk(tmp_path: Path) -> Iterator[Kiosk]:
    for path, text in {
        "toolmd.toml": "plugins = []\n",
        "tools_md/log-in.tool.md": TOOL,
        "tools_md/log_in.py": PYTHON,
        "skills_md/enter.skill.md": SKILL,
        "skills_md/sneak.skill.md": SNEAK,
        "skills_md/sneak.py": SNEAK_PYTHON,
        "skills_md/leave.skill.md": LEAVE,
        "skills_md/depart.skill.md": DEPART,
        "skills_md/depart.py": DEPART_PYTHON,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    with Kiosk(tmp_path) as started:
        yield started


def whole(value: Any) -> Any:
    """Return a value whose `repr` shows all fields of data types, which their own leaves out."""
    if is_dataclass(value) and not isinstance(value, type):
        return [whole(getattr(value, one.name)) for one in fields(value)]
    if hasattr(value, "_fields"):
        return [whole(getattr(value, name)) for name in value._fields]
    return [whole(one) for one in value] if isinstance(value, list | tuple) else value


class Gathered:
    """Everything that came out, as text, by where it came out."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def add(self, place: str, value: Any) -> None:
        self.found.append((place, value if isinstance(value, str) else repr(whole(value))))

    def listen(self, *told: Any) -> None:
        self.add("listener", told)
        raise RuntimeError(f"the listener can't take {told}")

    def look(self, kiosk: Kiosk) -> None:
        """Read every view of runs and pending calls."""
        runs, confirmations = kiosk.workspace.runs, kiosk.workspace.confirmations
        for held in confirmations.pending_sync():
            self.add("pending", json.dumps(held.to_dict()) + held.prompt)
        for run in runs.list_sync():
            self.add("list", run)
            self.add("get", runs.get_sync(run.id))
            self.add("get as JSON", json.dumps(runs.get_sync(run.id).to_dict()))
            traced = runs.trace_sync(run.id)
            self.add("trace", (traced.view, traced.events))
            self.add("follow", next(runs.follow_sync(run.id)).events)
        with kiosk.client() as api:
            shown = [f"/api/runs/{run.id}" for run in runs.list_sync()]
            for path in ("/api/runs", "/api/pending", *shown, "/pending", "/runs",
                         *(path.removeprefix("/api") for path in shown)):  # fmt: skip
                answer = api.get(path)
                assert answer.status_code == 200, path
                self.add(path, answer.text)


@pytest.mark.parametrize("name", ["enter", "sneak"])
@pytest.mark.parametrize("who", ["ana", "crash", "deny"])
def test_no_output_of_a_run_contains_a_sensitive_value(
    kiosk: Kiosk, caplog: pytest.LogCaptureFixture, name: str, who: str
) -> None:
    out = Gathered()
    caplog.set_level(logging.INFO)
    inputs = {"who": who, "password": PASSWORD, "pin": "73920518"}
    workspace = kiosk.workspace
    workspace.on_workspace_event(out.listen)
    reply = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {
        "name": name, "arguments": json.dumps(inputs)}}]}  # fmt: skip
    turn = workspace.handle_sync(reply, "openai")
    out.add("turn", turn)
    out.add("turn as JSON", json.dumps(turn.to_dict()))
    out.look(kiosk)
    asked: list[Any] = []
    result = workspace.run_sync(
        name, inputs, ask=asked.append, on_event=lambda event: out.add("event", event)
    )
    edited = False
    while result.outcome == "confirm":
        out.add("result", result)
        out.add("result as JSON", json.dumps(result.to_dict()))
        out.look(kiosk)
        edit = {"password": CHANGED} if result.waiting[0].tool == "log_in" and not edited else None
        edited = edited or edit is not None
        result = workspace.confirmations.approve_sync(result.confirmation.id, edit)
    for held in workspace.confirmations.pending_sync():
        with kiosk.client() as api:
            told = api.post(f"/api/pending/{quote(held.id, safe='')}", json={"decision": "reject"})
            out.add("rejected", told.text)
    out.add("result", result)
    out.add("asked", asked)
    out.look(kiosk)
    out.add("log", caplog.text)
    out.add("log", [record.exc_info and repr(record.exc_info[1]) for record in caplog.records])
    assert edited
    assert len(out.found) > 50
    leaks = {
        (place, text[max(at - 60, 0) : at + 40])
        for place, text in out.found
        for word in SECRETS
        if (at := text.find(word)) >= 0
    }
    assert leaks == set()
    hidden = {place for place, text in out.found if "(hidden)" in text}
    assert hidden >= {"turn", "result", "listener", "pending", "list", "get", "trace", "event"}


@pytest.mark.parametrize("name", ["leave", "depart"])
def test_views_of_an_ended_run_hide_the_sensitive_values_in_its_result(
    kiosk: Kiosk, name: str
) -> None:
    workspace, out = kiosk.workspace, Gathered()
    inputs = {"who": "ana", "password": PASSWORD, "pin": "73920518"}

    result = workspace.run_sync(name, inputs, ask=lambda _question: True)

    out.look(kiosk)
    assert set(result.data.values()) == {PASSWORD, PIN, SESSION}
    assert [place for place, text in out.found if any(word in text for word in SECRETS)] == []
    assert workspace.runs.get_sync(result.run_id).result.data.keys() == result.data.keys()
    again = workspace.runs.resume_sync(result.run_id)
    assert again.data == result.data, "the caller of a run gets its whole result"


def test_no_question_of_a_run_to_an_mcp_client_contains_a_sensitive_value(kiosk: Kiosk) -> None:
    asked: list[Any] = []

    async def person(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.model_dump_json())
        return ElicitResult(action="accept", content={})

    async def call(tool: str) -> Any:
        server = McpServer(kiosk.workspace, Callers(Caller("ana")))
        async with Client(server.low, mode="legacy", elicitation_callback=person) as client:
            pin = PIN if tool == "log_in" else "73920518"
            given = {"who": "deny", "password": PASSWORD, "pin": pin}
            return (await client.call_tool(tool, given)).model_dump_json()

    told = [asyncio.run(call(tool)) for tool in ("enter", "sneak")]
    assert len(asked) >= 2
    assert [text for text in (*told, *asked) if any(secret in text for secret in SECRETS)] == []


@pytest.mark.parametrize("name", ["log_in", "enter"])
def test_the_pending_calls_have_no_sensitive_value_of_the_users_message(
    kiosk: Kiosk, name: str
) -> None:
    given = {"who": "ana", "password": PASSWORD, "pin": PIN}
    call = kiosk.workspace.run_sync if name == "enter" else kiosk.workspace.call_sync
    assert call(name, given, message=f"Enter with {PASSWORD}, please.").outcome == "confirm"

    with kiosk.client() as api:
        page = api.get("/api/pending").text

    assert "(hidden)" in page
    assert PASSWORD not in page


@pytest.mark.parametrize("name", ["leave", "depart", "log_in"])
def test_an_operators_decision_shows_no_sensitive_value(kiosk: Kiosk, name: str) -> None:
    inputs = {"who": "ana", "password": PASSWORD, "pin": PIN}
    workspace = kiosk.workspace
    asked = (
        workspace.call_sync(name, inputs, user="ana")
        if name in workspace.tools
        else workspace.run_sync(name, inputs, user="ana")
    )
    pending = quote(asked.confirmation.id, safe="")
    with kiosk.client() as api:
        shown = api.post(f"/api/pending/{pending}", json={"decision": "approve"}).text
    assert '"outcome":"ok"' in shown
    assert "(hidden)" in shown
    assert [secret for secret in SECRETS if secret in shown] == []
