"""`toolmd test FILE.chat.md` replays a conversation and says where it differs."""

from datetime import datetime, timedelta

import pytest
from tests.definitions import tool

from toolmd._workspace.transcripts import replay
from toolmd.errors import ConfigError

TOOL = tool(
    "greet",
    "- **name** (string, required)",
    "\n## Safety\n\n- **Requires Confirmation**: true\n",
    returns="string",
)
CALL = '```json\n{"tool": "greet", "params": {"name": "Ana"}}\n```\n\n'


@pytest.fixture
def tried(tmp_path):
    """Replay turns in a project with one tool."""
    (tmp_path / "tools_md").mkdir()
    (tmp_path / "toolmd.toml").write_text("")
    (tmp_path / "tools_md/greet.tool.md").write_text(TOOL)
    (tmp_path / "tools_md/greet.py").write_text("def greet(name):\n    return f'Hello, {name}'\n")

    def go(*turns):
        path = tmp_path / "talk.chat.md"
        path.write_text("# Talk\n\n- **User**: ana\n\n" + "\n".join(turns))
        return [(one.example, one.message) for one in replay(tmp_path, path)]

    return go


def test_a_reply_and_a_yes_are_replayed_and_leave_nothing(tried, tmp_path):
    turns = (
        f"## Greet Ana\n\n{CALL}- greet: confirm, name: Ana\n",
        "## Yes\n\n- greet: ok, Hello, Ana\n",
    )
    assert tried(*turns) == [("Greet Ana", ""), ("Yes", "")]
    assert not (tmp_path / ".toolmd").exists()


def test_dates_from_a_day_on_are_moved_to_come_on_the_same_weekday(tried):
    today = datetime.now().astimezone().date()
    tuesday = today + timedelta(days=-today.weekday() % 7 + 1)
    call = CALL.replace("Ana", "2020-01-07T09:00")
    turn = f"## On 2020-01-07T09:00, not 2019-12-31 or 2020-02-30\n\n{call}"
    expected = "- greet: confirm, name: 2020-01-07T09:00\n"
    told = tried("- **As Of**: 2020-01-06\n", turn + expected)
    assert told == [(f"On {tuesday}T09:00, not 2019-12-31 or 2020-02-30", "")]


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (f"## Greet Ana\n\n{CALL}- greet: ok\n", "expected greet: ok, got greet: confirm"),
        (f"## Greet Ana\n\n{CALL}- greet: confirm, Bob\n", "expected greet: confirm, Bob, got"),
        (f"## Greet Ana\n\n{CALL}", "expected 0 results, got 1"),
        ("## Yes, but later\n\n- greet: ok\n", "expected 1 results, got 0"),
    ],
)
def test_a_turn_that_goes_otherwise_is_told(tried, turn, why):
    ((_, message),) = tried(turn)
    assert message.startswith(why)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# Talk\n\n- **User**: ana\n", "talk.chat.md has no turn"),
        ("- **As Of**: Monday\n\n## Hi\n", "talk.chat.md has As Of `Monday`"),
        ("- **Context**: patient\n\n## Hi\n", "talk.chat.md has the context `patient`"),
        ("- **Context**: =P-1\n\n## Hi\n", "talk.chat.md has the context ``"),
        ("- **Role**: desk\n\n## Hi\n", "talk.chat.md names `role`"),
    ],
)
def test_a_transcript_that_can_not_be_replayed_says_why(tmp_path, text, why):
    path = tmp_path / "talk.chat.md"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        next(replay(tmp_path, path))
    assert str(raised.value).startswith(why)
