"""`toolmd test` replays a review, on recorded answers."""

import os
import subprocess
import sys
from pathlib import Path

from ncbi_server import HEARTS
from openai_server import pico_of

REVIEW = Path(__file__).parents[1] / "conversations" / "review.chat.md"


def test_a_review_by_a_model_is_replayed(tmp_path, ncbi, openai, environ):
    (tmp_path / "toolmd.toml").write_text("tools = []\nskills = []\n")
    for pmid in [*HEARTS, *range(31, 61)]:
        ncbi.add(pmid, f"Statins and heart failure {pmid}", f"Statins help hearts {pmid}.")
    openai.say = lambda task, material: pico_of(material)
    done = subprocess.run(
        [sys.executable, "-m", "toolmd", "test", REVIEW],
        cwd=tmp_path,
        env={**os.environ, **environ, "TOOLMD_LOAD_PLUGINS": "litreview"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "7 examples, all passed" in done.stdout + done.stderr
