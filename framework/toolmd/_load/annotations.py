"""Read the signature and the annotations of a function, also those that only checkers import."""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

if sys.version_info >= (3, 14):
    from annotationlib import Format


def signature_of(function: Any) -> inspect.Signature:
    """Return a signature; its annotations are texts where one of them can't be evaluated.

    Since Python 3.14, an annotation is evaluated when it is read, and not before: it may name
    what only type checkers import. Raises TypeError or ValueError where there is no signature.
    """
    if sys.version_info >= (3, 14):
        with suppress(Exception):
            return inspect.signature(function)
        return inspect.signature(function, annotation_format=Format.STRING)
    return inspect.signature(function)


def annotations_of(owner: Any) -> Mapping[str, Any]:
    """Return the annotations of a function or a class; texts as in `signature_of`."""
    if sys.version_info >= (3, 14):
        with suppress(Exception):
            return inspect.get_annotations(owner)
        return inspect.get_annotations(owner, format=Format.STRING)
    return inspect.get_annotations(owner)


def scope_of(function: Any, annotation: str, source: str | None = None) -> dict[str, Any]:
    """Return the names by which the annotation of a function is read.

    They are the globals of its module, and of the statements below `if TYPE_CHECKING` those that
    the annotation needs: no other one is run.

    Args:
        function: The function.
        annotation: The annotation as its source has it.
        source: The source of its module; None to find it.
    """
    scope = dict(getattr(inspect.unwrap(function), "__globals__", {}))
    with suppress(Exception):  # An annotation and a source may be anything.
        wanted = _used(ast.parse(annotation, mode="eval")) - scope.keys()
        if not wanted:
            return scope
        module = ast.parse(source or inspect.getsource(sys.modules[scope["__name__"]]))
        chosen: list[ast.stmt] = []
        for statement in reversed(list(_for_checkers(module))):
            if _made(statement) & wanted:
                wanted |= _used(statement)
                chosen.insert(0, statement)
        for statement in chosen:
            code = compile(ast.Module([statement], []), "<TYPE_CHECKING>", "exec")
            with suppress(Exception, SystemExit):
                exec(code, scope)  # noqa: S102 - the module's own code, as its import
    return scope


def _for_checkers(module: ast.Module) -> Iterator[ast.stmt]:
    for block in module.body:
        if isinstance(block, ast.If) and ast.unparse(block.test).endswith("TYPE_CHECKING"):
            yield from block.body


def _used(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _made(statement: ast.stmt) -> set[str]:
    """Return the names that a statement makes."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {one.asname or one.name.partition(".")[0] for one in statement.names}
    if isinstance(statement, ast.ClassDef):
        return {statement.name}
    stored = (one for one in ast.walk(statement) if isinstance(one, ast.Name))
    return {one.id for one in stored if isinstance(one.ctx, ast.Store)}
