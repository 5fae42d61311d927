"""Write the pages of docs/reference that come from the code; `make docs` runs it."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from docs.code_text import attribute_docs, doc, line_of, signature, table, type_text
from docs.http_page import http_page

import toolmd
from toolmd import config, database, hooks, importing, testing
from toolmd._cli.commands import make_app
from toolmd._expressions import functions
from toolmd._expressions.syntax import MAX_DEPTH, MAX_LENGTH
from toolmd._parse.fields.table import PARAMETER, RETURN_FIELDS, TABLES
from toolmd._types import settings
from toolmd._types.code import Code
from toolmd._types.field import Row
from toolmd._types.skill import STEP_KEYS
from toolmd.config import values

REFERENCE = Path(__file__).parent / "reference"
NOTE = "<!-- Written by `make docs`; change the code instead. -->\n\n"

FIELDS = """# Fields

This page lists each field of a definition. Write a field as `- **Name**: value`. The mark
*restricts* shows that a field limits which calls may run. If Toolmd can't read the value of such a
field, the tool does not load. If a row begins with "Whether" and names no default, the default is
`no`. Toolmd also accepts the other headings of a section, and other forms of a name, such as `Max`
for Maximum.
"""
EXPRESSIONS = f"""# Expressions

Expressions are a subset of CEL, the Common Expression Language. This page describes the whole
subset.

```text
diastolic < systolic
has(cluster_id) != has(pmids)
'support' in roles || amount <= 100
slots.filter(s, s.free).sortBy(s, s.time).first()
```

- **Values** are text in single or double quotes, whole numbers and fractions, `true`, `false`,
  `null`, lists such as `[1, 2]`, and objects such as `{{'name': 'Ann'}}`. In text, `\\\\`, `\\'`,
  `\\"`, `\\n`, `\\t`, `\\r` and `\\u00e9` stand for a character. A comment begins with `//`.
- **Names** are the parameters, the saved results of steps, `now`, and `caller`
  ([who calls](../how-to/state-who-may-call.md)). `slot.time` reads a field, and `slots[0]` reads an
  item. If the field may be absent, write `slot.?room`, which is an optional value.
- **Numbers** may be integers or fractions: `price * 2` works for 20 and for 20.5. An integer of
  more than 64 bits is an error. A division by zero is an error, too.
- **Values of unlike types** can't be compared: `1 == '1'` is an error, and an error in a rule
  denies the call. Any value may be compared with `null`.
- **Optional values** come from `first()`, `last()` and `.?`. At the end of an expression, an
  optional value becomes the value or `null`.
- **Times** in a result become ISO 8601 text, and durations become text such as `90s`.
- **Limits**: An expression may have {MAX_LENGTH:,} characters and {MAX_DEPTH} levels. Each
  evaluation may take {functions.MAX_STEPS:,} steps of loops, and create or read
  {functions.MAX_BYTES >> 20} MiB. An expression beyond a limit has no value.

In the tables, `T` and `B` are any type, `number`
is an integer or a double, and `x` is a name that you choose for each item. If a function returns
`number`, its result of integers is an integer. `*` marks an argument that may be repeated. `as`
names a function with the same types.
"""
DIAGNOSTICS = """# Diagnostics

This page lists every problem that `toolmd check` can report. The codes are stable, and the
messages may change. `toolmd rule CODE` prints the text below a code.
"""
CONFIGURATION = """# Configuration

This page lists every setting of a project, and every environment variable. Write settings in
`toolmd.toml`, or in `[tool.toolmd]` of `pyproject.toml`. A dot stands for a table: `safety.floor`,
for example, is the key `floor` of the table `safety`. Its variable is `TOOLMD_SAFETY_FLOOR`. In a
variable, write a table as JSON, and a list as JSON or as words with commas. The command line
overrides the environment, and the environment overrides the file.
"""
VARIABLES = {
    "TOOLMD_TOKEN": "The token that HTTP clients send. It has at least 16 characters. If unset, "
    "each start creates a token.",
    "TOOLMD_USER": "The user who calls, in the values of a table `[servers.NAME]`.",
    "TOOLMD_DEBUG": "If set, a command that crashes prints the traceback instead of one line.",
    "OPENROUTER_API_KEY": "The key for OpenRouter. If OPENAI_API_KEY is unset, servers on this "
    "machine get it, too.",
    "OPENAI_API_KEY": "The key for every other endpoint.",
    "NO_COLOR": "If set, the output has no colours.",
}
COMMANDS = """# Commands

