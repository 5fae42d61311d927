"""Wait until somebody has written to a pipe."""

from pathlib import Path


def wait(pipe: str) -> str:
    return Path(pipe).read_text("utf-8")
