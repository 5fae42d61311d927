"""The commands of `toolmd`; each is imported when it is wanted, because most need few modules."""

import sys
from collections import UserDict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from toolmd._cli.frame import ProjectOption, frame
from toolmd._cli.screen import err, out, paint, printable
from toolmd.errors import ConfigError

COMMANDS = {
    "Write": {
        "init": "new:init",
        "new tool": "new:new_tool",
        "new skill": "new:new_skill",
        "new plugin": "new:new_plugin",
        "import": "importing:import_",
        "check": "check:check",
        "fmt": "check:fmt",
        "test": "check:try_examples",
        "lsp": "serve:lsp",
    },
    "Inspect": {
        "list": "show:list_",
        "show": "show:show",
        "graph": "show:graph",
        "export": "export:export",
    },
    "Run": {
        "call": "calls:call",
        "handle": "calls:handle",
        "pending": "calls:pending",
        "confirm": "calls:confirm",
        "reject": "calls:reject",
        "respond": "calls:respond",
        "crises": "calls:crises",
        "accept": "calls:accept",
        "servers": "servers:servers",
        "run": "runs:run",
        "runs": "runs:runs",
        "runs show": "runs:show_run",
        "runs resume": "runs:resume",
        "runs cancel": "runs:cancel",
        "runs resolve": "runs:resolve",
        "worker": "serve:worker",
        "dev": "serve:dev",
        "serve": "serve:serve",
        "tokens new": "tokens:new",
        "chat": "chat:chat",
        "audit": "audit:audit",
    },
    "Help": {
        "plugins": "about:plugins",
        "rule": "about:rule",
        "doctor": "about:doctor",
    },
}
"""The place in `toolmd._cli.verbs` of each verb, by heading, in the order of `--help`."""
GROUPS = {
    "new": "Write a new tool, skill or plugin.",
    "tokens": "Make tokens for `toolmd serve` over HTTP.",
}
"""The help of each group that is no verb itself."""
PLACES = {name: place for names in COMMANDS.values() for name, place in names.items()}
OWN = tuple(dict.fromkeys(name.partition(" ")[0] for name in PLACES))
"""The names of Toolmd's own commands."""


class OwnCommands(UserDict[str, Any]):
    """Toolmd's own commands by name; reading one imports it."""

    def __init__(self) -> None:
        super().__init__()
        self.data.update(dict.fromkeys(OWN))

    def __getitem__(self, name: str) -> Any:
        """Return the command of this name."""
        if self.data[name] is None:
            self.data[name] = _load(name)
        return self.data[name]


def _load(name: str) -> Any:
    heading = next(
        heading
        for heading, names in COMMANDS.items()
        if any(one.partition(" ")[0] == name for one in names)
    )
    below = [one for one in PLACES if one.startswith(f"{name} ")]
    app = typer.Typer(rich_markup_mode=None)
    if below:
        alone = name not in PLACES
        help_ = GROUPS.get(name) or _summary(PLACES[name])
        group = typer.Typer(rich_markup_mode=None, help=help_, no_args_is_help=alone)
        if not alone:
            group.callback(invoke_without_command=True)(_command(name, group=True))
        for one in below:
            group.command(one.partition(" ")[2])(_command(one))
        app.add_typer(group, name=name, rich_help_panel=heading)
    else:
        app.command(name, rich_help_panel=heading)(_command(name))
    command = get_group(app).commands[name]
    for each in (command, *getattr(command, "commands", {}).values()):
        _read_plain_values(each)
    return command


def _command(name: str, *, group: bool = False) -> Any:
    module, _, attribute = PLACES[name].partition(":")
    return frame(getattr(import_module(f"toolmd._cli.verbs.{module}"), attribute), group=group)


