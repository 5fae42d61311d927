"""What a project has: list, show and graph."""

from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.frame import Answer, ExitCode, stop
from toolmd._cli.names import complete_names, known_skill, same_names, unknown
from toolmd._cli.screen import for_people, plural, printable, table
from toolmd._types.diagnostic import Severity
from toolmd._types.registry import AnySpec, Bound
from toolmd.errors import UnreachableError


def list_(workspace: Any) -> Answer:
    """List the tools and skills."""
    from toolmd._export.documents import list_entry

    bound: list[Bound[Any]] = [*workspace.tools.values(), *workspace.skills.values()]
    notes = [f"note: {note}" for note in same_names(workspace)]
    try:
        suspended = workspace.suspended_tools()
    except UnreachableError as error:
        suspended = frozenset()
        notes.append(f"note: a suspended tool is not marked: {printable(str(error))}")
    entries = [
        {**list_entry(one), **({"suspended": True} if one.name in suspended else {})}
        for one in bound
    ]
    found = workspace.registry.diagnostics
    if errors := sum(d.severity is Severity.ERROR for d in found):
        missing = f"{plural(errors, 'error')}; some definitions may be missing: `toolmd check`"
        notes.append(f"note: {missing}")
    if not entries:
        wrong = any(d.severity is not Severity.HINT for d in found)
        first = "yet: `toolmd new tool NAME` writes the first."
        return Answer(
            [], lines=[f"Nothing here{': `toolmd check` shows why.' if wrong else f' {first}'}"]
        )
    head = ("NAME", "KIND", "VERSION", "CATEGORY", "RUNS", "DESCRIPTION")
    rows = [
        (e["name"], e["kind"], e["version"], e["category"], _runs(e, one.spec), e["description"])
        for e, one in zip(entries, bound, strict=True)
    ]
    kinds = [e["kind"] for e in entries]
    many = f"{plural(kinds.count('tool'), 'tool')}, {plural(kinds.count('skill'), 'skill')}."
    return Answer(entries, table(head, rows), [many], notes=notes)


def _runs(entry: dict[str, Any], spec: AnySpec) -> str:
    """Return the kind of implementation in a word."""
    implementation = entry["implementation"]
    kind = {
        "sibling": "python", "entry_point": "plugin", "remote": "remote", "steps": "steps",
        "none": "-",
    }[implementation["kind"]]  # fmt: skip
    # A package's definition has its file next to it, and a tool may name an installed module; all
    # others come from a plugin's hook.
    target = implementation.get("target", "")
    python = Path(target.rpartition(":")[0])
    beside = python.suffix == ".py" and python.name != "plugin.py"
    if kind == "plugin" and (beside or target == getattr(spec, "implemented_by", "")):
        kind = "package"
    states = [state for state in ("stale", "suspended") if entry.get(state)]
    return f"{kind} ({', '.join(states)})" if states else kind


def show(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A tool or skill.", autocompletion=complete_names),
    ] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="PATH",
            help="A single file: no project is needed, and no Python is run. `-` is stdin.",
        ),
    ] = None,
    json: bool,
    project: Path | None,
) -> Answer:
    """Show one tool or skill in full, in its canonical form.

    Exit codes: 1 the file of --file has errors, 5 unknown name.
    """
    from toolmd._cli.frame import open_workspace
    from toolmd._export.documents import describe, describe_bound

    if (name is None) == (file is None):
        stop(ExitCode.USAGE, "give a NAME or --file PATH", "`toolmd list` shows the names")
    if file is not None:
        from toolmd._cli.single_file import implementation_of, spec_of

        spec = spec_of(file)
        described = describe(spec, *implementation_of(spec, file))
    else:
        with open_workspace(project) as workspace:
            folded = str(name).replace("-", "_")
            if bound := workspace.tools.get(folded) or workspace.skills.get(folded):
                spec, described = bound.spec, describe_bound(bound)
            else:
                unknown(str(name), (*workspace.tools, *workspace.skills), workspace)
    if json:
        return Answer(described)
    # Only here: the writers come with the parser.
    from toolmd._parse.writing.texts import skill_text, tool_text

    write: Any = skill_text if spec.kind == "skill" else tool_text
    source, behind = described["source"], described["implementation"]
    lines = [f"{source['path']}:{source['line']}"]
    lines.append(f"runs: {behind['kind']} {behind.get('target', '')}".strip())
    lines.append(f"hash: {described['hash']}")
    return Answer(described, for_people(write(spec).rstrip("\n")), lines)


def graph(
    workspace: Any,
    skill: Annotated[
        str, typer.Argument(metavar="SKILL", help="The skill.", autocompletion=complete_names)
    ],
    *,
    svg: Annotated[
        bool, typer.Option("--svg/--mermaid", help="Draw a picture, or print Mermaid text.")
    ] = False,
) -> Answer:
    """Draw a skill's steps and the paths between them. Exit code 5: unknown skill."""
    from toolmd._skills.graph import chart_of, mermaid
    from toolmd._skills.graph import svg as picture

    spec = known_skill(workspace, skill).spec
    if not spec.executable:
        help_ = f"`toolmd show {spec.name}` shows its prose or its Python"
        stop(ExitCode.FINDINGS, f"the skill {spec.name!r} has no steps to draw", help_)
    text = (picture if svg else mermaid)(chart_of(spec), {})
    value = {"skill": spec.name, "format": "svg" if svg else "mermaid", "text": text}
    return Answer(value, text.rstrip("\n"))
