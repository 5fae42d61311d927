"""A skill in Python, killed at each boundary of its calls: each took effect once by its key."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_edited_files import FILES
from tests import warm_python
from tests.definitions import skill

STEM = skill(
    "job",
    "act, undo",
    "1. Begin, go on and end.",
)
JOB = '''"""Make two calls."""

from pathlib import Path


async def job(*, context):
    with Path(__file__).with_name("begun.txt").open("a") as begun:
        begun.write("begun\\n")
    lines = []
    for what in ("begin", "end"):
        result = await context.call("act", {"what": what})
        lines.append(result.data["line"])
    return {"lines": lines}
'''
ACT = '''"""Write down each call with its idempotency key."""

import json
from pathlib import Path


async def act(what: str, *, context):
    with Path(__file__).with_name("calls.txt").open("a") as calls:
        calls.write(json.dumps([what, context.idempotency_key]) + "\\n")
    return {"line": f"{what}!"}
'''
PYTHON = FILES | {
    "skills_md/job.skill.md": STEM,
    "skills_md/job.py": JOB,
    "tools_md/act.py": ACT,
}
BOUNDARIES = [f"{when} {what}" for what in ("begin", "end") for when in ("before", "after")]


def project_of(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return root


def play(root: Path, boundary: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__).with_name("job_process.py")), str(root), boundary]
    return warm_python.run(command, capture_output=True, text=True, check=False)


def test_a_skill_in_python_that_is_killed_at_each_boundary_calls_once_by_its_keys(
    tmp_path: Path,
) -> None:
    root = project_of(tmp_path, PYTHON)
    for boundary in [*BOUNDARIES, "at the end"]:
        assert play(root, boundary).returncode == -signal.SIGKILL, boundary
    done = play(root)
    assert done.returncode == 0, done.stderr
    calls = [json.loads(line) for line in (root / "tools_md/calls.txt").read_text().splitlines()]
    # A call that was cut between its effect and its record runs again, under the same key.
    assert [what for what, _ in calls] == ["begin"] * 2 + ["end"] * 2
    assert len({key for _, key in calls}) == 2
    # The Python started again after each cut, but not after its end.
    assert (root / "skills_md/begun.txt").read_text().count("begun") == 5


@pytest.mark.parametrize(
    ("tool", "what"), [("undo", "begin"), ("act", "other")], ids=["another tool", "other arguments"]
)
def test_a_skill_in_python_that_does_not_repeat_its_calls_makes_no_other(
    tmp_path: Path, tool: str, what: str
) -> None:
    whim = JOB.replace(
        "    lines = []",
        '    if Path(__file__).with_name("begun.txt").read_text().count("begun") > 1:\n'
        f'        await context.call("{tool}", {{"what": "{what}"}})\n'
        "    lines = []",
    )
    root = project_of(tmp_path, PYTHON | {"skills_md/job.py": whim})
    assert play(root, "before end").returncode == -signal.SIGKILL
    again = play(root)
    assert again.returncode == 1
    assert 'call 1 was act({"what": "begin"}) and is ' in again.stdout
    assert (root / "tools_md/calls.txt").read_text().count("begin") == 1
