"""A plain install has no driver of Postgres: SQLite works, and Postgres names the command."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
for name in ("psycopg", "psycopg_binary", "greenlet", "dbos"):
    sys.modules[name] = None
from toolmd import Workspace
from toolmd.errors import ConfigError
from toolmd._call.limits.fleet import FleetStarts
"""
STEPS = """
TOOL = "# Greet\\n\\nGreets.\\n\\n## Metadata\\n\\n- **Name**: greet\\n- **Version**: 1.0.0\\n"
TOOL += "- **Category**: test\\n\\n## Parameters\\n\\nNone\\n\\n"
TOOL += "## Returns\\n\\n- **Type**: object\\n- **Description**: What came\\n"
SKILL = "# Welcome\\n\\nWelcomes.\\n\\n## Metadata\\n\\n- **Name**: welcome\\n"
SKILL += "- **Version**: 1.0.0\\n"
SKILL += "- **Category**: test\\n- **Required Tools**: greet\\n\\n## Workflow\\n\\n"
SKILL += "1. **Greet**.\\n   - **Use**: greet\\n\\n## Input Schema\\n\\nNone\\n\\n"
SKILL += "## Output Schema\\n\\n- **Type**: object (SkillResult)\\n"
from pathlib import Path
root = Path(sys.argv[1])
(root / "toolmd.toml").write_text("plugins = []\\n")
for name in ("tools_md", "skills_md"):
    (root / name).mkdir()
(root / "tools_md/greet.tool.md").write_text(TOOL)
(root / "tools_md/greet.py").write_text("def greet(): return {'said': 'hello'}\\n")
(root / "skills_md/welcome.skill.md").write_text(SKILL)
with Workspace.open(root, overrides={"engine": sys.argv[2]}) as workspace:
    try:
        print(workspace.run_sync("welcome", {}).success)
    except ConfigError as error:
        print(error)
"""
RATES = """
try:
    FleetStarts("postgresql://me@127.0.0.1/runs")._open()
except ConfigError as error:
    print(error)
"""
MESSAGE = (
    "engine: Postgres' driver, psycopg, is missing; install it: pip install 'toolmd[postgres]'\n"
)


def printed(script: str, *words: object) -> str:
    command = [sys.executable, "-c", WITHOUT + script, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("engine", "said"),
    [("sqlite", "True\n"), ("postgresql://me@127.0.0.1:5432/runs", MESSAGE)],
    ids=["sqlite", "postgres"],
)
def test_runs_need_the_driver_on_postgres_only(tmp_path, engine, said):
    assert printed(STEPS, tmp_path, engine) == said


def test_shared_rates_name_the_command_that_installs_the_driver():
    assert printed(RATES) == MESSAGE
