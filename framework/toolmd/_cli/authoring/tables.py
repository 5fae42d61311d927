"""Add the table of a service or a server to the settings."""

from pathlib import Path
from typing import Any

from toolmd._cli.files import shown
from toolmd.config import load_settings


def add_table(table: Any, folder: Path | None) -> str:
    """Add a table to the settings, and return what was done; one of that name stays as it is."""
    settings = load_settings(folder)
    file = settings.file or settings.root / "toolmd.toml"
    if table.name in getattr(settings, table.section):
        return f"{shown(file)} has [{table.section}.{table.name}] already: it stays as it is"
    prefix = "tool.toolmd." if file.name == "pyproject.toml" else ""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    gap = "\n" if before.strip() else ""
    file.write_text(f"{before}{gap}{table.text(prefix)}", encoding="utf-8")
    return f"[{prefix}{table.section}.{table.name}] was added to {shown(file)}"
