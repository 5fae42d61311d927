"""`import mcp --live`, `servers` and the settings of servers."""

import json
import sys
from pathlib import Path

import pytest
from guarded import SERVER, Guarded, called, listed
from tests.command import Ended, apart, run_command

from toolmd._cli.verbs.about import examine
from toolmd._types.remote import read_remote_tool
from toolmd.config import load_settings
from toolmd.errors import ConfigError

DESTRUCTIVE = {"annotations": {"destructiveHint": True}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    """A project without files of tools, whose settings are empty."""
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    made = Guarded(tmp_path / "p")
    (made.root / "toolmd.toml").write_text('tools = ["tools_md"]\n', encoding="utf-8")
    return made


def _import(project: Guarded, *more: str) -> Ended:
    command = (sys.executable, "-S", str(SERVER), str(project.files))
    return run_command(project.root, "import", "mcp", "--live", "plain", *more, "--", *command)


def test_one_command_writes_files_and_the_table_and_the_tools_can_be_called(
    project: Guarded,
) -> None:
    project.serve(listed("echo"), listed("whoami", **DESTRUCTIVE))

    done = _import(project)

    assert done.code == 0, done.err
    with project.open() as workspace:
        assert called(workspace, "echo", text="a").data == {"echo": {"text": "a"}}
        assert called(workspace, "whoami").outcome == "confirm"
        assert not [one for one in workspace.diagnostics if one.severity.name == "ERROR"]


def test_only_a_name_that_a_file_can_hold_is_imported(project: Guarded) -> None:
    fields = {"user.id": {"type": "string"}, "filter[at]": {"type": "string"}}
    echo = listed("echo", inputSchema={"type": "object", "properties": fields})
    project.serve(echo, listed(" admin"), listed("admin\n"), listed("whoami"), listed("größe"))

    done = _import(project)
    with project.open() as workspace:
        result = called(workspace, "echo", user_id="u1", filter_at="x")

    files = sorted(path.name for path in (project.root / "tools_md").iterdir())
    assert files == ["echo.tool.md", "whoami.tool.md"]
    assert "Implemented By can't hold this name" in done.err
    assert result.outcome == "ok"
    assert project.lines("calls.txt") == ['echo {"filter[at]": "x", "user.id": "u1"}']


def test_a_second_import_writes_only_what_is_new(project: Guarded) -> None:
    project.serve(listed("echo"))
    _import(project)
    again = _import(project)
    project.serve(listed("echo"), listed("added"))
    third = run_command(project.root, "import", "mcp", "--live", "plain", "--json")

    assert again.code == 0, again.err
    assert "nothing new" in again.err
    assert json.loads(third.out)["written"] == ["tools_md/added.tool.md"]


def test_a_draft_that_waits_for_a_decision_is_written_again_only_with_force(
    project: Guarded,
) -> None:
    project.serve(listed("echo", _meta={"permissions": ["admin"]}), listed("whoami"))
    _import(project)
    draft = project.root / "tools_md" / "echo.tool.md"
    below = project.root / "tools_md" / "plain" / "deep" / "echo.tool.md"
    below.parent.mkdir(parents=True)
    draft.rename(below)
    moved = _import(project)
    below.rename(draft)
    again = _import(project)
    waited = draft.read_text("utf-8")
    project.serve(listed("echo"), listed("whoami"))
    forced = _import(project, "--force")

    for done in (moved, again):
        assert done.code == 0, done.err
        assert "nothing new" in done.err
    assert "**Restriction 1**" in waited
    assert "made tools_md/echo.tool.md" in forced.out
    assert "**Restriction 1**" not in draft.read_text("utf-8")


def test_a_tool_whose_file_exists_is_left_out_and_the_others_are_imported(
    project: Guarded,
) -> None:
    project.serve(listed("echo"), listed("whoami"))
    mine = project.root / "tools_md" / "echo.tool.md"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine", "utf-8")
    done = _import(project)

    assert (done.out, done.code) == ("made tools_md/whoami.tool.md\n", 1)
    assert "not imported: echo: tools_md/echo.tool.md exists already" in done.err
    assert mine.read_text("utf-8") == "mine"
    with project.open() as workspace:
        assert called(workspace, "whoami").outcome == "ok"


def test_what_the_server_changed_between_import_and_first_call_is_denied(project: Guarded) -> None:
    project.serve(listed("echo"))
    _import(project)
    project.serve(listed("echo", description="Changed before the first call"))
    with project.open() as workspace:
        assert called(workspace, "echo").outcome == "denied"


def test_servers_shows_the_difference_and_accept_opens_the_tool(project: Guarded) -> None:
    project.serve(listed("echo"))
    _import(project)
    project.serve(listed("echo", description="Changed\x1b[2J"), listed("added"))

    shown = run_command(project.root, "servers")
    accepted = run_command(project.root, "servers", "plain", "--accept", "--json")

    assert shown.code == 1
    assert 'description was "Tool echo", and is' in shown.out
    assert "\x1b" not in shown.out
    assert "closed added" in shown.out
    (server,) = json.loads(accepted.out)
    assert {tool["tool"]: tool["state"] for tool in server["tools"]} == {
        "echo": "accepted", "added": "closed",
    }  # fmt: skip
    with project.open() as workspace:
        assert called(workspace, "echo").outcome == "ok"


def test_what_another_process_accepts_is_open_in_a_running_one(project: Guarded) -> None:
    project.serve(listed("echo"))
    _import(project)
    project.serve(listed("echo", description="Changed"))
    with project.open() as workspace:
        assert called(workspace, "echo").outcome == "denied"
        assert run_command(project.root, "servers", "plain", "--accept").code == 0
        assert called(workspace, "echo").outcome == "ok"


def test_a_server_that_does_not_answer_is_told_with_exit_code_5(project: Guarded) -> None:
    text = '[servers.plain]\ncommand = ["no-such-program-anywhere"]\n'
    (project.root / "toolmd.toml").write_text(text, encoding="utf-8")

    done = run_command(project.root, "servers")
    signs = {sign.about: sign.state for sign in examine(project.root)}

    assert done.code == 5
    assert "no-such-program-anywhere" in done.out
    assert signs["server plain"] == "bad"


def test_another_command_for_a_known_server_is_an_error(project: Guarded) -> None:
    project.serve(listed("echo"))
    _import(project)

    done = run_command(project.root, "import", "mcp", "--live", "plain", "--", "other")

    assert done.code == 2
    assert "another server 'plain'" in done.err


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "either command"),
        ('command = ["a"]\nurl = "https://x.example"', "either command"),
        ('command = ""', "1 to 256 words"),
        ("command = 3", "must be texts"),
        ('command = "a \'b"', "quotation mark"),
        ('command = ["a"]\nargs = [1]', "must be texts"),
        ('command = ["a"]\nheaders = {X = "s3cret"}', "belongs to a server with url"),
        ('url = "https://x.example"\nenv = ["A"]', "belongs to a server with command"),
        ('url = "https://me:s3cret@x.example"', "without user"),
        ('command = ["a"]\nenv = {"A B" = "s3cret"}', "not the name of a variable"),
        ('command = ["a"]\nenv = {A = "s3cret$"}', "name of a variable"),
        ('command = ["a"]\nshared = "yes"', "true or false"),
        ('command = ["a"]\nstart_timeout = 0', "start_timeout"),
        ('command = ["a"]\nretries = 1', "unknown key 'retries'"),
    ],
)
def test_a_table_that_can_not_be_read_is_an_error_that_shows_no_secret(
    tmp_path: Path, table: str, said: str
) -> None:
    (tmp_path / "toolmd.toml").write_text(f"[servers.plain]\n{table}\n", encoding="utf-8")

    with pytest.raises(ConfigError) as raised:
        load_settings(tmp_path)

    assert said in str(raised.value)
    assert "servers.plain" in str(raised.value)
    assert "s3cret" not in str(raised.value)


