"""Every command in a text exists on the command line, with its options.

Nothing is executed; only the parser of the command reads the words.
"""

import ast
import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest
from lint import read
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tracked import ROOT
from typer._click.core import Context
from typer._click.exceptions import UsageError
from typer.main import get_group

from toolmd._cli.commands import ask_plugins, make_app
from toolmd_alara.commands import commands

APP = get_group(make_app())
_ADDED, _HELD, _ = ask_plugins(ROOT)
_OF_ALARA = get_group(commands(datetime.now, None))
COMMANDS: dict[str, Any] = {**_ADDED, **APP.commands, "alara": _OF_ALARA}
"""The commands of Toolmd, and of the plugins of this repository."""

TEXTS = {file.name: file.text for file in read()}
MARKDOWN = MarkdownIt("commonmark").enable("table")
PYTHON = re.compile(r"(framework|plugins/[^/]+/src)/.*\.py")
PAGE = re.compile(r"framework/.*\.(html|js)")

LINE = re.compile(r"^\s*(?:\$ )?(toolmd [a-z-].*)$", re.MULTILINE)
"""A command in a code block."""
QUOTED = re.compile(r"`(toolmd [^`]+)`|<code>(toolmd [^<]+)</code>")
BARE = re.compile(r"(?<![`>\w./-])(?<!from )toolmd [a-z][^`;,&\n\"]*")
"""A command in a sentence or a help line; its options end at the next word."""

NEXT = re.compile(r"\s(?:&&|\|\|?|;|#|[12]?>+|<+)(?=\s|$).*", re.DOTALL)
"""The part after a command that the shell reads or ignores."""
INNER = re.compile(r"\$\([^)]*\)")
PLACEHOLDER = re.compile(r"[A-Z_]+|[^\w-]+|.*[{}<>…].*")

Found = tuple[str, bool]
"""A command, and whether the text marks its end."""


def named() -> Iterator[tuple[str, Found]]:
    """Yield each command in a text, with its file."""
    for name, text in TEXTS.items():
        found: list[Found] = []
        if name.endswith(".md") and not name.startswith("tests/"):
            found = [*in_markdown(text)]
        elif PYTHON.fullmatch(name):
            found = [one for literal in literals(text) for one in in_message(literal)]
        elif PAGE.fullmatch(name):
            found = [*in_message(text)]
        yield from ((name, one) for one in found)


def in_markdown(text: str) -> Iterator[Found]:
    """Yield the commands in code spans, including tables, and in code blocks."""

    def walk(tokens: Sequence[Token]) -> Iterator[Found]:
        for token in tokens:
            yield from walk(token.children or ())
            if token.type == "code_inline" and token.content.startswith("toolmd "):
                yield token.content, True
            elif token.type in {"fence", "code_block"}:
                yield from ((line, True) for line in LINE.findall(token.content))

    return walk(MARKDOWN.parse(text))


def literals(source: str) -> Iterator[str]:
    """Yield the texts of a module; each value in an f-string becomes `{}`."""
    inner: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.JoinedStr(values=parts):
                inner |= {*map(id, parts)}
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts
                )
            case ast.Constant(value=str(text)) if id(node) not in inner:
                yield text
            case _:
                pass


def in_message(text: str) -> Iterator[Found]:
    """Yield the commands of a message, a help, a docstring or a template."""
    for match in QUOTED.finditer(text):
        yield match[1] or match[2], True
    yield from ((command, False) for command in BARE.findall(text))


def fault(command: str, *, is_whole: bool = True) -> str:
    """Return the error of the command line for a command, or nothing if it is known."""
    text = re.sub(r"[][]", " ", NEXT.sub("", INNER.sub("…", command)))
    words = (shlex.split(text) if is_whole else text.split())[1:]
    path, commands = "toolmd", COMMANDS
    found: Any = APP
    while words and commands and not words[0].startswith("-"):
        if words[0] not in commands:
            known = PLACEHOLDER.fullmatch(words[0])
            return "" if known else f"{path} has no command {words[0]!r}"
        found, path = commands[words[0]], f"{path} {words[0]}"
        commands, words = getattr(found, "commands", {}), words[1:]
    return mismatch(found, path, words if is_whole else [one for one in words if one[0] == "-"])


def mismatch(found: Any, path: str, words: list[str]) -> str:
    """Return the error of a command's parser for its words."""
    try:
        _, left, _ = found.make_parser(Context(found)).parse_args([*words])
    except UsageError as error:
        # A text may name an option alone, without what is given to it.
        return "" if "requires an argument" in str(error) else f"{path}: {error}"
    fits = all(map(PLACEHOLDER.fullmatch, left))
    return "" if fits else f"{path} takes no {' '.join(left)!r}"


def test_every_command_in_a_text_exists() -> None:
    found = {*named()}

    wrong = {(name, *one, fault(one[0], is_whole=one[1])) for name, one in found}

    assert len(found) > 200
    assert {one for one in wrong if one[-1]} == set()


@pytest.mark.parametrize(
    "text",
    [
        "| edit the audit | `toolmd audit verify` names the first bad one | `chain.py` |",
        "Then stop it: `toolmd runs stop ID`.",
        "`toolmd tidy` does it.",
        "Use `toolmd check --mend`.",
        "`toolmd show NAME NAME2` shows both.",
        "```sh\ntoolmd serve --transport http --sandbox\n```",
        "    $ toolmd fmt --write && toolmd check",
    ],
)
def test_a_page_that_names_an_unknown_command_is_found(text: str) -> None:
    assert any(fault(command, is_whole=is_whole) for command, is_whole in in_markdown(text))


@pytest.mark.parametrize(
    "source",
    [
        'help_ = f"{name} is cut; `toolmd audit verify` names where"',
        'help_ = f"toolmd runs stop {run_id} ends it"',
        'NEXT = "toolmd check && toolmd try it"',
        'A = "toolmd serve --print-settings claude shows it"',
    ],
)
def test_a_message_that_names_an_unknown_command_is_found(source: str) -> None:
    found = [one for literal in literals(source) for one in in_message(literal)]

    assert any(fault(command, is_whole=is_whole) for command, is_whole in found)


@pytest.mark.parametrize(
    "command",
    [
        "toolmd runs resolve ID --done",
        "toolmd call NAME key=value …",
        "toolmd VERB --help",
        "toolmd serve --transport http --host",
        "toolmd runs COMMAND",
        "toolmd respond",
    ],
)
def test_a_command_with_placeholders_is_known(command: str) -> None:
    assert not fault(command)
