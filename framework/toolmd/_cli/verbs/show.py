"""What a project has: list, show and graph."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.frame import Answer, ExitCode, stop
from toolmd._cli.names import known_skill, named, same_names, unknown
from toolmd._cli.screen import counted, paint, table
from toolmd._types.diagnostic import Severity
from toolmd._types.registry import AnySpec, Bound
from toolmd._types.schema import KEYWORDS


def list_(workspace: Any) -> Answer:
    """List the tools and skills."""
    from toolmd._export.documents import list_entry

    bound: list[Bound[Any]] = [*workspace.tools.values(), *workspace.skills.values()]
    entries = [list_entry(one) for one in bound]
    notes = [f"note: {note}" for note in same_names(workspace)]
    found = workspace.registry.diagnostics
    if errors := sum(d.severity is Severity.ERROR for d in found):
        missing = f"{counted(errors, 'error')}; some definitions may be missing: `toolmd check`"
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
    many = f"{counted(kinds.count('tool'), 'tool')}, {counted(kinds.count('skill'), 'skill')}."
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
    return f"{kind} (stale)" if entry.get("stale") else kind


def show(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A tool, skill or prompt.", autocompletion=named),
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
    project: Path | None,
) -> Answer:
    """Show one tool, skill or prompt in full.

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
        return Answer(described, detail(described))
    with open_workspace(project) as workspace:
        folded = str(name).replace("-", "_")
        prompts = workspace.registry.prompts
        if bound := workspace.tools.get(folded) or workspace.skills.get(folded):
            described = describe_bound(bound)
        elif prompt := prompts.get(folded):
            described = describe(prompt, "none", "")
        else:
            unknown(str(name), (*workspace.tools, *workspace.skills, *prompts), workspace)
    return Answer(described, detail(described))


def detail(described: dict[str, Any]) -> str:
    """Return a definition's canonical JSON as a page for the terminal."""
    kind = described["kind"]
    head = paint(described["name"], "bold")
    if kind == "prompt":
        head += " (prompt)"
    else:
        head += f" {described['version']} ({kind}, {described['category']})"
    parts = [head, described["description"]]
    parts += [described[key] for key in ("when_to_use", "notes") if key in described]
    takes = {"tool": "Parameters", "prompt": "Arguments"}.get(kind, "Inputs")
    sections = {takes: fields(described["input_schema"]) or ["none"]}
    if returns := described.get("output_schema"):
        sections["Returns"] = [_line("", returns).strip(), *fields(returns, "  ", shapes=True)]
    for key in ("required_tools", "required_skills"):
        sections[_title(key)] = described.get(key, [])
    sections["Steps"] = [_step(step) for step in described.get("steps", ())]
    sections["Rules"] = [f"{r['expression']}: {r['message']}" for r in described.get("rules", ())]
    for key in ("safety", "limits"):
        rows = described.get(key, {}).items()
        sections[_title(key)] = [f"{_title(k)}: {_measured(k, v)}" for k, v in rows]
    sections["Examples"] = [
        f"{e['title']}: {json.dumps(e['arguments'], ensure_ascii=False)}"
        for e in described.get("examples", ())
    ]
    if text := described.get("text"):
        sections["Prompt"] = text.split("\n")
    source, behind = described["source"], described.get("implementation")
    runs = [f"runs: {behind['kind']} {behind.get('target', '')}".strip()] if behind else []
    sections["Source"] = [
        f"{source['path']}:{source['line']}", *runs, f"hash: {described['hash']}",
    ]  # fmt: skip
    for title, lines in sections.items():
        if lines:
            parts.append("\n".join([paint(title, "bold"), *(f"  {line}" for line in lines)]))
    return "\n\n".join(parts)


def fields(schema: dict[str, Any], indent: str = "", *, shapes: bool = False) -> list[str]:
    """Return a line for each property of an object's schema, nested ones indented.

    With `shapes`, the shapes of One Of stand first, each with a line for its fields.
    """
    required = schema.get("required", ())
    lines = []
    for one in schema.get("oneOf", ()) if shapes else ():
        if "properties" in one:
            about = f"  {one['description']}" if "description" in one else ""
            lines += [f"{indent}shape {one['title']}{about}", *fields(one, indent + "  ")]
    for name, field in schema.get("properties", {}).items():
        lines.append(indent + _line(name if name in required else f"{name}?", field))
        lines += fields(field, indent + "  ", shapes=True)
        if isinstance(items := field.get("items"), dict):
            lines += fields(items, indent + "  ", shapes=True)
    return lines


