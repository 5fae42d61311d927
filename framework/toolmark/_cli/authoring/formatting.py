"""Write definitions in canonical form, or show what that would change."""

import difflib
import sys
from collections.abc import Iterable
from pathlib import Path

from toolmark._cli.authoring.fixes import replace_file
from toolmark._cli.project.alone import Read, read_alone
from toolmark._cli.project.paths import STDIN, definitions_among
from toolmark._cli.reports.diagnostics import concise
from toolmark._cli.terminal.exits import ExitCode
from toolmark._cli.terminal.screen import Paint, busy, counted, err, out, paint
from toolmark._model.diagnostic import Severity
from toolmark._parse import format_text

_PAINTS: dict[str, Paint] = {"+": "green", "-": "red", "@": "cyan"}


def format_paths(paths: Iterable[str], *, check: bool, diff: bool) -> ExitCode:
    """Format each definition that is meant; one with errors is left alone, and told."""
    changed = failed = seen = 0
    with busy("Formatting"):
        for path in definitions_among(paths):
            seen += 1
            read = read_alone(str(path))
            formatted = _formatted(read)
            if formatted is None:
                failed += 1
            elif formatted.encode() != path.read_bytes():
                changed += 1
                _change(path, read, formatted, check=check, diff=diff)
    would = "would change" if check or diff else "written anew"
    told = [f"{counted(changed, 'file')} {would}"] if changed else []
    told += [f"{counted(failed, 'file')} with errors left alone"] if failed else []
    rest = counted(seen - changed - failed, "file")
    err(", ".join([*told, f"{rest} canonical already"]) + ".")
    return ExitCode.FINDINGS if failed or (changed and (check or diff)) else ExitCode.DONE


def format_stdin(*, check: bool, diff: bool) -> ExitCode:
    """Format stdin to stdout."""
    read = read_alone(STDIN)
    formatted = _formatted(read)
    if formatted is None:
        return ExitCode.FINDINGS
    if diff:
        _show_difference(read, formatted)
    elif not check:
        sys.stdout.write(formatted)
    changes = formatted != read.text and (check or diff)
    return ExitCode.FINDINGS if changes else ExitCode.DONE


def _formatted(read: Read) -> str | None:
    """Give the canonical text, or None, told, where the file has errors."""
    if read.text is None or read.spec is None:
        errors = [d for d in read.diagnostics if d.severity is Severity.ERROR]
        err(concise(errors, lambda _: ()))
        return None
    return format_text(read.text, read.path)


def _change(path: Path, read: Read, formatted: str, *, check: bool, diff: bool) -> None:
    if diff:
        _show_difference(read, formatted)
    elif check:
        out(f"{path}: would change")
    else:
        replace_file(path, formatted)
        err(f"{paint('written', 'green', sys.stderr)} {path}")


def _show_difference(read: Read, formatted: str) -> None:
    before = (read.text or "").splitlines(keepends=True)
    after = formatted.splitlines(keepends=True)
    for line in difflib.unified_diff(before, after, read.path, f"{read.path} (canonical)"):
        how = _PAINTS.get(line[0])
        text = line.rstrip("\n")
        out(paint(text, how) if how else text)
