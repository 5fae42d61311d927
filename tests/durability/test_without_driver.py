"""Where the driver of Postgres is missing, the message names the command that installs it."""

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["psycopg"] = None
from toolmd.errors import ConfigError
from pathlib import Path
from toolmd._store.store import Store
"""
RATES = """
try:
    Store("postgresql://me@127.0.0.1/runs", Path()).limits.take("pay", 1.0)
except ConfigError as error:
    print(error)
"""
MESSAGE = "store: Postgres' driver, psycopg, is missing; install it: pip install 'toolmd[fleet]'\n"


def printed(script: str, *words: object) -> str:
    command = [sys.executable, "-c", WITHOUT + script, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_shared_rates_name_the_command_that_installs_the_driver():
    assert printed(RATES) == MESSAGE