def test_a_command_may_be_one_text_a_list_or_a_program_with_args(tmp_path: Path) -> None:
    for text in ('"npx -y server"', '["npx", "-y", "server"]', '"npx"\nargs = ["-y", "server"]'):
        (tmp_path / "toolmd.toml").write_text(f"[servers.a]\ncommand = {text}\n", encoding="utf-8")
        assert load_settings(tmp_path).servers["a"].command == ("npx", "-y", "server")


def test_the_place_of_a_remote_tool_is_read_exactly() -> None:
    assert str(read_remote_tool(" MCP github  create_issue ")) == "mcp github create_issue"
    for text in ("mcp", "mcp a", "mcp A b", "mcp a b c", "http GET /", "mcp a b\nc", ""):
        assert read_remote_tool(text) is None


def test_accepting_a_change_shows_what_was_accepted(project: Guarded) -> None:
    project.serve(listed("echo"), listed("same"))
    _import(project)
    project.serve(listed("echo", description="Changed"), listed("same"))

    accepted = run_command(project.root, "servers", "plain", "--accept")
    again = run_command(project.root, "servers", "plain", "--accept")

    assert accepted.code == 0
    assert "  accepted echo\n" in accepted.out
    assert 'description was "Tool echo", and is "Changed"' in accepted.out
    assert "accepted same" not in accepted.out
    assert again.out == "plain: 2 accepted tools, 0 changed, 0 without a valid file (closed)\n"