_FLAGS = {row.word: row.name.lower() for row in KEYWORDS.values() if row.kind == "boolean"}
_SHOWN = {
    "enum": "one of",
    "default": "default",
    **{
        row.word: row.name.lower()
        for row in KEYWORDS.values()
        if row.fits and row.kind != "boolean"
    },
}


def _line(name: str, field: dict[str, Any]) -> str:
    limits = [field["x-unit"]] if "x-unit" in field else []
    if "oneOf" in field:
        limits.append("exactly one of its shapes")
    if told_apart := field.get("discriminator"):
        limits.append(f"told apart by {told_apart['propertyName']}")
    limits += [f"{word} {_plain(field[key])}" for key, word in _SHOWN.items() if key in field]
    limits += [word for key, word in _FLAGS.items() if field.get(key)]
    items = field.get("items", {})
    limits += [f"each {word} {_plain(items[key])}" for key, word in _SHOWN.items() if key in items]
    about = f"{name}  {paint(_type(field), 'cyan')}".strip()
    listed = f" ({'; '.join(limits)})" if limits else ""
    return about + listed + (f"  {field['description']}" if "description" in field else "")


def _type(field: dict[str, Any]) -> str:
    types = field.get("type", "anything")
    names = types if isinstance(types, list) else [types]
    items = field.get("items")
    return " | ".join(f"array of {_type(items)}" if n == "array" and items else n for n in names)


def _step(step: dict[str, Any]) -> str:
    section = f"[{step['section']}] " if "section" in step else ""
    number = step["id"].rpartition("/")[2]
    actions = [f"{key} {step[key]}" for key in ("use", "choose") if key in step]
    does = f"  {paint(', '.join(actions), 'dim')}" if actions else ""
    return f"{section}{number}. {step['title']}{does}"


def _title(key: str) -> str:
    return key.removesuffix("_s").replace("_", " ").capitalize()


def _measured(key: str, value: Any) -> str:
    """Format a duration in seconds and a size in bytes."""
    from toolmd._types.call_spec import Batch, Rate

    if key.endswith("_s"):
        return f"{value:g} s"
    match key:
        case "max_bytes":
            return f"{value} bytes"
        case "rate":
            return str(Rate(**value))
        case "max_batch":
            return str(Batch(**value))
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"}
"""The suffixes of pictures in other formats."""


def graph(
    workspace: Any,
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The skill.", autocompletion=named)],
    *,
    svg: Annotated[
        bool, typer.Option("--svg/--mermaid", help="Draw a picture, or print Mermaid text.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write; .svg is a picture."
        ),
    ] = None,
) -> Answer:
    """Draw a skill's steps and the paths between them. Exit code 5: unknown skill."""
    from toolmd._cli.files import naming, replace_file
    from toolmd._skills.graph import chart_of, mermaid
    from toolmd._skills.graph import svg as picture

    spec = known_skill(workspace, skill).spec
    if not spec.executable:
        help_ = f"`toolmd show {spec.name}` shows its prose or its Python"
        stop(ExitCode.FINDINGS, f"the skill {spec.name!r} has no steps to draw", help_)
    suffix = "" if output is None else output.suffix.lower()
    if suffix in _PICTURES:
        stop(ExitCode.USAGE, f"{output}: can't draw {suffix}", "name a file that ends in .svg")
    as_picture = svg or suffix == ".svg"
    text = (picture if as_picture else mermaid)(chart_of(spec), {})
    value = {"skill": spec.name, "format": "svg" if as_picture else "mermaid", "text": text}
    if output is None:
        return Answer(value, text.rstrip("\n"))
    if output.exists() and not output.is_file():
        with naming(output):
            output.write_text(text, encoding="utf-8")  # a pipe, or a terminal
    else:
        replace_file(output, text)
    return Answer(value, notes=[f"wrote {output}"])
