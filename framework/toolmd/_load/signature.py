"""Compare a definition's markdown with a Python signature, and name both places."""

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolmd._load.files import File
from toolmd._load.fits import converter, members, mismatch, show, signature_of, unwritable
from toolmd._load.modules import tree_of
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.code import Code
from toolmd._types.context import Context
from toolmd._types.diagnostic import Diagnostic, Severity, Span
from toolmd._types.registry import Implementation, Mode
from toolmd._types.schema import Parameter, Schema
from toolmd.hooks import INLINE

_MARKS = r"[ \t\u00a0#*_`\\\-+|.:0-9)>]"
"""What may stand before a name: the signs of headings, bullets, tables, and numbers."""


class PythonPlace(NamedTuple):
    """A place in Python."""

    path: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def in_markdown(path: str, text: str, name: str | None, title_line: int) -> Span:
    """Return the span of a parameter's name where it is declared, or else of the title."""
    if name is not None:
        own = re.escape(name).replace("_", r"\\?_")
        declares = re.compile(rf"{_MARKS}+?({own})(?!\w)")
        found = [
            (not line.lstrip().startswith("#"), number, match)
            for number, line in enumerate(text.splitlines(), 1)
            if (match := declares.match(line))
        ]
        if found:
            _, line, match = min(found, key=lambda one: one[:2])
            return Span(path, line, match.start(1) + 1, line, match.end(1) + 1)
    return Span(path, title_line, 1, title_line, 2)


def in_python(file: File | None, function: Callable[..., Any], name: str | None) -> PythonPlace:
    """Return the place of a function's parameter, or of the function itself."""
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    line = code.co_firstlineno if code is not None else 1
    location = code.co_filename if code is not None else getattr(inner, "__module__", "?")
    if file is None or location != file.location:
        return PythonPlace(location, line)
    for node in ast.walk(tree_of(file.data)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        decorated = [d.lineno for d in node.decorator_list]
        if node.name != inner.__name__ or line not in (node.lineno, *decorated):
            continue
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        for argument in arguments:
            if argument.arg == name:
                return PythonPlace(file.path, argument.lineno, argument.col_offset + 1)
        return PythonPlace(file.path, node.lineno, node.col_offset + 1)
    return PythonPlace(file.path, line)


CONTEXT = "context"
"""The keyword-only parameter that takes the Context."""

_RETURNS = "Returns"
"""The section of the markdown that describes the result of a tool."""
_Kind = inspect.Parameter
_NAMED = (_Kind.POSITIONAL_OR_KEYWORD, _Kind.KEYWORD_ONLY)


@dataclass(slots=True, eq=False, repr=False)
class Bond:
    """A definition, its function, and the differences between them."""

    call_spec: CallSpec
    function: Callable[..., Any]
    text: str
    """The markdown, for places."""
    file: File | None = None
    """The Python's file, where its bytes were read."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    converters: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    context: str | None = None
    resources: dict[str, type] = field(default_factory=dict)

    def report(
        self,
        code: Code,
        message: str,
        help_: str,
        parameter: str | None = None,
        python: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Report a difference, with both places: the span is the markdown's."""
        source = self.call_spec.source
        span = in_markdown(source.path, self.text, parameter, source.line)
        place = in_python(self.file, self.function, python)
        message = f"{message} (Python: {place}; markdown: {span.path}:{span.line})"
        self.diagnostics.append(Diagnostic(span, code, severity, message, help_))


def bind(bond: Bond, target: str, provides: Callable[[type], bool]) -> Implementation:
    """Compare the markdown with the function, and return the Implementation.

    Differences go to `bond.diagnostics`. `provides` reports whether a plugin registered a type.
    """
    signature = _signature(bond)
    accepted = signature.parameters if signature else {}
    named = {name: p for name, p in accepted.items() if p.kind in _NAMED}
    open_ended = signature is None or any(p.kind is _Kind.VAR_KEYWORD for p in accepted.values())
    matched = _match(bond, named)
    for parameter in bond.call_spec.parameters:
        own = matched.get(parameter.name)
        if own is not None:
            _check_type(bond, parameter, named[own])
            _check_default(bond, parameter, named[own])
        elif not open_ended:
            _report_lacking(bond, parameter, named)
    taken = set(matched.values())
    for name, p in accepted.items():
        if name not in taken:
            _provide(bond, p, provides)
    mode = mode_of(bond.function)
    if signature is not None and isinstance(bond.call_spec, ToolCallSpec):
        _check_returns(bond, bond.call_spec.returns, signature, mode)
    return Implementation(
        target=target,
        hash="",
        function=bond.function,
        mode=mode,
        names=bond.names,
        converters=bond.converters,
        context=bond.context,
        resources=bond.resources,
    )


def mode_of(function: Callable[..., Any]) -> Mode:
    """Return the way in which a function runs."""
    if inspect.isasyncgenfunction(function) or inspect.isasyncgenfunction(
        _inner_callable(function)
    ):
        return "stream"
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        _inner_callable(function)
    ):
        return "async"
    return "inline" if getattr(function, INLINE, False) else "sync"


