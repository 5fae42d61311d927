"""`toolmd test` over ALARA's own files, as it is installed."""

import json
import os
import sys

from tests import warm_python


def test_the_examples_of_the_files_pass(tmp_path):
    (tmp_path / "toolmd.toml").write_text("tools = []\nskills = []\n")
    done = warm_python.run(
        [sys.executable, "-m", "toolmd", "test", "--json"],
        cwd=tmp_path,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": "alara"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    tried = json.loads(done.stdout)
    assert {one["tool"] for one in tried} >= {"add_care_log", "create_reminder", "update_mood"}
    assert len({one["tool"] for one in tried}) == 20
    assert not (tmp_path / ".toolmd").exists()
