"""`plugins`, `rule` and `doctor`: list plugins, explain a code, examine the environment."""

from pathlib import Path
from typing import Annotated

import typer

from toolmd._cli.added import ask_plugins
from toolmd._cli.project.health import examine
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import JsonOption, ProjectOption, stop
from toolmd._cli.terminal.screen import err, out, out_json, paint, stdout_for_data, table
from toolmd._types.code import Code
from toolmd.config import find_project
from toolmd.errors import near_words


def plugins(*, json: JsonOption = False, project: ProjectOption = None) -> None:
    """List the installed plugins, and whether they loaded.

    Within a project, the list also has the plugins of its folders, and marks those that its
    settings leave out.
    """
    with stdout_for_data():
        commands, plugins, _ = ask_plugins(project)
        taken = _same_names(project) if not json else []
    found = [*plugins.listed.values()]
    if json:
        out_json([plugin._asdict() for plugin in found])
        return
    if not found:
        err(
            "No plugins. A plugin is an installed package with an entry point in the group"
            " `toolmd`, or a `plugin.py` in a folder of definitions."
        )
        return
    head = ("NAME", "PACKAGE", "VERSION", "STATE", "ABOUT")
    out(table(head, [tuple(str(cell or "-") for cell in plugin) for plugin in found]))
    if commands:
        err(f"They add these commands: {', '.join(sorted(commands))}.")
    for message in taken:
        err(f"note: {message}")


def _same_names(folder: Path | None) -> list[str]:
    """Return the definitions of the plugins' project whose names are taken; outside one, none."""
    from toolmd._cli.project.opening import open_workspace, same_names

    project = find_project(folder or Path.cwd())
    if project is None:
        return []
    with open_workspace(folder or project) as workspace:
        return same_names(workspace)


def rule(
    code: Annotated[str | None, typer.Argument(metavar="CODE", help="A diagnostic's code.")] = None,
    *,
    json: JsonOption = False,
) -> None:
    """Explain a diagnostic; without a CODE, list them all. Exit code 5: unknown code."""
    says = {str(member): member.says for member in Code}
    if code is None:
        if json:
            out_json([{"code": known, "says": text} for known, text in says.items()])
        else:
            out(table(("CODE", "SAYS"), list(says.items())))
        return
    wanted = code.strip("[]").lower().replace("_", "-")
    if wanted not in says:
        near = near_words(wanted, says, 3, alike=0.5)
        near += [known for known in says if wanted in known and known not in near]
        named = " or ".join(repr(known) for known in near[:5])
        help_ = f"did you mean {named}?" if near else "`toolmd rule` lists all codes"
        stop(ExitCode.NOT_FOUND, f"no diagnostic has the code {code!r}", help_)
    if json:
        out_json({"code": wanted, "says": says[wanted]})
    else:
        out(f"{paint(wanted, 'bold')}\n{says[wanted]}")


def doctor(*, json: JsonOption = False, project: ProjectOption = None) -> None:
    """Examine the environment, and show a remedy for each problem. Exit code 1: there are any."""
    signs = examine(project)
    if json:
        out_json([sign._asdict() for sign in signs])
    else:
        marks = {"ok": paint("ok", "green"), "note": "--", "bad": paint("!!", "red")}
        longest = max(len(sign.about) for sign in signs)
        for sign in signs:
            out(f"{marks[sign.state]}  {sign.about.ljust(longest)}  {sign.found}")
            if sign.remedy:
                out(f"    {' ' * longest}  help: {sign.remedy}")
    if any(sign.state == "bad" for sign in signs):
        raise typer.Exit(ExitCode.FINDINGS)
