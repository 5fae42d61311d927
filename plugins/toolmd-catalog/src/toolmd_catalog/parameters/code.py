"""Code in a catalogue: schemas, calls, and signatures of functions, read without running them."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolmd.importing import tool_name
from toolmd_catalog.layout.blocks import Fence
from toolmd_catalog.parameters.lines import read_listed
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.literals import objects
from toolmd_catalog.phrases.shapes import read_fields
from toolmd_catalog.words import closing

_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_ARGUMENTS = ("arguments", "args", "params", "parameters", "input", "inputs", "kwargs")
_NAMES = ("tool", "name", "function", "tool_name", "action", "method")
_INSIDE = r"\((?P<inside>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?::\s*(?P<gives>[^={;\n]+))?"
_DECLARED = re.compile(
    r"\b(?:function\s+(?P<name>[A-Za-z_$][\w$]*)|const\s+(?P<const>[A-Za-z_$][\w$]*)\s*=\s*"
    rf"(?:async\s*)?)\s*{_INSIDE}"
)
_ALONE = re.compile(rf"\s*(?P<name>[A-Za-z_$][\w$]*)\s*{_INSIDE}\s*;?\s*")
_INTERFACE = re.compile(
    r"(?:export\s+)?(?:interface\s+\w+|type\s+\w+\s*=)\s*(?P<body>\{.*\})", re.DOTALL
)
_STUB = re.compile(
    rf"^[ \t]*(?:async\s+)?(?:def\s+|function\s+)?(?P<name>[A-Za-z_$][\w$]*){_INSIDE}"
    r"(?:\s*->\s*(?P<to>[^\n:{]+?))?[ \t]*[;:]?[ \t]*(?:(?:#|//|-{1,2}|–|—)[ \t]*(?P<words>.*))?$",  # noqa: RUF001
    re.MULTILINE,
)
_TYPED_CALL = re.compile(
    r"[\"']?name[\"']?\s*:\s*[\"'](?P<name>[\w.-]+)[\"']\s*,\s*"
    r"[\"']?(?:arguments|args|params|parameters|input)[\"']?\s*:\s*(?=\{)"
)
_VALUE_FIRST = re.compile(r"(?:^|,)\s*(?:[\"'\[]|-?\d)")
_REMARK = re.compile(r"^\s*(?:#|//).*$", re.MULTILINE)
_LONGEST = 2000
"""Characters of a signature."""
_OF_PYTHON = frozenset(("self", "cls", "ctx", "context"))
_UNNAMED = re.compile(r"(?:\*\*)?(?:params?|args?|arguments|options|opts|input|kwargs|\.{3}|…)")


@dataclass(slots=True)
class SaidCall:
    """An example of a call."""

    tool: str
    arguments: dict[str, Any]
    line: int = 0


@dataclass(slots=True)
class Signature:
    """A function as code declares it."""

    name: str
    found: list[ParameterFound]
    gives: str = ""
    words: str = ""
    line: int = 0
    text: str = ""
    """The source, where it stands in a list of signatures."""


@dataclass(slots=True)
class CodeBlocks:
    """The contents of the code blocks of one span."""

    functions: list[tuple[Mapping[str, Any], int]] = field(default_factory=list)
    """Descriptions of functions with JSON Schemas, and their lines."""
    schemas: list[tuple[Mapping[str, Any], int]] = field(default_factory=list)
    """JSON Schemas by themselves."""
    calls: list[SaidCall] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    plain: list[tuple[dict[str, Any], int]] = field(default_factory=list)
    """Objects that are neither."""
    fields: list[list[ParameterFound]] = field(default_factory=list)
    """Object types: TypeScript's interfaces."""


def read_code(fences: list[Fence]) -> CodeBlocks:
    """Sort what the code blocks hold."""
    code = CodeBlocks()
    for fence in fences:
        _fence(code, fence.content, fence.info.split(" ")[0].lower(), fence.mark.line)
    return code


def _fence(code: CodeBlocks, text: str, info: str, line: int) -> None:
    if stubs := _stubs(text, line):
        code.signatures += stubs
        return
    if info in {"python", "py", ""} and (found := list(_python(text, line))):
        code.signatures += found
        return
    if info not in {"python", "py"} and (interface := _INTERFACE.search(text)):
        fields = read_fields(interface["body"].strip().rstrip(";"))
        if fields is not None:
            code.fields.append(fields[0])
            return
    values = objects(text)
    for value in values:
        _object(code, value, line)
    typed = [] if values else list(_typed_calls(text, line))
    whole = None if values or typed else read_fields(text.strip())
    code.signatures += typed
    if whole is not None and whole[0] and all("types" in one.said for one in whole[0]):
        code.fields.append(whole[0])
    elif not values and not typed and info in {"typescript", "ts", "javascript", "js", "text", ""}:
        code.signatures += _typescript(text, line)


