"""`check`: report all diagnostics of files, bindings and skills."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from toolmd._cli.authoring.fixes import fix_files
from toolmd._cli.files import STDIN
from toolmd._cli.frame import ExitCode, JsonOption, ProjectOption, stop
from toolmd._cli.names import wanted_python
from toolmd._cli.project.findings import Findings, find
from toolmd._cli.reports.diagnostics import REPORTS, lines_below, summary
from toolmd._cli.screen import busy, err, out, paint, printable
from toolmd._types.diagnostic import Severity

_MOST_PASSES = 10
"""The most rounds of fixes: one fix may reveal the next, but must not loop forever."""
_MOST_NAMED = 10
"""The most tools without Python that the last line names."""
_MOST_HELP = 3
"""The most tools without Python for which the file to write is shown."""


class OutputFormat(StrEnum):
    """The form of the diagnostics."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files or folders; `-` reads stdin."),
    ] = None,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the known fixes.")] = False,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Import all Python again, also what was found to fit."),
    ] = False,
    output_format: Annotated[
        OutputFormat, typer.Option("--output-format", help="The form of the diagnostics.")
    ] = OutputFormat.FULL,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Check definitions, their Python, and the steps of skills.

    Exit code 1: there are errors or warnings; hints alone, and tools without Python, exit with 0.
    """
    if json:
        if output_format not in (OutputFormat.FULL, OutputFormat.JSON):
            what = f"--json and --output-format {output_format.value} are two forms"
            stop(ExitCode.USAGE, what, "give one of them")
        output_format = OutputFormat.JSON
    with nullcontext() if paths == [STDIN] else busy("Checking"):
        findings = find(paths or (), project, again=no_cache)
        if fix:
            findings = _mended(paths or (), project, findings)
    lines = findings.lines or lines_below(findings.root)
    if report := REPORTS[output_format](findings.diagnostics, lines):
        out(report)
    if output_format in (OutputFormat.FULL, OutputFormat.CONCISE):
        _sum_up(findings, fix=fix)
    elif findings.without_python:
        err(_without_python(findings))
    if any(d.severity is not Severity.HINT for d in findings.diagnostics):
        raise typer.Exit(ExitCode.FINDINGS)


def _mended(paths: Sequence[str], folder: Path | None, findings: Findings) -> Findings:
    if findings.lines is not None:
        return findings
    for _ in range(_MOST_PASSES):
        fixed = fix_files(findings.diagnostics, findings.root)
        for file in fixed:
            codes = ", ".join(dict.fromkeys(file.codes))
            err(f"{paint('fixed', 'green', sys.stderr)} {file.path}: {codes}")
        if not fixed:
            break
        findings = find(paths, folder)
    return findings


def _sum_up(findings: Findings, *, fix: bool) -> None:
    bare = _without_python(findings)
    if findings.diagnostics:
        out()
        err(f"Found {summary(findings.diagnostics)}.{f' {bare}' if bare else ''}")
    elif findings.looked_at == "0 files":
        err("Nothing to check: there are no `*.tool.md`, `*.skill.md` or `*.prompt.md` files.")
    elif bare:
        err(f"{paint('No errors', 'yellow', sys.stderr)}: {findings.looked_at}. {bare}")
    else:
        err(f"{paint('All well', 'green', sys.stderr)}: {findings.looked_at}.")
    for note in findings.notes:
        err(f"{paint('note', 'cyan', sys.stderr)}: {printable(note)}")
    if len(findings.without_python) <= _MOST_HELP:
        for name, path in findings.without_python.items():
            wanted = wanted_python(name, path, findings.root)
            err(f"{paint('help', 'cyan', sys.stderr)}: {printable(wanted)}")
    fixable = sum(1 for d in findings.diagnostics if d.fix)
    if fixable and not fix:
        known = "1 fix is" if fixable == 1 else f"{fixable} fixes are"
        err(f"{known} known: run it again with --fix.")


def _without_python(findings: Findings) -> str:
    names = [*findings.without_python]
    if not names:
        return ""
    more = len(names) - _MOST_NAMED
    listed = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    have = "1 tool has" if len(names) == 1 else f"{len(names)} tools have"
    return f"{have} no Python yet, so calls fail: {listed}."
