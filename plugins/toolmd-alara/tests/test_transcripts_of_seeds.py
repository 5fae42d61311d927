"""The example conversations of seeds 000 and 001, word by word, as `toolmd test` replays them."""

import json
import os
import subprocess
import sys
from pathlib import Path

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.jsonl"))


def test_the_example_conversations_replay_as_the_seeds_tell(tmp_path):
    (tmp_path / "toolmd.toml").write_text("tools = []\nskills = []\n")
    given = [word for file in FILES for word in ("--transcript", str(file))]
    done = subprocess.run(
        [sys.executable, "-m", "toolmd", "test", "--json", *given],
        cwd=tmp_path,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": "alara"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    replayed = json.loads(done.stdout)
    assert len(FILES) == 6
    assert [one["message"] for one in replayed if "001-example-3" in one["place"]] == [
        "create_care_log confirm", "create_care_log confirm", "create_care_log allowed",
    ]  # fmt: skip
