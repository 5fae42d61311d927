"""Import Python functions: their signatures, annotations and docstrings."""

import json
import re
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolmd._import.functions import add_function, read_result
from toolmd._import.report import ImportReport
from toolmd._types.imported import Imported
from toolmd.errors import NotFoundError

TIMEOUT_S = 60
"""The longest import of a module, in seconds."""
_CHILD = "from toolmd._import.python_child import main; main()"
_REMEDY = "pip install 'toolmd[python]'"
_NAMED = re.compile(r"(?P<module>.+?\.py|[\w.]+)(?::(?P<names>\w+(?:,\w+)*))?")


def list_functions(source: str) -> str:
    """Return the JSON of a module's functions; the module is imported in another process.

    Args:
        source: `module`, `module:name,name`, or the path of a `.py` file in place of the module.

    Raises:
        NotFoundError: There is no such module, or it can't be imported; the message has the reason.
    """
    named = _NAMED.fullmatch(source)
    if named is None:
        raise NotFoundError(f"{source}: write module, module:name,name or FILE.py:name")
    module, names = named["module"], (named["names"] or "").split(",")
    if module.endswith(".py") and not Path(module).is_file():
        raise NotFoundError(f"{module}: no such file")
    command = [sys.executable, "-P", "-c", _CHILD, module, *filter(None, names)]
    try:
        done = subprocess.run(  # noqa: S603 - this Python, with the module that the user names
            command, capture_output=True, timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL,
            encoding="utf-8", errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NotFoundError(f"{module}: its import took over {TIMEOUT_S} s") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        beside = next(iter(sorted(Path().glob(f"*/{module}.py"))), None)
        guess = f"; did you mean {beside.as_posix()}?" if beside else ""
        raise NotFoundError(f"{module} can't be imported: {said[-1]}{guess}")
    return done.stdout


def folder_of(text: str) -> Path | None:
    """Return the folder of the module that a JSON of functions describes; None if installed."""
    file = json.loads(text)["file"]
    if file is None:
        return None
    path = Path(file).resolve()
    # A package stands next to its tools, as a module does.
    folder = path.parents[1] if path.name == "__init__.py" else path.parent
    installed = [Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "stdlib")]
    return None if any(folder.is_relative_to(place) for place in installed) else folder


def read(text: str, _name: str) -> Imported:
    """Read the JSON of a module's functions as drafts of tools that they implement."""
    report = ImportReport()
    said = json.loads(text)
    module = said["module"] if folder_of(text) is None else said["module"].rpartition(".")[2]
    report.note("", "", "no version or category in Python: 1.0.0, `general`")
    for function in said["functions"]:
        _add(function, module, report)
    if not said["functions"]:
        why = "the module has no public function of its own"
        report.reject("", f"{why}: name some after a colon, or name another module")
    return report.close()


def _add(function: Mapping[str, Any], module: str, report: ImportReport) -> None:
    name, line = function["name"], function.get("line", 0)
    if "refused" in function:
        report.reject(name, function["refused"], line)
        return
    for path, text in function["notes"]:
        report.note(name, path, text, line)
    description, described, returned = _read_docstring(function["doc"], name, report)
    fields = function["parameters"]["properties"]
    for parameter, text in described.items():
        if parameter in fields:
            fields[parameter].setdefault("description", text)
        else:
            report.note(name, parameter, f"only the docstring has this parameter: {text}", line)
    known: dict[str, Any] = {"implemented_by": f"{module}:{name}"}
    schema = function["returns"]
    if schema is not None or returned:
        schema = {**(schema or {}), **({"description": returned} if returned else {})}
        known["returns"] = read_result(schema, name, report, wrapped=False)
    entry = {"name": name, "description": description, "parameters": function["parameters"]}
    doubts = [("", text) for text in function["doubts"]]
    add_function(entry, report, line=line, policy=doubts, **known)


