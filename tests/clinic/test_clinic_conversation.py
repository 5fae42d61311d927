"""`toolmd test` replays a conversation at the desk."""

from pathlib import Path

from tests.command import run_command

ROOT = Path(__file__).parents[2]


def test_a_conversation_at_the_desk_is_replayed():
    done = run_command(ROOT, "test", "skills_md/conversations/desk.chat.md")
    assert done.code == 0, done.out
    assert "8 examples, all passed" in done.out + done.err
