"""Draw a skill's steps, or those of one run, as a picture or as text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolmd._cli.terminal.atomic_write import naming, replace_file
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import stop
from toolmd._cli.terminal.screen import err, out, out_json

_PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"}
"""The suffixes of pictures in other formats."""


def drawable(spec: Any) -> None:
    """Stop if a skill has no steps."""
    if not spec.executable:
        help_ = f"`toolmd show {spec.name}` shows its prose or its Python"
        stop(ExitCode.FINDINGS, f"the skill {spec.name!r} has no steps to draw", help_)


def drawn(
    spec: Any,
    states: Mapping[str, Any],
    *,
    svg: bool,
    output: Path | None,
    json: dict[str, Any] | None,
) -> None:
    """Draw a skill or one of its runs, to a file or stdout; `json` has the other keys of --json."""
    from toolmd._skills.graph import chart_of, mermaid
    from toolmd._skills.graph import svg as picture

    suffix = "" if output is None else output.suffix.lower()
    if suffix in _PICTURES:
        stop(ExitCode.USAGE, f"{output}: can't draw {suffix}", "name a file that ends in .svg")
    as_picture = svg or suffix == ".svg"
    chart = chart_of(spec)
    text = picture(chart, states) if as_picture else mermaid(chart, states)
    if output is not None:
        _write(output, text)
        err(f"wrote {output}")
    elif json is None:
        out(text.rstrip("\n"))
    if json is not None:
        out_json({**json, "format": "svg" if as_picture else "mermaid", "text": text})


def _write(output: Path, text: str) -> None:
    if output.exists() and not output.is_file():
        with naming(output):
            output.write_text(text, encoding="utf-8")  # a pipe, or a terminal
    else:
        replace_file(output, text)