def _read_docstring(doc: str, name: str, report: ImportReport) -> tuple[str, dict[str, str], str]:
    """Return the description, those of the parameters, and that of the result.

    A section of a docstring that is read stands nowhere else; all others are the description.
    """
    try:
        from docstring_parser import DocstringStyle, ParseError, parse
    except ImportError:
        if doc:
            report.note("", "", f"each docstring is kept whole; to read its sections: {_REMEDY}")
        return doc, {}, ""
    text, sections = _sections(doc)
    described: dict[str, str] = {}
    results, kept = [], [text]
    found: list[Any] = []
    types = []
    for style, part in sections:
        if typed := _TYPE.match(part):
            types.append((typed[1].strip("*"), part.strip()))
            continue
        try:
            found += parse(part, DocstringStyle[style]).meta
        except ParseError as error:
            kept.append(part.strip())
            report.note(name, "", f"a section of the docstring is kept whole: {error}")
    for one in found:
        said, kind = (one.description or "").strip(), type(one).__name__
        if kind == "DocstringParam":
            names = (part.strip(" *") for part in one.arg_name.split(","))
            described |= dict.fromkeys(names, said)
        elif kind == "DocstringReturns":
            results += [f"{one.return_name}: {said}" if one.return_name and said else said]
        elif kind == "DocstringRaises":
            kept.append(f"Raises {one.type_name}: {said}" if said else f"Raises {one.type_name}.")
    # The type comes from the annotation; without a description, its text is all there is.
    kept += [part for name, part in types if name not in described]
    return "\n\n".join(filter(None, kept)), described, " ".join(filter(None, results))


_TITLE = re.compile(
    "(?:(?P<Parameters>(?:(?:Other|Keyword) )?(?:Arg(?:ument)?s|Param(?:eter)?s)|Receives?)|"
    "(?P<Returns>Returns?)|(?P<Yields>Yields?)|(?P<Raises>Raises?|Except(?:ion)?s?)):?"
)
"""The titles of the sections that are read, each in the group of its usual name."""
_FIELD = re.compile(
    "[:@](?:param(?:eter)?|arg(?:ument)?|key(?:word)?|type|returns?|rtype|yields?|raises?|"
    "except(?:ion)?)\\b"
)
_TYPE = re.compile(r"[:@]type\s+([*\w]+)\s*:")


def _sections(doc: str) -> tuple[str, list[tuple[str, str]]]:
    """Return what is not read of a docstring, and the style and text of each section that is.

    A section of Google's style ends where the text is no longer indented, one of NumPy's at the
    next title, and a field of Sphinx or Epydoc where the text goes on after an empty line.
    """
    kept: list[str] = []
    read: list[tuple[str, list[str]]] = []
    part, style = kept, ""

    def begin(found: str, first: str) -> list[str]:
        read.append((found, [first]))
        return read[-1][1]

    lines = doc.splitlines()
    for above, line, below in zip(("", *lines), lines, (*lines[1:], ""), strict=False):
        title = _TITLE.fullmatch(line.rstrip())
        if _is_underlined(line, below):
            style, part = "NUMPYDOC", kept
            if title and title.lastgroup:
                part = begin(style, f"{title.lastgroup}\n{'-' * len(title.lastgroup)}")
            else:
                part.append(f"**{line.strip()}**")
        elif _is_underlined(above, line):
            part.append("")
        elif title and title.lastgroup and title[0].endswith(":"):
            style, part = "GOOGLE", begin("GOOGLE", f"\n{title.lastgroup}:")
        elif _FIELD.match(line):
            style = "REST" if line[0] == ":" else "EPYDOC"
            part = begin(style, line)
        else:
            is_outside = style == "GOOGLE" or (style in {"REST", "EPYDOC"} and not above.strip())
            if is_outside and line[:1].strip():
                style, part = "", kept
            part.append(line)
    return "\n".join(kept).strip(), [(style, "\n".join(part)) for style, part in read]


def _is_underlined(line: str, below: str) -> bool:
    return bool(line[:1].strip() and re.fullmatch("-{3,}", below.rstrip()))