class Verbs(TyperGroup):
    """The commands under their headings, in the order of a project's life."""

    plugins: object = None
    """The plugins whose commands were added; they must stay alive while one runs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = OwnCommands()
        _read_plain_values(self)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return Toolmd's own command, or one that a plugin of the project adds."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or ctx.resilient_parsing:
            return own
        try:
            added, self.plugins, problems = ask_plugins(ctx.params.get("project"))
        except ConfigError as error:
            added, problems = {}, (f"no plugin was asked for commands: {error}",)
        for problem in problems:
            err(f"{paint('warning', 'yellow', sys.stderr)}: {printable(problem)}")
        for name, command in added.items():
            self.commands.setdefault(name, command)
        return self.commands.get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, without importing any."""
        del ctx
        return [*self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each heading; Toolmd's own commands are not imported for it."""
        headings = {one.partition(" ")[0]: title for title, names in COMMANDS.items()
                    for one in names}  # fmt: skip
        sections: dict[str, list[tuple[str, str]]] = {}
        longest = max(map(len, self.commands))
        for name in self.list_commands(ctx):
            if name in headings:
                heading, help_ = headings[name], GROUPS.get(name) or _summary(PLACES[name])
            else:  # of a plugin
                command = self.commands[name]
                if command.hidden:
                    continue
                heading = str(getattr(command, "rich_help_panel", None) or "Commands")
                # Show the whole first sentence; the formatter wraps it on a narrow terminal.
                help_ = command.get_short_help_str(formatter.width * 10)
            sections.setdefault(heading, []).append((name.ljust(longest), help_))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def _summary(place: str) -> str:
    """Return the first sentence of a verb's docstring, as its file has it."""
    module, _, function = place.partition(":")
    text = Path(__file__).with_name("verbs").joinpath(f"{module}.py").read_text("utf-8")
    docstring = text.partition(f"def {function}(")[2].split('"""')[1]
    sentence = " ".join(docstring.partition("\n\n")[0].split()).partition(". ")[0]
    return f"{sentence.removesuffix('.')}."


def ask_plugins(folder: Path | None) -> tuple[dict[str, Any], Any, tuple[str, ...]]:
    """Return the commands that plugins add, the plugins, and their problems.

    A plugin that fails is left out. The plugins must stay alive while a command runs.

    Raises:
        ConfigError: The settings can't be read.
    """
    from toolmd._workspace import plugin_commands

    app = typer.Typer(rich_markup_mode=None)
    held, problems = plugin_commands(folder, app)
    return dict(get_group(app).commands), held, problems


def make_app() -> typer.Typer:
    """Return the app, without the commands of plugins."""
    app = typer.Typer(
        name="toolmd",
        cls=Verbs,
        help="Write agent tools in markdown: check them, call them, and serve them to models.",
        no_args_is_help=True,
        # Rich's help costs as much as the whole start; plain help needs no import.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        epilog="Plugins can add commands: `toolmd plugins` lists them.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    return app


def _print_version(value: bool) -> None:  # noqa: FBT001  # Typer's signature
    if value:
        from importlib.metadata import version

        out(f"toolmd {version('toolmd')}")
        raise typer.Exit


def _options(
    *,
    project: ProjectOption = None,  # the commands read it, by ProjectOption
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Read the options that stand before a command."""


def _read_plain_values(command: Any) -> None:
    """Let a command read plain values without Typer's pydantic adapters.

    To import pydantic and to build the adapters takes longer than to open a project.
    """
    parameters_of = command.get_params  # with the option --help, which Typer adds late

    def get_params(ctx: Any) -> list[Any]:
        found: list[Any] = parameters_of(ctx)
        for parameter in found:
            parameter.process_value = partial(_process_value, parameter)
        return found

    command.get_params = get_params


def _process_value(parameter: Any, ctx: Any, value: Any) -> Any:
    """Return the value of an option or argument: a plain one at once, any other as Typer does."""
    try:
        plain = _plain_value(parameter, value)
    except (ValueError, AttributeError):
        return type(parameter).process_value(parameter, ctx, value)
    return plain if parameter.callback is None else parameter.callback(ctx, parameter, plain)


def _plain_value(parameter: Any, value: Any) -> Any:
    """Return a value as its option has it; raise ValueError for what Typer must read or reject."""
    kind, rules = parameter.type_descriptor.annotation, parameter.type_descriptor.parameter_info
    if value is None and not parameter.required:
        return () if parameter.multiple or parameter.nargs == -1 else None
    if kind in (str, Path) and isinstance(value, str):
        return kind(value)
    if kind == list[str] and value:
        return [*value]
    if kind in (int, float) and value is not None:
        number = kind(value)
        least = number if rules.min is None else rules.min
        most = number if rules.max is None else rules.max
        if least <= number <= most:
            return number
    elif isinstance(kind, type) and isinstance(value, kind):
        return value  # a flag, or the default of a choice
    raise ValueError(value)
