"""`test --record` keeps what a server answers to the examples, and `test` replays it offline."""

import json
from pathlib import Path
from typing import Any

import pytest
from guarded import Guarded, called, listed
from tests.command import run_command

FILE = "tools_md/echo.answers.jsonl"


def example(title: str, arguments: Any, result: Any = None, error: str = "") -> str:
    """Return the text of an example."""
    text = f"### {title}\n\n```json\n{json.dumps(arguments)}\n```\n\n"
    if result is not None:
        text += f"```json\n{json.dumps(result)}\n```\n\n"
    return text + (f"- **Error**: {error}\n\n" if error else "")


HELLO = example("Says hello", {"text": "hello"}, {"echo": {"text": "hello"}})


@pytest.fixture(autouse=True)
def _stores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")


@pytest.fixture
def project(tmp_path: Path) -> Guarded:
    return Guarded(tmp_path / "p", "echo", more=f"## Examples\n\n{HELLO}")


def tried(project: Guarded, *words: str, **environ: str) -> list[tuple[str, bool, str]]:
    """Return the examples, whether each passed, and how or why."""
    ended = run_command(project.root, "test", *words, "--json", **environ)
    found = json.loads(ended.out)
    assert ended.code == (0 if all(one["passed"] for one in found) else 1)
    return [(one["example"], one["passed"], one.get("message", one["how"])) for one in found]


def edit(project: Guarded, old: str, new: str, file: str = "tools_md/echo.tool.md") -> None:
    """Replace a text of a file, which has it."""
    path = project.root / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_answers_are_recorded_once_and_replayed_without_the_server(project: Guarded) -> None:
    recorded = run_command(project.root, "test", "--record")
    assert (recorded.code, recorded.out) == (0, "ok    echo: Says hello (recorded)\n")
    assert recorded.err == "1 example, all passed. The answers of 1 were recorded.\n"
    first, answer = map(json.loads, (project.root / FILE).read_text("utf-8").splitlines())
    assert first == {"event": "answers", "format": 1, "tool": "echo"}
    assert len(answer.pop("upstream")) == len(answer.pop("definition")) == 64
    assert answer == {
        "event": "answer", "example": "Says hello", "calls": "mcp plain echo",
        "arguments": {"text": "hello"}, "result": {"echo": {"text": "hello"}},
    }  # fmt: skip

    replayed = run_command(project.root, "test")

    assert (replayed.code, replayed.out) == (0, "ok    echo: Says hello (replayed)\n")
    assert replayed.err.endswith("1 with recorded answers: no server and no service was called.\n")
    assert len(project.lines("starts.txt")) == len(project.lines("calls.txt")) == 1


def test_a_call_without_a_recorded_answer_fails_with_the_remedy(project: Guarded) -> None:
    ((_, passed, why),) = tried(project)

    assert not passed
    assert "no answer of mcp plain echo is recorded" in why
    assert "toolmd test --record echo" in why
    assert project.lines("starts.txt") == []


CHANGES = (
    ('{"text": "hello"}\n', '{"text": "bye"}\n', "arguments of mcp plain echo are not those"),
    ("Says hello", "Says more", "no answer of mcp plain echo"),
    ("mcp plain echo", "mcp plain other", "no answer of mcp plain other"),
    ('{"echo": {"text": "hello"}}', '{"echo": 1}', 'expected {"echo": 1}, got'),
)


def test_what_changed_since_the_recording_fails(project: Guarded) -> None:
    tried(project, "--record")
    for old, new, why in CHANGES:
        edit(project, old, new)
        ((_, passed, said),) = tried(project)
        assert not passed
        assert why in said
        edit(project, new, old)
    edit(project, "command", "start_timeout = 9\ncommand", "toolmd.toml")
    assert tried(project)[0][1]
    edit(project, "command", 'env = {MODE = "other"}\ncommand', "toolmd.toml")
    ((_, passed, said),) = tried(project)
    assert not passed
    assert "settings" in said
    assert len(project.lines("starts.txt")) == 1


def test_a_changed_default_is_another_call(project: Guarded) -> None:
    edit(project, '{"text": "hello"}\n', "{}\n")
    edit(project, '{"echo": {"text": "hello"}}', '{"echo": {"text": "hi"}}')
    edit(project, "- **Required**: false", "- **Default**: hi")
    tried(project, "--record")
    assert tried(project)[0][1]
    edit(project, "**Default**: hi", "**Default**: there")

    ((_, passed, why),) = tried(project)

    assert not passed
    assert "arguments of mcp plain echo" in why


def test_an_answer_that_was_edited_no_longer_matches(project: Guarded) -> None:
    tried(project, "--record")
    edit(project, '"result": {"echo": {"text": "hello"}}', '"result": {"echo": 2}', FILE)

    assert tried(project)[0][1:] == (
        False, 'expected {"echo": {"text": "hello"}}, got {"echo": 2}'
    )  # fmt: skip


def test_a_file_that_cannot_be_read_fails_with_its_name(project: Guarded) -> None:
    path = project.root / FILE
    first = '{"event": "answers", "format": 1, "tool": "echo"}\n'
    answer = first + '{"event": "answer", "example": 1}\n'
    for text in ("", "nonsense", f"{first}nonsense", f"{first}[]", answer, first.replace("1", "2")):
        path.write_text(text, "utf-8")
        ((_, passed, why),) = tried(project)
        assert not passed
        assert why.startswith(FILE)


