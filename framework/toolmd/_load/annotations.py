"""Read Python annotations: their alternatives, and the fields of the classes that they name."""

import ast
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

if sys.version_info >= (3, 14):
    from annotationlib import Format


class RecordField(NamedTuple):
    """One field of a record class."""

    annotation: Any
    needed: bool


def members(annotation: Any) -> tuple[Any, ...]:
    """Return the alternatives of a union, unwrapped; any other annotation is its own only one."""
    annotation = bare(annotation)
    origin = typing.get_origin(annotation)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return members(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return tuple(m for part in typing.get_args(annotation) for m in members(part))
    return (annotation,)


def bare(annotation: Any) -> Any:
    """Return what a NewType or a type alias stands for."""
    while isinstance(annotation, typing.NewType) or hasattr(annotation, "__value__"):
        annotation = getattr(annotation, "__supertype__", None) or annotation.__value__
    return annotation


def anything(annotation: Any) -> bool:
    """Return whether the annotation allows any value, or can't be read."""
    return (
        annotation is Any
        or annotation is object
        or annotation is inspect.Parameter.empty
        or isinstance(annotation, str | typing.ForwardRef | typing.TypeVar)
    )


def show(annotation: Any) -> str:
    """Return an annotation as its author wrote it, nearly."""
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        return annotation.__name__
    return str(annotation).replace("typing.", "")


def is_typed_dict(annotation: Any) -> bool:
    """Return whether this is a TypedDict, of `typing` or of `typing_extensions`."""
    return isinstance(annotation, type) and hasattr(annotation, "__required_keys__")


def fields(record: Any) -> Mapping[str, RecordField] | None:
    """Return the fields of a record class by the names that JSON has; None for another class."""
    if not isinstance(record, type):
        return None
    if is_typed_dict(record):
        needed: frozenset[str] = getattr(record, "__required_keys__", frozenset())
        return {name: RecordField(hint, name in needed) for name, hint in hints(record).items()}
    if dataclasses.is_dataclass(record):
        return _dataclass_fields(record)
    if hasattr(record, "model_fields") and hasattr(record, "model_validate"):
        return {
            field.alias or name: RecordField(field.annotation, field.is_required())
            for name, field in record.model_fields.items()
        }
    if issubclass(record, tuple) and hasattr(record, "_field_defaults"):
        known = hints(record)
        return {
            name: RecordField(known.get(name, Any), name not in record._field_defaults)
            for name in getattr(record, "_fields", ())
        }
    return None


def _dataclass_fields(record: type) -> dict[str, RecordField]:
    known = hints(record)
    return {
        field.name: RecordField(
            known.get(field.name, Any),
            field.default is field.default_factory is dataclasses.MISSING,
        )
        for field in dataclasses.fields(record)
        if field.init
    }


def given_fields(record: Any) -> Mapping[str, RecordField] | None:
    """Return the fields that JSON has of a record class; None for another class.

    `needed` is whether a value always has the field. A model that writes itself is another class.
    """
    if not isinstance(record, type):
        return None
    if hasattr(record, "model_fields") and hasattr(record, "model_validate"):
        return _model_fields(record)
    if dataclasses.is_dataclass(record):
        known = hints(record)
        names = [field.name for field in dataclasses.fields(record)]
        return {name: RecordField(known.get(name, Any), needed=True) for name in names}
    return fields(record) if is_typed_dict(record) else None


def _model_fields(record: Any) -> dict[str, RecordField] | None:
    own = record.__pydantic_decorators__
    if own.model_serializers or getattr(record, "__pydantic_root_model__", False):
        return None
    by_alias = record.model_config.get("serialize_by_alias", False)
    rewritten = {name for one in own.field_serializers.values() for name in one.info.fields}
    found: dict[str, RecordField] = {}
    for name, field in record.model_fields.items():
        changed = {name, "*"} & rewritten or any(
            hasattr(one, "return_type") for one in field.metadata
        )
        shown = (field.serialization_alias or name) if by_alias else name
        if not field.exclude:
            found[shown] = RecordField(Any if changed else field.annotation, needed=True)
    for name, computed in record.model_computed_fields.items():
        found[name] = RecordField(computed.return_type, needed=True)
    return found


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


def hints(record: type) -> dict[str, Any]:
    """Return the annotations of a class, resolved; what can't be resolved is Any."""
    try:
        return typing.get_type_hints(record, include_extras=True)
    except Exception:  # noqa: BLE001 - annotations may hold any code
        return dict.fromkeys(annotations_of(record), Any)


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
