"""The verbs that examine definitions: check, fmt and test."""

import difflib
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from toolmd._cli.diagnostics import REPORTS, concise, fix_files, lines_below, summary
from toolmd._cli.files import STDIN, definitions_among, path_here, write_file
from toolmd._cli.frame import Answer, ExitCode, stop
from toolmd._cli.names import complete_names, suggest_python
from toolmd._cli.screen import Paint, err, help_line, paint, plural, printable
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd.config import find_project, load_settings

_MOST_PASSES = 10
"""The most rounds of fixes: one fix may reveal the next, but must not loop forever."""
_MOST_NAMED = 10
"""The most tools without Python that the last line names."""
_MOST_HELP = 3
"""The most tools without Python for which the file to write is shown."""
PathsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="PATH", help="Files or folders; `-` reads stdin.")
]


class OutputFormat(StrEnum):
    """The form of the diagnostics."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


def check(
    paths: PathsArgument = None,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the known fixes.")] = False,
    output_format: Annotated[
        OutputFormat, typer.Option("--output-format", help="The form of the diagnostics.")
    ] = OutputFormat.FULL,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="REV", help="Report each policy that is weaker than at a revision."
        ),
    ] = None,
    json: bool,
    project: Path | None,
) -> Answer:
    """Check definitions, their Python, and the steps of skills.

    Exit code 1: there are errors or warnings; hints alone, tools without Python, unset variables
    and the findings of installed packages exit with 0. Settings can leave out findings
    (`check.ignore`).

    With --against, the definitions of a git revision are read, and none of its code is run.
    """
    from toolmd._cli.findings import find

    if json and output_format not in (OutputFormat.FULL, OutputFormat.JSON):
        what = f"--json and --output-format {output_format.value} are two forms"
        stop(ExitCode.USAGE, what, "give one of them")
    found = find(paths or (), project)
    for _ in range(_MOST_PASSES if fix and found.lines is None else 0):
        fixed = fix_files(found.diagnostics, found.root)
        for file in fixed:
            codes = ", ".join(dict.fromkeys(file.codes))
            err(f"{paint('fixed', 'green', sys.stderr)} {file.path}: {codes}")
        if not fixed:
            break
        found = find(paths or (), project)
    policy = _against(against, project) if against is not None else None
    if policy is not None:
        found = found._replace(diagnostics=(*found.diagnostics, *policy.diagnostics))
    ignored = _codes_to_ignore(project)
    kept = tuple(d for d in found.diagnostics if not _is_ignored(d, ignored))
    left_out, found = len(found.diagnostics) - len(kept), found._replace(diagnostics=kept)
    report = REPORTS[output_format](found.diagnostics, found.lines or lines_below(found.root))
    bare = _without_python([*found.without_python])
    lines = [bare] if bare else []
    if output_format in (OutputFormat.FULL, OutputFormat.CONCISE):
        lines = _summary(found, bare, fix=fix)
        report += "\n" if report else ""
    if policy is not None:
        lines += [*(f"note: {printable(note)}" for note in policy.notes), str(policy)]
    if left_out:
        lines.append(f"{plural(left_out, 'finding')} left out by check.ignore.")
    own = _list_own_folders(found.root, paths or (), project)
    wrong = any(_fails(d, found.root, own) for d in found.diagnostics)
    value = [d.to_dict() for d in found.diagnostics]
    notes = [bare] if bare and json else []
    return Answer(value, report or None, lines, ExitCode.FINDINGS if wrong else 0, notes)


def _codes_to_ignore(project: Path | None) -> tuple[str, ...]:
    if project is None and find_project(Path.cwd().resolve()) is None:
        return ()
    return load_settings(project).check.ignore


def _is_ignored(one: Diagnostic, ignored: tuple[str, ...]) -> bool:
    name = Path(one.span.path).name.partition(".")[0].replace("-", "_")
    may_be = one.severity is not Severity.ERROR and one.code != Code.WEAKENED_POLICY
    return may_be and not {one.code, f"{one.code}:{name}"}.isdisjoint(ignored)


def _list_own_folders(root: Path, paths: Iterable[str], project: Path | None) -> list[Path]:
    """Return the places whose findings are the project's, and not an installed package's."""
    places = [root, *map(Path, paths)]
    if project is not None or find_project(Path.cwd().resolve()) is not None:
        settings = load_settings(project)
        places += [settings.root / one for one in (*settings.tools, *settings.skills)]
    return [one.resolve() for one in places]


def _fails(one: Diagnostic, root: Path, own: Iterable[Path]) -> bool:
    """Return whether a finding fails the check of a project.

    The environment of a deployment sets secrets, and an installed package is not the project's.
    """
    file = (root / one.span.path).resolve()
    is_foreign = file.is_file() and not any(file.is_relative_to(place) for place in own)
    if one.severity is Severity.HINT or is_foreign:
        return False
    return one.severity is Severity.ERROR or one.code != Code.UNSET_VARIABLE


def _against(revision: str, project: Path | None) -> Any:
    from toolmd._workspace.against import compare

    settings = load_settings(project)
    return compare(settings.root, settings, revision)


def _summary(found: Any, bare: str, *, fix: bool) -> list[str]:
    if found.diagnostics:
        lines = [f"Found {summary(found.diagnostics)}.{f' {bare}' if bare else ''}"]
    elif found.looked_at == "0 tools, 0 skills":
        first = "`toolmd new tool NAME` writes the first one"
        lines = [f"Nothing to check yet: {first}."]
    elif found.looked_at == "0 files":
        lines = ["Nothing to check: there are no `*.tool.md` or `*.skill.md` files."]
    elif bare:
        lines = [f"{paint('No errors', 'yellow', sys.stderr)}: {found.looked_at}. {bare}"]
    else:
        lines = [f"{paint('All well', 'green', sys.stderr)}: {found.looked_at}."]
    lines += [f"{paint('note', 'cyan', sys.stderr)}: {printable(note)}" for note in found.notes]
    if len(found.without_python) <= _MOST_HELP:
        for name, path in found.without_python.items():
            lines.append(help_line(printable(suggest_python(name, path, found.root))))
    fixable = sum(1 for d in found.diagnostics if d.fix)
    if fixable and not fix:
        known = "1 fix is" if fixable == 1 else f"{fixable} fixes are"
        lines.append(f"{known} known: run it again with --fix.")
    return lines


def _without_python(names: list[str]) -> str:
    if not names:
        return ""
    more = len(names) - _MOST_NAMED
    listed = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    have = "1 tool has" if len(names) == 1 else f"{len(names)} tools have"
    return f"{have} no Python yet, so calls fail: {listed}."


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


def fmt(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files or folders; `-` reads stdin, writes stdout."),
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a file would change.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show the changes.")] = False,
    project: Path | None,
) -> Answer:
    """Write definitions in canonical form, with the same meaning.

    Files with errors are not changed. Exit code 1: a file has errors, or would change (--check).
    """
    from toolmd._cli.single_file import read_alone

    if not paths or project is not None or find_project(Path.cwd().resolve()) is not None:
        settings = load_settings(project)
        roots = [settings.root / one for one in dict.fromkeys((*settings.tools, *settings.skills))]
        paths = paths or [path_here(folder) for folder in roots if folder.is_dir()]
    dry = check or diff
    if paths == [STDIN]:
        one = _format(read_alone(STDIN))
        value = one.to_dict(diff=diff)
        if one.state == "broken":
            return Answer(value, lines=_lines(one), code=ExitCode.FINDINGS)
        # Without --json, stdout has the text; here it is a key.
        text = _report(one, diff=diff) if dry else one.text.removesuffix("\n")
        changes = dry and one.state == "changes"
        return Answer({**value, "text": one.text}, text, code=int(changes))
    done = []
    for path in definitions_among(paths or ()):
        one = _format(read_alone(str(path)))
        if one.state == "changes" and not dry:
            write_file(path, one.text)
            one = one._replace(state="written")
        done.append(one)
    reports = [text for one in done if (text := _report(one, diff=diff)) is not None]
    changed = sum(one.state in {"changes", "written"} for one in done)
    broken = sum(one.state == "broken" for one in done)
    ended = [f"{plural(changed, 'file')} {'would change' if dry else 'rewritten'}"]
    ended = ended if changed else []
    ended += [f"{plural(broken, 'file')} with errors left as they are"] if broken else []
    ended.append(f"{plural(len(done) - changed - broken, 'file')} already canonical")
    lines = [*(line for one in done for line in _lines(one)), f"{', '.join(ended)}."]
    code = ExitCode.FINDINGS if broken or (changed and dry) else ExitCode.DONE
    value_of = [one.to_dict(diff=diff) for one in done]
    return Answer(value_of, "\n".join(reports) if reports else None, lines, code)


def _format(read: Any) -> _Formatted:
    from toolmd._load.files import whole_file
    from toolmd._parse import format_text

    text = None if read.text is None else format_text(read.text, read.path)
    if text is None or read.spec is None:
        errors = tuple(d for d in read.diagnostics if d.severity is Severity.ERROR)
        what = "a value in this file has no canonical form, so the file is left as it is"
        unwritten = whole_file(
            read.path, Code.UNREADABLE_VALUE, what, "write the value in other words"
        )
        return _Formatted(read.path, "broken", errors=errors or (unwritten,))
    if 0 < read.text.count("\n") == read.text.count("\r\n"):
        text = text.replace("\n", "\r\n")  # the line ends of a Windows checkout stay
    if text == read.text:
        return _Formatted(read.path, "canonical", text)
    before, after = read.text.splitlines(keepends=True), text.splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, read.path, f"{read.path} (canonical)")
    return _Formatted(read.path, "changes", text, tuple(line.rstrip("\n") for line in lines))


_PAINTS: dict[str, Paint] = {"+": "green", "-": "red", "@": "cyan"}


def _report(one: _Formatted, *, diff: bool) -> str | None:
    """Return the change that a file would have; None without one."""
    if one.state != "changes":
        return None
    if not diff:
        return f"{one.path}: would change"
    painted = (_PAINTS.get(line[:1]) for line in one.difference)
    rows = zip(one.difference, painted, strict=True)
    return "\n".join(paint(line, how) if how else line for line, how in rows)


def _lines(one: _Formatted) -> list[str]:
    if one.state == "broken":
        return [concise(one.errors, lambda _: ())]
    written = paint("written", "green", sys.stderr)
    return [f"{written} {one.path}"] if one.state == "written" else []


def try_examples(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Only these tools, or transcripts NAME.chat.md; default: all tools.",
            autocompletion=complete_names,
        ),
    ] = None,
    *,
    project: Path | None,
) -> Answer:
    """Run the examples of the tools' files as tests.

    An example without Result or Error is checked like any call, but not run. An example with a
    Result must return exactly that, and one with an Error must return that code. If only a run can
    show it, the tool really runs, with a temporary state folder; its effects outside that folder
    (such as a message that it sends) are real. The test caller is confident, states the tool's
    keywords, and confirms.

    MCP servers and web services are never called: an example of their tools passes through all
    checks, and does not run.

    A transcript, a file that ends with `.chat.md`, is replayed turn by turn with an empty store,
    and its tools run for real.

    Exit codes: 1 an example fails; 5 unknown tool.
    """
    from toolmd._workspace import examples, transcripts

    files = [name for name in names or () if name.endswith(transcripts.ENDING)]
    tools = [name for name in names or () if name not in files]
    tried = examples.try_examples(project, tools) if tools or not files else ()
    tried += tuple(one for name in files for one in transcripts.replay(project, Path(name)))
    rows = []
    for one in tried:
        mark = paint("ok  ", "green") if one.passed else paint("FAIL", "red")
        row = f"{mark}  {printable(one.tool + (f': {one.example}' if one.example else ''))}"
        rows.append(row + (f" ({one.how})" if one.passed else f"\n      {printable(one.message)}"))
    failed = sum(not one.passed for one in tried)
    ended = f"{plural(len(tried), 'example')}, {f'{failed} failed' if failed else 'all passed'}."
    none = "There are no examples. Write some below `## Examples` in a tool's file."
    code = ExitCode.FINDINGS if failed else ExitCode.DONE
    value = [one.to_dict() for one in tried]
    return Answer(value, "\n".join(rows) or None, [ended if tried else none], code)
