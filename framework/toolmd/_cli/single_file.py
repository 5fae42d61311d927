"""Read a single definition, from a file or stdin, without a project."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toolmd._cli.diagnostics import full
from toolmd._cli.files import STDIN
from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import err, read_stdin
from toolmd._load.files import File, whole_file
from toolmd._parse import decode, lint_tool, parse_skill, parse_tool
from toolmd._parse.writing.formatter import PARSERS, AnyDefinition, kind_of
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.remote import read_operation, read_remote_tool
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd.errors import NotFoundError

_SHOWN_STDIN = "<stdin>"


class ReadAlone(NamedTuple):
    """A definition that was read without its project."""

    path: str
    text: str | None
    """None if the bytes are not text."""
    spec: AnyDefinition | None
    diagnostics: tuple[Diagnostic, ...]


def read_alone(name: str) -> ReadAlone:
    """Read one definition, from a file or `-`; raise NotFoundError if the file does not exist."""
    if name == STDIN:
        shown, data = _SHOWN_STDIN, read_stdin("the definition")
    else:
        shown = name
        try:
            data = Path(name).read_bytes()
        except FileNotFoundError:
            raise NotFoundError(f"{name}: no such file") from None
        except OSError as error:
            said = f"the file can't be read: {error.strerror}"
            help_ = "let the user who runs Toolmd read it"
            unread = whole_file(name, Code.UNREADABLE_FILE, said, help_)
            return ReadAlone(shown, None, None, (unread,))
    text, diagnostics = decode(data, shown)
    if text is None:
        return ReadAlone(shown, None, None, diagnostics)
    spec, found = parse(text, shown)
    return ReadAlone(shown, text, spec, (*diagnostics, *found))


def spec_of(name: str) -> AnyDefinition:
    """Return the definition of a file or `-`, and print its diagnostics; stop if it has errors."""
    read = read_alone(name)
    source = (read.text or "").splitlines()
    if read.diagnostics:
        err(full(read.diagnostics, lambda _: source))
    if read.spec is None:
        help_ = f"`toolmd check {name} --json` prints them as JSON"
        stop(ExitCode.FINDINGS, f"{read.path} has errors", help_)
    return read.spec


def implementation_of(spec: AnyDefinition, name: str) -> tuple[str, str]:
    """Return the kind and the target of a definition's implementation; its Python is not run."""
    if name == STDIN:
        return "none", ""
    from toolmd._load.binding import Place, read_beside

    path = Path(name)
    as_named = f"{path.name.partition('.')[0]}.{spec.kind}.md"
    file = File(name, name, (as_named,), b"")
    named = spec.implemented_by if isinstance(spec, ToolSpec) else ""
    if read_operation(named) is not None or read_remote_tool(named) is not None:
        return "remote", named
    place = read_beside(path.parent).place(file, spec.name, named)
    if not isinstance(place, Place):
        return "none", ""
    return "entry_point" if place.file is None else "sibling", place.target


def parse(text: str, path: str) -> tuple[AnyDefinition | None, tuple[Diagnostic, ...]]:
    """Parse a text as the kind that its name states, or else as the kind with fewer errors."""
    if (kind := kind_of(path)) is not None:
        return PARSERS[kind](text, path)
    as_tool, as_skill = parse_tool(text, path), parse_skill(text, path)
    return as_skill if _cost(as_skill[1]) < _cost(as_tool[1]) else as_tool


def check_alone(read: ReadAlone) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of parsing, and the warnings about policies in a tool's prose."""
    if read.text is None or not isinstance(read.spec, ToolSpec):
        return read.diagnostics
    return (*read.diagnostics, *lint_tool(read.spec, read.text))


def check_steps(read: ReadAlone, among: Iterable[ReadAlone]) -> tuple[Diagnostic, ...]:
    """Check a skill's steps against the tools and skills that were read with it.

    Names of other tools are not reported: a single file does not show what its project has.
    """
    skill = read.spec
    if not isinstance(skill, SkillSpec):
        return ()
    found = [other.spec for other in among if other.spec is not None]
    tools = {spec.name: spec for spec in found if isinstance(spec, ToolSpec)}
    skills = {spec.name: spec for spec in found if isinstance(spec, SkillSpec)}
    whole = tools.keys() >= {*skill.required_tools} and skills.keys() >= {*skill.required_skills}
    stem = Path(read.path).name.partition(".")[0]
    names = {f"{stem}.py", f"{stem.replace('-', '_')}.py"}
    python = any(Path(read.path).with_name(name).is_file() for name in names)
    from toolmd._skills.check import check_skill

    return check_skill(skill, tools, skills, implemented=python, partial=not whole)


def _cost(diagnostics: Iterable[Diagnostic]) -> tuple[int, ...]:
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    return tuple(counts[severity] for severity in Severity)
