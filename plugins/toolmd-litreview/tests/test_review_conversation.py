"""`toolmd test` replays a review, on recorded answers."""

from pathlib import Path

from ncbi_server import HEARTS
from openai_server import pico_of
from tests.command import run_command

REVIEW = Path(__file__).parents[1] / "conversations" / "review.chat.md"


def test_a_review_by_a_model_is_replayed(tmp_path, ncbi, openai, environ):
    (tmp_path / "toolmd.toml").write_text("tools = []\nskills = []\n")
    for pmid in [*HEARTS, *range(31, 61)]:
        ncbi.add(pmid, f"Statins and heart failure {pmid}", f"Statins help hearts {pmid}.")
    openai.say = lambda task, material: pico_of(material)
    environ["TOOLMD_LOAD_PLUGINS"] = "litreview"
    done = run_command(tmp_path, "test", str(REVIEW), **environ)
    assert done.code == 0, done.out
    assert "7 examples, all passed" in done.out + done.err