EXAMPLES = """
## Examples

### One answer

- **Arguments**: {"text": "hi"}
- **Result**: {"echo": {"text": "hi"}}

### A wrong argument

- **Arguments**: {"text": 3}
- **Error**: invalid_arguments
"""
PYTHON = """
from toolmd import Context


async def relay(text: str = "", *, context: Context):
    return (await context.call("echo", {"text": "hi"})).outcome
"""


def test_a_test_of_examples_never_calls_a_server(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "echo", more=EXAMPLES)
    more = '## Examples\n\n### Through Python\n\n- **Arguments**: {}\n- **Result**: "failed"'
    project.add("relay", more=more)
    file = project.root / "tools_md" / "relay.tool.md"
    text = file.read_text("utf-8").replace("- **Implemented By**: mcp plain relay\n", "")
    file.write_text(text, encoding="utf-8")
    (project.root / "tools_md" / "relay.py").write_text(PYTHON, encoding="utf-8")

    done = run_command(project.root, "test", "--json")

    tried = {one["example"]: (one["how"], one["passed"]) for one in json.loads(done.out)}
    assert tried == {
        "One answer": ("validated", True),
        "A wrong argument": ("validated", True),
        "Through Python": ("called", True),
    }
    assert project.lines("calls.txt") == []


WITHOUT_SDK = """
import sys
sys.modules["mcp"] = None
from toolmd._cli.main import main
sys.exit(main(sys.argv[1:]))
"""
COMMANDS: dict[str, tuple[int, tuple[str, ...]]] = {
    "import --live": (2, ("import", "mcp", "--live", "t", "--", "some-server")),
    "import a list": (2, ("import", "mcp", "http://127.0.0.1:9/mcp")),
    "servers": (2, ("servers", "plain")),
    "call": (1, ("call", "echo")),
    "serve": (1, ("serve",)),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_without_the_package_each_command_names_the_remedy(tmp_path: Path, command: str) -> None:
    project = Guarded(tmp_path / "p", "echo")
    code, words = COMMANDS[command]
    done = apart(project.root, sys.executable, "-c", WITHOUT_SDK, *words)

    told = done.stdout + done.stderr
    assert "MCP needs the package mcp 2.3 or later" in told
    assert "pip install 'toolmd[mcp]'" in told
    assert done.returncode == code
