"""The commands of `toolmd`; each is imported when it is wanted, because most need few modules."""

from collections import UserDict
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from toolmd._cli.added import added_commands
from toolmd._cli.terminal.options import ProjectOption
from toolmd._cli.terminal.screen import out

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Write": {
        "init": "new:init",
        "new": "new:GROUP",
        "import": "importing:import_",
        "check": "check:check",
        "fmt": "fmt:fmt",
        "test": "examples:try_out",
        "lsp": "lsp:lsp",
    },
    "Inspect": {
        "list": "show:list_",
        "show": "show:show",
        "graph": "graph:graph",
        "export": "export:export",
    },
    "Run": {
        "call": "call:call",
        "handle": "handle:handle",
        "pending": "decide:pending",
        "confirm": "decide:confirm",
        "reject": "decide:reject",
        "respond": "decide:respond",
        "crises": "crises:crises",
        "accept": "accept:accept",
        "servers": "servers:servers",
        "run": "run:run",
        "runs": "runs:GROUP",
        "worker": "worker:worker",
        "dev": "dev:dev",
        "serve": "serve:serve",
        "tokens": "tokens:GROUP",
        "chat": "chat:chat",
        "audit": "audit:audit",
    },
    "Help": {
        "plugins": "about:plugins",
        "rule": "about:rule",
        "doctor": "about:doctor",
    },
}
"""The place in `toolmd._cli.verbs` of each command, by heading, in the order of `--help`."""


class OwnCommands(UserDict[str, Any]):
    """Toolmd's own commands by name; reading one imports it."""

    def __init__(self) -> None:
        super().__init__()
        for names in COMMANDS.values():
            self.data.update(dict.fromkeys(names))

    def __getitem__(self, name: str) -> Any:
        """Return the command of this name."""
        if self.data[name] is None:
            self.data[name] = _load(name)
        return self.data[name]


def _load(name: str) -> Any:
    heading, place = next(
        (heading, names[name]) for heading, names in COMMANDS.items() if name in names
    )
    module, _, attribute = place.partition(":")
    found = getattr(import_module(f"toolmd._cli.verbs.{module}"), attribute)
    app = typer.Typer(rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name, rich_help_panel=heading)
    else:
        app.command(name, rich_help_panel=heading)(found)
    command = get_group(app).commands[name]
    for one in (command, *getattr(command, "commands", {}).values()):
        _read_plain_values(one)
    return command


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
        added, self.plugins = added_commands(ctx.params.get("project"))
        for name, command in added.items():
            self.commands.setdefault(name, command)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        longest = max(map(len, self.commands))
        for name in self.list_commands(ctx):
            command = self.commands[name]
            if not command.hidden:
                heading = getattr(command, "rich_help_panel", None) or "Commands"
                # Show the whole first sentence; the formatter wraps it on a narrow terminal.
                row = (name.ljust(longest), command.get_short_help_str(formatter.width * 10))
                sections.setdefault(str(heading), []).append(row)
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


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


def _tell_version(value: bool) -> None:  # noqa: FBT001  # Typer's signature
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
            "--version", help="Print the version and exit.", callback=_tell_version, is_eager=True
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
