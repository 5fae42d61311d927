"""`toolmd test` replays a day of a patient."""

from pathlib import Path

from tests.command import run_command

DAY = Path(__file__).parents[1] / "conversations" / "day.chat.md"


def test_a_day_of_a_patient_is_replayed(tmp_path):
    (tmp_path / "toolmd.toml").write_text("tools = []\nskills = []\n")
    done = run_command(tmp_path, "test", str(DAY), TOOLMD_LOAD_PLUGINS="alara")
    assert done.code == 0, done.out
    assert "13 examples, all passed" in done.out + done.err
    assert not (tmp_path / ".toolmd").exists()
