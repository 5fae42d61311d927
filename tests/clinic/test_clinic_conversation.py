"""`toolmd test` replays a conversation at the desk."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_conversation_at_the_desk_is_replayed():
    done = subprocess.run(
        [sys.executable, "-m", "toolmd", "test", "skills_md/conversations/desk.chat.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "8 examples, all passed" in done.stdout + done.stderr