def _inner_callable(function: Callable[..., Any]) -> Any:
    # An object with an async `__call__`, or a partial of an async function.
    inner = getattr(function, "func", None)
    return inner if inner is not None else getattr(type(function), "__call__", None)  # noqa: B004 - not whether, but which


def fold(name: str) -> str:
    """Return a name without case and separators, to compare camelCase with snake_case."""
    return "".join(letter for letter in name if letter.isalnum()).casefold()


def _signature(bond: Bond) -> inspect.Signature | None:
    try:
        return signature_of(bond.function)
    except (TypeError, ValueError):
        # Some C callables have no signature: they are called as the markdown declares.
        return None


def _match(bond: Bond, named: Mapping[str, inspect.Parameter]) -> dict[str, str]:
    """Pair the markdown's parameters with Python's, by name, then by folded name."""
    matched = {p.name: p.name for p in bond.call_spec.parameters if p.name in named}
    free: dict[str, str] = {}
    for name in named:
        if name not in matched and name != CONTEXT:
            free.setdefault(fold(name), name)
    for parameter in bond.call_spec.parameters:
        if parameter.name in matched:
            continue
        if (own := free.pop(fold(parameter.name), None)) is not None:
            matched[parameter.name] = bond.names[parameter.name] = own
    return matched


def _report_lacking(
    bond: Bond, parameter: Parameter, named: Mapping[str, inspect.Parameter]
) -> None:
    name = bond.function.__name__ if hasattr(bond.function, "__name__") else "the implementation"
    takes = ", ".join(named) or "no parameters"
    bond.report(
        Code.PARAMETER_DRIFT,
        f"`{name}` does not take the parameter `{parameter.name}`",
        f"it takes {takes}; add `{parameter.name}` there, or remove it from the markdown",
        parameter.name,
    )


def _check_type(bond: Bond, parameter: Parameter, own: inspect.Parameter) -> None:
    """Compare a parameter of the markdown with the Python parameter that it matches."""
    certain = parameter.required or parameter.shape.has_default
    if own.default is own.empty and not certain:
        bond.report(
            Code.PARAMETER_DRIFT,
            f"`{parameter.name}` is optional in the markdown, and `{own.name}` has no default",
            f"write `{own.name}=None` in Python, or **Required**: true or a **Default** in the "
            "markdown",
            parameter.name,
            own.name,
        )
    annotation = _annotation(bond, own)
    if (found := mismatch(parameter.shape, annotation)) is not None:
        bond.report(
            Code.TYPE_DRIFT,
            f"`{parameter.name}`: `{show(annotation)}` can't hold {found.what}; "
            f"it takes {found.wanted}",
            "change the annotation or the markdown, so that both say the same",
            parameter.name,
            own.name,
            Severity.WARNING if found.partly else Severity.ERROR,
        )
        if not found.partly:
            return
    if (convert := converter(parameter.shape, annotation, fits=found is None)) is not None:
        bond.converters[parameter.name] = convert


