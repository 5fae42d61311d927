"""The tools that `[fence]` names reach only what the table allows."""

import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from tests.command import run_command

from toolmd import Result, Workspace
from toolmd._remote.fence import Fence, lacking
from toolmd.config import load_settings
from toolmd.errors import ConfigError

WHOLE = Fence((), network=False)
needs_fence = pytest.mark.skipif(bool(lacking(WHOLE)), reason=f"no fence here: {lacking(WHOLE)}")
TABLE = '[fence]\ntools = ["act"]\nfolders = ["out", "docs:read"]\nhosts = []\n'
TOOL = """# Act

Do something.

## Metadata

- **Name**: act
- **Version**: 1.0.0
- **Category**: test

## Parameters

### what

- **Type**: string
- **Required**: true
- **Description**: What to do

### day

- **Type**: string
- **Format**: date
- **Required**: false
- **Description**: When

## Returns

- **Type**: object
- **Description**: What came of it

## Limits

- **Timeout**: 60 seconds
"""
PYTHON = '''"""Do something."""

import datetime as dt
import os
import signal
import socket
import time
from pathlib import Path

from toolmd import ToolError


def act(what: str, day: dt.date | None = None) -> dict[str, object]:
    print("a tool may print")
    verb, _, rest = what.partition(" ")
    found: object = None
    try:
        if verb == "write":
            Path(rest).write_text("new")
        elif verb == "read":
            Path(rest).read_text()
        elif verb == "connect":
            socket.create_connection(("127.0.0.1", int(rest)), 2)
        elif verb == "variables":
            found = sorted(os.environ)
        elif verb == "day":
            found = f"{type(day).__name__} {day}"
        elif verb == "refuse":
            raise ToolError("Only 3 are left.", code="sold_out")
        elif verb == "fail":
            raise ZeroDivisionError(rest)
        elif verb == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif verb == "sleep":
            Path("out/pid").write_text(str(os.getpid()))
            time.sleep(60)
    except OSError as error:
        return {"failed": type(error).__name__}
    return {"done": found, "process": os.getpid()}
'''
STREAM = """import typing


async def act(what: str, day: str | None = None) -> typing.Any:
    yield {}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for folder in ("tools_md", "out", "docs"):
        (root / folder).mkdir(parents=True)
    (root / "toolmd.toml").write_text(TABLE)
    (root / "tools_md/act.tool.md").write_text(TOOL)
    (root / "tools_md/act.py").write_text(PYTHON)
    (root / "docs/page.md").write_text("page")
    return root


def act(workspace: Workspace, what: str, **more: Any) -> Result:
    return workspace.call_sync("act", {"what": what, **more})


@needs_fence
def test_a_fenced_function_reaches_only_its_folders_and_no_network(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    outside = root.parent / "outside.txt"
    outside.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as listening, Workspace.open(root) as workspace:
        found = {
            what: act(workspace, f"{what} {place}").data
            for what, place in {
                "write": root / "out/new.txt", "read": root / "docs/page.md",
                "variables": "", "connect": listening.getsockname()[1],
            }.items()
        }  # fmt: skip
        closed = [
            act(workspace, what).data
            for what in (f"write {root / 'docs/new.md'}", f"write {root / 'tools_md/act.py'}",
                         f"read {outside}", f"read {root / '.toolmd/.gitignore'}")
        ]  # fmt: skip

    process = found["write"]["process"]
    assert process != os.getpid()
    assert found["write"] == found["read"] == {"done": None, "process": process}
    assert not {"SECRET_TOKEN", "HOME"} & {*found["variables"]["done"]}
    assert "failed" in found["connect"]
    assert closed == [{"failed": "PermissionError"}] * 4
    assert (root / "out/new.txt").read_text() == "new"


@needs_fence
def test_arguments_and_errors_pass_through_the_fence(root: Path) -> None:
    with Workspace.open(root) as workspace:
        day = act(workspace, "day", day="2026-03-05")
        wrong = act(workspace, "day", day="tomorrow")
        refused, failed = act(workspace, "refuse"), act(workspace, "fail hidden-detail")

    assert day.data["done"] == "date 2026-03-05"
    assert wrong.outcome == "denied"
    assert refused.error is not None
    assert (refused.error.code, refused.error.message) == ("sold_out", "Only 3 are left.")
    assert failed.error is not None
    assert failed.error.code == "tool_error"
    assert "hidden-detail" not in failed.error.message


@needs_fence
def test_a_fenced_process_that_dies_leaves_one_call_unknown(root: Path) -> None:
    with Workspace.open(root) as workspace:
        died, after = act(workspace, "die"), act(workspace, "day")

    assert died.outcome == "unknown"
    assert after.success


@needs_fence
def test_a_function_past_its_deadline_is_killed_with_its_process(root: Path) -> None:
    with Workspace.open(root) as workspace:
        assert act(workspace, "day").success
        (root / "tools_md/act.tool.md").write_text(TOOL.replace("60 seconds", "4 seconds"))
        workspace.reload()
        late = act(workspace, "sleep")
        process = int((root / "out/pid").read_text())
        (root / "tools_md/act.tool.md").write_text(TOOL)
        workspace.reload()
        until = time.monotonic() + 20
        while is_alive(process) and time.monotonic() < until:
            assert act(workspace, "day").success  # The next call has a process of its own.

    assert late.outcome == "unknown"
    assert not is_alive(process)


@needs_fence
def test_a_fenced_process_is_kept_until_the_workspace_closes(root: Path) -> None:
    with Workspace.open(root) as workspace:
        first = act(workspace, "day").data["process"]
        again = act(workspace, "day").data["process"]
        assert is_alive(first)

    assert first == again
    assert not is_alive(first)


@needs_fence
def test_an_edit_reaches_the_fenced_process(root: Path) -> None:
    with Workspace.open(root) as workspace:
        assert act(workspace, "day").data["done"] == "NoneType None"
        (root / "tools_md/act.py").write_text(PYTHON.replace('f"{type(day)', 'f"new {type(day)'))
        unread = act(workspace, "day")
        workspace.reload()
        read = act(workspace, "day")

    # Python that nobody checked does not run.
    assert unread.success is False or unread.data["done"] == "NoneType None"
    assert read.data["done"] == "new NoneType None"


@pytest.mark.parametrize(
    ("table", "python", "said"),
    [
        (TABLE.replace('"act"', '"acts"'), PYTHON, "[fence] names acts, and no tool has this name"),
        (TABLE, PYTHON.replace("None = None)", "None = None, *, context)"), "no Context"),
        (TABLE, STREAM, "nothing but one result comes back"),
    ],
    ids=["no such tool", "takes a Context", "streams"],
)  # fmt: skip
def test_what_can_not_be_fenced_fails_the_check(
    root: Path, table: str, python: str, said: str
) -> None:
    (root / "toolmd.toml").write_text(table)
    (root / "tools_md/act.py").write_text(python)
    checked = run_command(root, "check")

    assert checked.code == 1
    assert said in checked.out
    assert "unfenceable-tool" in checked.out


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[fence]\ntools = ["act"]\n', "write folders = [] or hosts = [], or both"),
        ("[fence]\nfolders = []\n", 'name the tools: tools = ["render_*"]'),
        ('[fence]\ntools = ["act"]\nhosts = ["x.example"]\n', "hosts must be []"),
        ('[fence]\ntools = "act"\nhosts = []\n', "must be a list of texts"),
        ('[fence]\ntools = ["act"]\nhosts = []\nenv = {A = "$"}\n', "env: A: a $ begins"),
    ],
)
def test_a_table_that_fences_nothing_is_an_error(root: Path, table: str, said: str) -> None:
    (root / "toolmd.toml").write_text(table)

    with pytest.raises(ConfigError) as raised:
        load_settings(root)

    assert said in str(raised.value)


def is_alive(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
