"""Add and remove the tables of tokens in the text of a settings file, and change nothing else."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolmd._types.settings import TokenSettings
from toolmd.config import PROJECT_FILE


def header_of(file: Path) -> str:
    """Return the header of a token's table in this settings file."""
    table = "tool.toolmd.serve.tokens" if file.name == PROJECT_FILE else "serve.tokens"
    return f"[[{table}]]"


def table_of(token: TokenSettings, header: str) -> str:
    """Return the table of a token as TOML."""
    lines = [header, f"sha256 = {_text(token.sha256)}", f"user = {_text(token.user)}"]
    lines.append(f"may = [{', '.join(map(_text, token.may))}]")
    if token.context:
        facts = (f"{k} = [{', '.join(map(_text, v))}]" for k, v in token.context.items())
        lines.append(f"context = {{ {', '.join(facts)} }}")
    return "\n".join(lines) + "\n"


def added(text: str, token: TokenSettings, header: str) -> str | None:
    """Return the settings with one more token; None if the file's form does not allow it."""
    new = f"{text.rstrip()}\n\n{table_of(token, header)}".lstrip()
    after = _read(new)
    rows = None if after is None else _rows(after, header)
    if not rows or rows.pop()["sha256"] != token.sha256:
        return None
    return new if _same(text, after, header) else None


def removed(text: str, sha256: str, header: str) -> str | None:
    """Return the settings without one token; None if its lines can't be determined."""
    lines = text.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        if lines[start].split("#")[0].strip() != header or sha256 not in "".join(lines[start:end]):
            continue
        new = "".join((*lines[:start], *lines[end:])).rstrip() + "\n"
        after = _read(new)
        before = _read(text)
        if before is None or after is None:
            return None
        before_rows = _rows(before, header)
        before_rows[:] = [row for row in before_rows if row.get("sha256") != sha256]
        if before_rows == _rows(after, header) and _same(text, after, header):
            return new
    return None


def _same(text: str, after: Mapping[str, Any] | None, header: str) -> bool:
    """Check that the settings differ by their tokens only."""
    before = _read(text)
    if before is None or after is None:
        return False
    for settings in (before, after):
        at: Any = settings
        *path, last = header.strip("[]").split(".")
        for key in path:
            at = at.setdefault(key, {})
        at.pop(last, None)
    return before == after


def _rows(settings: Any, header: str) -> list[dict[str, Any]]:
    for key in header.strip("[]").split("."):
        settings = settings.get(key, {}) if isinstance(settings, dict) else {}
    return settings if isinstance(settings, list) else []


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