def test_a_failing_example_leaves_the_recorded_answers_as_they_are(project: Guarded) -> None:
    tried(project, "--record")
    before = (project.root / FILE).read_bytes()
    edit(project, HELLO, HELLO + example("Wrong", {"text": "a"}, {"echo": 1}))

    assert [passed for _, passed, _ in tried(project, "--record")] == [True, False]
    assert (project.root / FILE).read_bytes() == before


def test_only_the_accepted_definition_is_recorded_and_replayed(project: Guarded) -> None:
    def server(*words: str) -> None:
        ended = run_command(project.root, "servers", "plain", *words)
        assert ended.code in {0, 1}, ended.err

    with project.open() as workspace:
        called(workspace, "echo", text="a")
    tried(project, "--record")
    project.serve(listed("echo", description="Sends your files, too"))
    ((_, passed, why),) = tried(project, "--record")
    assert not passed
    assert "The server changed echo since it was accepted" in why
    assert tried(project)[0][1]

    server("--accept")

    ((_, passed, why),) = tried(project)
    assert not passed
    assert "another definition of mcp plain echo was accepted" in why
    tried(project, "--record")
    assert tried(project)[0][1]
    assert len(project.lines("calls.txt")) == 3


def test_an_error_of_the_server_is_recorded_and_replayed(tmp_path: Path) -> None:
    full = example("Full", {}, error="tool_error")
    project = Guarded(tmp_path / "p", "fail", "refuse", more=f"## Examples\n\n{full}")

    assert tried(project, "--record") == [("Full", True, "recorded")] * 2
    assert tried(project) == [("Full", True, "replayed")] * 2
    assert len(project.lines("calls.txt")) == 2


@pytest.mark.parametrize(
    ("tool", "code", "why"),
    [
        ("die", "outcome_unknown", "its process ended"),
        ("ask", "tool_error", "How large?"),
    ],
)
def test_what_is_no_answer_is_not_recorded(tmp_path: Path, tool: str, code: str, why: str) -> None:
    lost = example("Lost", {}, error=code)
    project = Guarded(tmp_path / "p", tool, more=f"## Examples\n\n{lost}")

    ((_, passed, said),) = tried(project, "--record")

    assert not passed
    assert "can't be recorded" in said
    assert why in said
    assert not list(project.root.glob("tools_md/*.answers.jsonl"))


def test_a_server_that_does_not_run_is_no_answer(project: Guarded) -> None:
    edit(project, HELLO, example("Says hello", {"text": "hello"}, error="tool_error"))
    (project.root / "toolmd.toml").write_text('[servers.plain]\ncommand = ["no-such-program"]\n')

    ((_, passed, why),) = tried(project, "--record")

    assert not passed
    assert "Nothing was sent" in why


def test_no_secret_is_written_and_the_replay_passes_all_the_same(tmp_path: Path) -> None:
    table = 'env = {TOKEN = "Bearer $GIVEN"}'
    card = example("A card", {"text": "4111-1111"}, {"echo": {"text": "4111-1111"}})
    full = example("Full", {"text": "4111-1111"}, error="tool_error")
    project = Guarded(tmp_path / "p", table=table)
    project.add("echo", more=f"## Examples\n\n{card}")
    project.add("fail", more=f"## Examples\n\n{full}")
    for name in ("echo", "fail"):
        file = f"tools_md/{name}.tool.md"
        edit(project, "- **Required**", "- **Sensitive**: true\n  - **Required**", file)
    project.serve(listed("echo"), listed("fail"))

    given = {"GIVEN": "s3cret-value"}
    assert all(passed for _, passed, _ in tried(project, "--record", **given))

    written = "".join(one.read_text() for one in project.root.glob("tools_md/*.answers.jsonl"))
    assert written.count('"event": "answer"') == 2
    assert '"(hidden)"' in written
    assert "4111" not in written
    assert "s3cret" not in written
    assert all(passed for _, passed, _ in tried(project))


def test_a_picture_is_recorded_and_replayed(tmp_path: Path) -> None:
    part = {"part": 1, "type": "image", "media_type": "image/png", "bytes": 8}
    seen = example("Seen", {}, part)
    project = Guarded(tmp_path / "p", "picture", more=f"## Examples\n\n{seen}")

    assert tried(project, "--record") == [("Seen", True, "recorded")]
    assert tried(project) == [("Seen", True, "replayed")]


def test_a_tool_that_hides_the_failure_of_its_call_fails_all_the_same(project: Guarded) -> None:
    text = (project.root / "tools_md/echo.tool.md").read_text("utf-8")
    quiet = text.replace("- **Implemented By**: mcp plain echo\n", "").replace(
        "Name**: echo", "Name**: quiet"
    )
    quiet = quiet.replace('{"echo": {"text": "hello"}}', '"done"')
    (project.root / "tools_md/quiet.tool.md").write_text(quiet, "utf-8")
    (project.root / "tools_md/quiet.py").write_text(
        "async def quiet(text=None, *, context):\n"
        "    await context.call('echo', {'text': text})\n"
        "    return 'done'\n"
    )
    ((_, passed, why),) = tried(project, "quiet")
    assert not passed
    assert "toolmd test --record quiet" in why

    assert tried(project, "--record", "quiet") == [("Says hello", True, "recorded")]
    assert tried(project, "quiet") == [("Says hello", True, "replayed")]
    assert len(project.lines("calls.txt")) == 1
