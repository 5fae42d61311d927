"""`toolmd test` replays a conversation at the desk."""

from pathlib import Path

from tests.command import run_command

ROOT = Path(__file__).parents[2]


def test_a_conversation_at_the_desk_is_replayed():
    desk = "skills_md/conversations/desk.chat.md"
    done = run_command(ROOT, "test", desk, CLINIC_NOW="2026-03-02T08:00")
    assert done.code == 0, done.out
    assert "8 examples, all passed" in done.out + done.err
