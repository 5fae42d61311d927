"""Write definitions in canonical form, or show the changes that this would make."""

import difflib
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from toolmd._cli.files import STDIN, definitions_among, replace_file
from toolmd._cli.frame import ExitCode
from toolmd._cli.project.single_file import ReadAlone, read_alone
from toolmd._cli.reports.diagnostics import concise
from toolmd._cli.screen import Paint, busy, counted, err, out, out_json, paint
from toolmd._parse import format_text
from toolmd._types.diagnostic import Diagnostic, Severity

_PAINTS: dict[str, Paint] = {"+": "green", "-": "red", "@": "cyan"}


class _Formatted(NamedTuple):
    """A definition and its state before or after formatting."""

    path: str
    state: Literal["canonical", "changes", "written", "broken"]
    text: str = ""
    """The text in canonical form."""
    difference: tuple[str, ...] = ()
    errors: tuple[Diagnostic, ...] = ()

    def to_dict(self, *, diff: bool) -> dict[str, Any]:
        """Return `{path, state, diff?, errors?}`."""
        shown: dict[str, Any] = {"path": self.path, "state": self.state}
        if diff and self.difference:
            shown["diff"] = "\n".join(self.difference)
        if self.errors:
            shown["errors"] = [error.to_dict() for error in self.errors]
        return shown


def format_paths(
    paths: Iterable[str], style: str, *, check: bool, diff: bool, json: bool
) -> ExitCode:
    """Format each definition; report one with errors and leave it as it is."""
    dry = check or diff
    done = []
    with busy("Formatting"):
        for path in definitions_among(paths):
            formatted = _formatted(read_alone(str(path)), style)
            if formatted.state == "changes" and not dry:
                replace_file(path, formatted.text)
                formatted = formatted._replace(state="written")
            done.append(formatted)
            if not json:
                _tell(formatted, diff=diff)
    if json:
        out_json([formatted.to_dict(diff=diff) for formatted in done])
    else:
        _sum_up(done, dry=dry)
    return _exit(done)


def format_stdin(style: str, *, check: bool, diff: bool, json: bool) -> ExitCode:
    """Format stdin to stdout."""
    formatted = _formatted(read_alone(STDIN), style)
    if json:
        # Without --json, stdout has the text; here it is a key.
        text = {} if formatted.state == "broken" else {"text": formatted.text}
        out_json({**formatted.to_dict(diff=diff), **text})
    elif formatted.state == "broken" or check or diff:
        _tell(formatted, diff=diff)
    else:
        sys.stdout.write(formatted.text)
    return _exit([formatted] if check or diff or formatted.state == "broken" else [])


def _formatted(read: ReadAlone, style: str) -> _Formatted:
    text = None if read.text is None else format_text(read.text, read.path, style)
    if text is None or read.spec is None:
        errors = tuple(d for d in read.diagnostics if d.severity is Severity.ERROR)
        return _Formatted(read.path, "broken", errors=errors)
    if text == read.text:
        return _Formatted(read.path, "canonical", text)
    return _Formatted(read.path, "changes", text, _difference(read, text))


def _tell(formatted: _Formatted, *, diff: bool) -> None:
    match formatted.state:
        case "broken":
            err(concise(formatted.errors, lambda _: ()))
        case "written":
            err(f"{paint('written', 'green', sys.stderr)} {formatted.path}")
        case "changes" if diff:
            for line in formatted.difference:
                how = _PAINTS.get(line[:1])
                out(paint(line, how) if how else line)
        case "changes":
            out(f"{formatted.path}: would change")


def _sum_up(done: Sequence[_Formatted], *, dry: bool) -> None:
    changed = sum(f.state in {"changes", "written"} for f in done)
    broken = sum(f.state == "broken" for f in done)
    would = "would change" if dry else "rewritten"
    told = [f"{counted(changed, 'file')} {would}"] if changed else []
    told += [f"{counted(broken, 'file')} with errors left as they are"] if broken else []
    rest = counted(len(done) - changed - broken, "file")
    err(", ".join([*told, f"{rest} already canonical"]) + ".")


def _exit(done: Sequence[_Formatted]) -> ExitCode:
    found = any(formatted.state in {"broken", "changes"} for formatted in done)
    return ExitCode.FINDINGS if found else ExitCode.DONE


def _difference(read: ReadAlone, formatted: str) -> tuple[str, ...]:
    before = (read.text or "").splitlines(keepends=True)
    after = formatted.splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, read.path, f"{read.path} (canonical)")
    return tuple(line.rstrip("\n") for line in lines)
