"""Read docstrings, signatures and attribute sentences from the code."""

import ast
import inspect
import re
from collections.abc import Iterable
from textwrap import dedent
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin


def signature(name: str, member: Any) -> str:
    """Return the signature of a function or property as a code block."""
    getter = getattr(member, "fget", None) or getattr(member, "func", None)
    shown = re.sub(
        r"\((self|cls)(: \w+)?(, )?", "(", _unhomed(str(inspect.signature(getter or member)))
    )
    if getter:
        shown = shown.replace("() ->", ":")
    kind = "async " if inspect.iscoroutinefunction(member) else ""
    return f"```text\n{kind}{name}{shown}\n```\n"


def type_text(annotation: Any) -> str:
    """Return a type as users write it."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    plain = isinstance(annotation, type) and not hasattr(annotation, "__args__")
    text = annotation.__name__ if plain else _unhomed(str(annotation))
    # Python 3.14 writes it so itself.
    return re.sub(r"^Optional\[(.*)\]$", r"\1 | None", text)


def _unhomed(text: str) -> str:
    """Remove module names, the quotes of forward references, and addresses of objects."""
    plain = re.sub(r"\((?:<[^<>]* at 0x\w+>(?:, )?)+\)|<[^<>]* at 0x\w+>", "...", text)
    named = re.sub(r"ForwardRef\('(\w+)'\)|'([A-Z][\w |]*)'", r"\1\2", plain)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])|~", "", named.replace("toolmd._types.", ""))


def attribute_docs(module: ModuleType | None) -> dict[str, str]:
    """Return the sentence below each attribute, by `Class.name` or `name`."""
    found: dict[str, str] = {}

    def read(body: list[ast.stmt], prefix: str) -> None:
        for node, below in zip(body, [*body[1:], None], strict=True):
            if isinstance(node, ast.ClassDef):
                read(node.body, f"{node.name}.")
            match node, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name))
                    | ast.Assign(targets=[ast.Name(id=name)]),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[prefix + name] = " ".join(text.split())
                case _:
                    pass

    read(ast.parse(inspect.getsource(module) if module else "").body, "")
    return found


def doc(thing: object) -> str:
    """Return a docstring without its indent."""
    return dedent(inspect.getdoc(thing) or "")


def line_of(text: str | None) -> str:
    """Return a text in one line."""
    return " ".join((text or "").split())


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a markdown table."""

    def line(cells: tuple[str, ...]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    return f"{line(head)}|{'---|' * len(head)}\n{''.join(map(line, rows))}"
