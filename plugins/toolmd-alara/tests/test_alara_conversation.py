"""`toolmd test` replays a day of a patient."""

import os
import subprocess
import sys
from pathlib import Path

DAY = Path(__file__).parents[1] / "conversations" / "day.chat.md"


def test_a_day_of_a_patient_is_replayed(tmp_path):
    (tmp_path / "toolmd.toml").write_text("tools = []\nskills = []\n")
    done = subprocess.run(
        [sys.executable, "-m", "toolmd", "test", DAY],
        cwd=tmp_path,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": "alara"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "13 examples, all passed" in done.stdout + done.stderr
    assert not (tmp_path / ".toolmd").exists()