def _check_default(bond: Bond, parameter: Parameter, own: inspect.Parameter) -> None:
    """Report a plain default of the function that is not the one of the markdown, which counts."""
    shape, default = parameter.shape, own.default
    if not shape.has_default or type(default) not in {str, int, float, bool}:
        return
    if type(default) is type(shape.default) and default == shape.default:
        return
    if (convert := bond.converters.get(parameter.name)) is not None:
        with suppress(ValueError):
            if convert(shape.default) == default:
                return
    bond.report(
        Code.PARAMETER_DRIFT,
        f"`{parameter.name}` has the Default {json.dumps(shape.default, ensure_ascii=False)} in "
        f"the markdown, which counts, and `{own.name}` has {default!r} in Python",
        "write the same value in both, or remove the one in Python",
        parameter.name,
        own.name,
        Severity.WARNING,
    )


def _check_returns(bond: Bond, returns: Schema, signature: inspect.Signature, mode: Mode) -> None:
    """Check the return annotation of the function against the Returns section."""
    annotation = _resolve(bond, signature.return_annotation, "the result", _RETURNS)
    if (found := unwritable(returns, annotation, mode)) is not None:
        bond.report(
            Code.TYPE_DRIFT,
            f"the result: `{show(annotation)}` gives {found.what}; "
            f"the markdown says {found.wanted}",
            "change the annotation or Returns, so that both say the same",
            _RETURNS,
            severity=Severity.WARNING if found.partly else Severity.ERROR,
        )


def _provide(bond: Bond, own: inspect.Parameter, provides: Callable[[type], bool]) -> None:
    """Find the resource for a parameter that the markdown does not declare."""
    if own.kind in (own.VAR_KEYWORD, own.VAR_POSITIONAL):
        return
    needed = own.default is own.empty
    if own.kind is not own.KEYWORD_ONLY:
        if needed:
            _report_extra(bond, own)
        return
    wanted = next(_resource_types(_annotation(bond, own)), None)
    if own.name == CONTEXT or wanted is Context:
        bond.context = own.name
        return
    if wanted is not None and provides(wanted):
        bond.resources[own.name] = wanted
    elif needed:
        what = f"the type {show(wanted)}" if wanted is not None else "it: it has no type"
        bond.report(
            Code.UNPROVIDED_PARAMETER,
            f"`{own.name}` is not in the markdown, and no plugin provides {what}",
            "declare it in the markdown, or register its type in a plugin's toolmd_resources",
            python=own.name,
        )


def _report_extra(bond: Bond, own: inspect.Parameter) -> None:
    if own.kind is own.POSITIONAL_ONLY:
        help_ = "arguments are given by name: remove the `/`"
    else:
        help_ = (
            f"declare it in the markdown, give it a default, or make it keyword-only "
            f"(`*, {own.name}`) if it is to be provided"
        )
    bond.report(
        Code.PARAMETER_DRIFT,
        f"`{own.name}` of the Python is not in the markdown",
        help_,
        python=own.name,
    )


def _resource_types(annotation: Any) -> Iterator[type]:
    for choice in members(annotation):
        if isinstance(choice, type) and choice not in (type(None), inspect.Parameter.empty):
            yield choice


def _annotation(bond: Bond, own: inspect.Parameter) -> Any:
    return _resolve(bond, own.annotation, f"`{own.name}`", python=own.name)


def _resolve(
    bond: Bond, annotation: Any, of: str, markdown: str | None = None, python: str | None = None
) -> Any:
    """Resolve one annotation by itself: an error in another annotation must not hide it."""
    if isinstance(annotation, str):
        scope = dict(getattr(inspect.unwrap(bond.function), "__globals__", {}))
        try:
            annotation = eval(annotation, scope)  # noqa: S307 - as Python does with annotations
        except Exception as error:  # noqa: BLE001 - an annotation may hold any code
            bond.report(
                Code.TYPE_DRIFT,
                f"the annotation of {of} can't be read: {error}",
                "import the name in that module; until then, the value is passed as JSON has it",
                markdown,
                python,
                Severity.WARNING,
            )
            return _Kind.empty
    return annotation