This page lists every command of `toolmd`, with the text of its `-h`. Data goes to standard output,
and all other text to standard error. All commands share the [exit status](index.md#exit-status).
"""
FOR_THE_SITE = {"commands.md", "diagnostics.md", "hooks.md", "http.md", "python.md"}
"""The pages that the repository does not have, because programs print them."""


def fields_page() -> str:
    """Build the page of all sections and fields from the field table."""
    parts, seen = [FIELDS], set[str]()
    for kind, sections in TABLES.items():
        parts.append(f"## {kind.capitalize()} files: `{{name}}.{kind}.md`\n")
        for section in sections:
            if repr(section) in seen:
                head = f"### {kind.capitalize()}: {section.name}"
                parts.append(f"{head}\n\nThis section is the same as for a tool.\n")
                continue
            needed = " Required." if section.needed else ""
            parts.append(f"### {kind.capitalize()}: {section.name}\n\n{section.says}{needed}\n")
            if section.aliases:
                parts.append(f"Other headings: {', '.join(section.aliases)}.\n")
            if section.children == "parameters":
                parts.append(
                    "Below each `###`, write the [fields of a parameter](#fields-of-a-parameter).\n"
                )
            elif section.children == "steps":
                parts.append(
                    "Below each step, write the [keys of a step](#keys-of-a-step) as bullets.\n"
                )
            elif section.fields == RETURN_FIELDS:
                parts.append(
                    "Write the [fields of a parameter](#fields-of-a-parameter), except Required, "
                    "Optional and Verbatim.\n"
                )
            elif section.fields:
                parts.append(_field_table(row for row in section.fields if repr(row) not in seen))
                if known := [row.name for row in section.fields if repr(row) in seen]:
                    parts.append(f"These fields are the same as for a tool: {', '.join(known)}.\n")
            seen |= {repr(one) for one in (section, *section.fields)}
    parts.append(f"## Fields of a parameter\n\n{_field_table(PARAMETER.fields)}")
    keys = [(f"**{k.name}**", k.says, ", ".join(k.needs)) for k in STEP_KEYS.values()]
    parts.append(f"## Keys of a step\n\n{table(('key', 'meaning', 'needs one of'), keys)}")
    return "\n".join(parts)


def _field_table(rows: Iterable[Row]) -> str:
    def row(field: Row) -> tuple[str, ...]:
        choices = f" Write {_either(f'`{c}`' for c in field.choices)}." if field.choices else ""
        fits = f" Only for the type {_either(field.fits)}." if field.fits else ""
        default = f" Default: {field.default}." if field.default not in {"", "no"} else ""
        mark = " *restricts*" if field.restricts else ""
        return f"**{field.name}**", f"{field.says}{choices}{fits}{default}{mark}"

    return table(("field", "meaning"), map(row, rows))


def _either(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def expressions_page() -> str:
    """Build the page of the whole language of expressions from its table."""
    parts = [EXPRESSIONS]
    for subject, rows in functions.TABLE.items():
        first: dict[tuple[str, ...], str] = {}
        told = []
        for row in rows:
            name = row.names[0].lstrip(".")
            forms = tuple(_signatures(row))
            like = first.setdefault(tuple(one.replace(name, "…") for one in forms), name)
            types = "<br>".join(forms) if like == name else f"as `{like}`"
            told.append((f"`{name}`", types, row.says))
        parts.append(f"## {subject}\n\n{table(('', 'types', 'meaning'), told)}")
    return "\n".join(parts)


def _signatures(row: functions.Function) -> Iterator[str]:
    every = row.text.split("; ")
    for one in every:
        of_numbers = re.sub(r"\b(integer|double)\b", "number", one)
        if of_numbers != one and of_numbers in every:
            continue  # The introduction says what integers give.
        call, _, gives = one.rpartition(" ")
        name, _, takes = call.removesuffix(")").partition("(")
        kinds = takes.replace("*", "").split(", ")
        if name == "? :":
            call = "boolean ? T : T"
        elif name == "[]":
            call = f"{kinds[0]}[{kinds[1]}]"
        elif name == "in" or not name[-1].isalpha():
            call = f" {name} ".join(kinds) if len(kinds) > 1 else f"{name}{kinds[0]}"
        yield f"`{call}` → `{gives}`"


def diagnostics_page() -> str:
    """Build the page of all codes, with an anchor for each."""
    codes = [f"## {code}\n\n{code.says}\n" for code in sorted(Code)]
    return "\n".join([DIAGNOSTICS, *codes])


USUAL = r"\n    (spec: The tool|settings: The project's settings|call: The call, with its caller)\."
"""The arguments of hooks that need no sentence on their page."""


def hooks_page() -> str:
    """Build the page of all hooks from their specifications."""
    parts = [f"# Hooks\n\n{doc(hooks).partition(chr(10))[2].strip()}\n"]
    for name, function in vars(hooks).items():
        if hasattr(function, "toolmd_spec"):
            says = re.sub(USUAL, "", doc(function)).removesuffix("\n\nArgs:")
            parts.append(f"## {name}\n\n{signature(name, function)}\n{says}\n")
    return "\n".join(parts)


def configuration_page() -> str:
    """Build the page of all settings from their classes."""
    says = attribute_docs(settings)
    parts = [CONFIGURATION]

    def row(key: str) -> tuple[str, ...]:
        table, _, name = key.rpartition(".")
        holder: Any = values.TABLES[table] if table else settings.Settings
        default = holder._field_defaults[name]
        shown = "unset" if default is None else f"`{_toml(default)}`"
        return f"`{key}`", says[f"{holder.__name__}.{name}"], shown

    head = ("setting", "meaning", "default")
    parts.append(table(head, map(row, values.KINDS)))
    others = {config.LOAD_PLUGINS: attribute_docs(config)["LOAD_PLUGINS"], **VARIABLES}
    rows = [(f"`{name}`", text) for name, text in others.items()]
    parts.append(f"## Other variables\n\n{table(('variable', 'what it does'), rows)}")
    return "\n".join(parts)


def commands_page() -> str:
    """Build the page of all commands from the command line itself."""
    parts = [COMMANDS]
    for words, command in _commands(typer.main.get_command(make_app()), ("toolmd",)):
        context = typer.Context(command, info_name=" ".join(words), terminal_width=100)
        usage = command.get_usage(context).removeprefix("Usage: ")
        parts.append(f"## {' '.join(words)}\n\n```text\n{usage}\n```\n\n{line_of(command.help)}\n")
        records = filter(None, (p.get_help_record(context) for p in command.params))
        if rows := [
            (f"`{name.replace(' <list[str]>', '')}`", line_of(says)) for name, says in records
        ]:
            parts.append(table(("", "what it does"), rows))
    return "\n".join(parts)


def _commands(group: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield (*words, name), command
            yield from _commands(command, (*words, name))
        elif not command.hidden:
            yield (*words, name), command


def python_page() -> str:
    """Build the page of all public names."""

    def described(module: ModuleType) -> list[str]:
        names: list[str] = module.__all__
        found = [
            (n, getattr(module, n), import_module(toolmd._HOME.get(n, module.__name__)))
            for n in names
        ]
        return [f"## {name}\n\n{_described(name, value, home)}" for name, value, home in found]

    return "\n".join(
        [
            f"# Python\n\n{doc(toolmd)}\n",
            *described(toolmd),
            f"# toolmd.database\n\n{doc(database)}\n",
            *described(database),
            f"# toolmd.importing\n\n{doc(importing)}\n",
            *described(importing),
            f"# toolmd.testing\n\n{doc(testing)}\n",
            *described(testing),
        ]
    )


def _described(name: str, value: Any, module: ModuleType) -> str:
    if not inspect.isclass(value) and not inspect.isfunction(value):
        inside = [m for n, m in sys.modules.items() if n.startswith(module.__name__)]
        return next(f"{says[name]}\n" for m in inside if name in (says := attribute_docs(m)))
    if not inspect.isclass(value):
        return f"{signature(name, value)}\n{doc(value)}\n"
    parts = [doc(value) + "\n"]
    if _constructed_by_users(value):
        made = inspect.cleandoc(vars(value)["__init__"].__doc__ or "")
        parts.append(signature(name, value).replace(" -> None", "") + (made and f"\n{made}\n"))
    rows = [
        (
            f"`{field}`",
            f"`{type_text(annotation)}`",
            attribute_docs(inspect.getmodule(owner)).get(f"{owner.__name__}.{field}")
            or _of_the_format(value, field),
        )
        for owner in _ours(value)
        for field, annotation in inspect.get_annotations(owner).items()
        if not field.startswith("_") and not issubclass(value, BaseException)
    ]
    if rows:
        parts.append(table(("", "type", "meaning"), rows))
    for member, method in _members(value):
        parts.append(f"{signature(f'{name}.{member}', method)}\n{doc(method)}\n")
    return "\n".join(parts)


def _constructed_by_users(value: type) -> bool:
    """Return whether users construct it themselves, so that the page needs its signature."""
    if value in {toolmd.Bound, toolmd.Context, toolmd.Workspace}:
        return False
    return "__init__" in vars(value) and not is_dataclass(value)


def _of_the_format(value: type, name: str) -> str:
    """Return the field table's sentence for a field of a spec."""
    if value not in {toolmd.ToolSpec, toolmd.SkillSpec, toolmd.Schema, toolmd.Parameter}:
        return ""
    tables = [section.fields for kind in TABLES.values() for section in kind]
    rows = [row for table in (*tables, PARAMETER.fields) for row in table]
    return next((row.says for row in rows if row.name.lower().replace(" ", "_") == name), "")


def _ours(value: type) -> list[type]:
    return [owner for owner in value.__mro__ if owner.__module__.startswith("toolmd")]


def _members(value: type) -> Iterator[tuple[str, Any]]:
    for name in dict.fromkeys(name for owner in _ours(value) for name in vars(owner)):
        member = inspect.getattr_static(value, name)
        if not name.startswith("_") and member.__doc__:
            member = getattr(member, "__func__", member)
            if inspect.isfunction(member) or isinstance(member, property | cached_property):
                yield name, member


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case int() | float():
            return str(value)
        case _:
            return f'"{value}"'


PAGES: dict[str, Callable[[], str]] = {
    "fields.md": fields_page,
    "expressions.md": expressions_page,
    "diagnostics.md": diagnostics_page,
    "hooks.md": hooks_page,
    "configuration.md": configuration_page,
    "commands.md": commands_page,
    "python.md": python_page,
    "http.md": http_page,
}


def main() -> None:
    """Write each page that changed, and print its path."""
    for name, page in PAGES.items():
        file, text = REFERENCE / name, NOTE + page()
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, encoding="utf-8", newline="\n")
            print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
