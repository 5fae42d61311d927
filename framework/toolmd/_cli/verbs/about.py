"""`plugins`, `rule` and `doctor`: list plugins, explain a code, examine the environment."""

from pathlib import Path
from typing import Annotated

import typer

from toolmd._cli.commands import ask_plugins
from toolmd._cli.environment import examine
from toolmd._cli.frame import Answer, ExitCode, open_workspace, stop
from toolmd._cli.names import same_names
from toolmd._cli.screen import Paint, paint, table
from toolmd._types.code import Code
from toolmd.config import find_project
from toolmd.errors import near_words


def plugins(*, project: Path | None, json: bool) -> Answer:
    """List the installed plugins, and whether they loaded.

    Within a project, the list also has the plugins of its folders, and marks those that its
    settings leave out.
    """
    commands, plugins, _ = ask_plugins(project)
    found = [*plugins.listed.values()]
    value = [plugin._asdict() for plugin in found]
    if not found:
        none = (
            "No plugins. A plugin is an installed package with an entry point in the group"
            " `toolmd`, or a `plugin.py` in a folder of definitions."
        )
        return Answer(value, lines=[none])
    head = ("NAME", "PACKAGE", "VERSION", "STATE", "ABOUT")
    lines = [f"They add these commands: {', '.join(sorted(commands))}."] if commands else []
    if not json and (inside := find_project(project or Path.cwd())) is not None:
        with open_workspace(project or inside) as workspace:
            lines += [f"note: {message}" for message in same_names(workspace)]
    rows = [tuple(str(cell or "-") for cell in plugin) for plugin in found]
    return Answer(value, table(head, rows), lines)


def rule(
    code: Annotated[str | None, typer.Argument(metavar="CODE", help="A diagnostic's code.")] = None,
) -> Answer:
    """Explain a diagnostic; without a CODE, list them all. Exit code 5: unknown code."""
    says = {str(member): member.says for member in Code}
    if code is None:
        value = [{"code": known, "says": text} for known, text in says.items()]
        return Answer(value, table(("CODE", "SAYS"), list(says.items())))
    wanted = code.strip("[]").lower().replace("_", "-")
    if wanted not in says:
        near = near_words(wanted, says, 3, alike=0.5)
        near += [known for known in says if wanted in known and known not in near]
        named = " or ".join(repr(known) for known in near[:5])
        help_ = f"did you mean {named}?" if near else "`toolmd rule` lists all codes"
        stop(ExitCode.NOT_FOUND, f"no diagnostic has the code {code!r}", help_)
    text = f"{paint(wanted, 'bold')}\n{says[wanted]}"
    return Answer({"code": wanted, "says": says[wanted]}, text)


_MARKS: dict[str, tuple[str, Paint]] = {
    "ok": ("ok", "green"),
    "note": ("--", "dim"),
    "bad": ("!!", "red"),
}


def doctor(
    *,
    all_: Annotated[bool, typer.Option("--all", help="Show also what is well.")] = False,
    project: Path | None,
) -> Answer:
    """Examine the environment, and show a remedy for each problem. Exit code 1: there are any."""
    signs = examine(project)
    lines = []
    longest = max(len(sign.about) for sign in signs)
    for sign in signs:
        if all_ or (sign.state != "ok" and not sign.about.startswith("extra ")):
            lines.append(f"{paint(*_MARKS[sign.state])}  {sign.about.ljust(longest)}  {sign.found}")
            if sign.remedy:
                lines.append(f"    {' ' * longest}  help: {sign.remedy}")
    bad, many = sum(sign.state == "bad" for sign in signs), len(signs)
    well = f"{many - bad} of {many} parts are well" if bad else f"All well: {many} parts"
    ended = f"{well}{'' if all_ else '; --all shows each'}."
    code = ExitCode.FINDINGS if bad else ExitCode.DONE
    return Answer([sign._asdict() for sign in signs], "\n".join(lines) or None, [ended], code)