def _object(code: CodeBlocks, value: Any, line: int) -> None:
    if not isinstance(value, Mapping):
        return
    held = value.get("function")
    inner: Mapping[str, Any] = held if isinstance(held, Mapping) else value
    schema = next((inner[k] for k in _SCHEMAS if isinstance(inner.get(k), Mapping)), None)
    named = isinstance(inner.get("name"), str)
    if schema is not None and named and schema.keys() & {"type", "properties", "$ref"}:
        code.functions.append((inner, line))
        return
    call = _call(value, line)
    if call is not None:
        code.calls.append(call)
    elif value.get("type") == "object" and isinstance(value.get("properties"), Mapping):
        code.schemas.append((value, line))
    elif isinstance(value.get("tools"), list):
        for tool in value["tools"]:
            _object(code, tool, line)
    else:
        code.plain.append((dict(value), line))


def _call(value: Mapping[str, Any], line: int) -> SaidCall | None:
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    given = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return None
    if name is None or not isinstance(given, dict):
        return None
    return SaidCall(tool_name(name), given, line)


def _python(text: str, line: int) -> Iterator[Signature]:
    """Read each `def`; the code is parsed, never run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        found: list[ParameterFound] = []
        positional = [*node.args.posonlyargs, *node.args.args]
        gap = len(positional) - len(node.args.defaults)
        pairs = [
            (a, node.args.defaults[i - gap] if i >= gap else None) for i, a in enumerate(positional)
        ]
        pairs += list(zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True))
        for argument, default in pairs:
            if argument.arg not in _OF_PYTHON:
                found += read_listed(_python_field(argument, default), line + node.lineno)
        gives = ast.unparse(node.returns) if node.returns else ""
        yield Signature(node.name, found, gives, ast.get_docstring(node) or "", line + node.lineno)


def _python_field(argument: ast.arg, default: ast.expr | None) -> str:
    kind = ast.unparse(argument.annotation) if argument.annotation else ""
    optional = "?" if default is not None else ""
    value = ""
    if isinstance(default, ast.Constant) and default.value is not None:
        value = f" = {json.dumps(default.value, default=str)}"
    elif isinstance(default, ast.List | ast.Dict | ast.UnaryOp):
        value = f" = {ast.unparse(default)}"
    return f"{{ {argument.arg}{optional}{': ' + kind if kind else ''}{value} }}"


def _stubs(text: str, line: int) -> list[Signature]:
    """Read a block that is only signatures, without bodies; a list of calls is none."""
    matches = list(_STUB.finditer(text)) if len(text) < _LONGEST * 10 else []
    if _REMARK.sub("", _STUB.sub("", text)).strip() or any(map(_is_call, matches)):
        return []
    made = []
    for match in matches:
        at = line + 1 + text.count("\n", 0, match.start("name"))
        gives = (match["gives"] or match["to"] or "").strip()
        found = [one for one in read_signature(match["inside"], at) if one.name not in _OF_PYTHON]
        made.append(Signature(match["name"], found, gives, match["words"] or "", at, match[0]))
    every = [one for signature in made for one in signature.found]
    declared = not every or any(one.need or "types" in one.said for one in every)
    return made if declared and not any(one.samples for one in every) else []


def _typed_calls(text: str, line: int) -> Iterator[Signature]:
    """Read `{ name: "find", arguments: { city: string, units?: string } }`: a call with types."""
    for match in _TYPED_CALL.finditer(text):
        end = closing(text, match.end())
        fields = read_fields(text[match.end() : end + 1]) if end > 0 else None
        if fields is not None and not any(one.samples for one in fields[0]):
            yield Signature(match["name"], fields[0], line=line)


def _is_call(match: re.Match[str]) -> bool:
    return _VALUE_FIRST.search(match["inside"]) is not None


def _typescript(text: str, line: int) -> list[Signature]:
    """Read what TypeScript declares as a function, or a signature that stands alone."""
    alone = _ALONE.fullmatch(text) if len(text) < _LONGEST else None
    made = []
    for match in [alone] if alone else _DECLARED.finditer(text):
        name = match["name"] or match.groupdict().get("const") or ""
        gives = (match["gives"] or "").strip()
        made.append(Signature(name, read_signature(match["inside"], line), gives, "", line))
    return made


def read_signature(inside: str, line: int) -> list[ParameterFound]:
    """Read the inside of a signature's parentheses; a lone `params` names nothing."""
    plain = inside.strip()
    if not plain or _UNNAMED.fullmatch(plain):
        return []
    if plain.startswith("{"):
        fields = read_fields(plain)
    elif re.fullmatch(r"\w+\s*:\s*\{.*\}", plain, re.DOTALL):
        fields = read_fields(plain.partition(":")[2].strip())
    else:
        fields = read_fields("{" + plain + "}")
    for found in fields[0] if fields else ():
        found.line = line
    return fields[0] if fields else []
