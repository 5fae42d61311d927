"""Import Python functions: their signatures, annotations and docstrings."""

import json
import re
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolmd._import.functions import add_function, returned_shape
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
    description, described, returned = _documented(function["doc"], name, report)
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
        known["returns"] = returned_shape(schema, name, report, wrapped=False)
    entry = {"name": name, "description": description, "parameters": function["parameters"]}
    doubts = [("", text) for text in function["doubts"]]
    add_function(entry, report, line=line, policy=doubts, **known)


def _documented(doc: str, name: str, report: ImportReport) -> tuple[str, dict[str, str], str]:
    """Return the description, those of the parameters, and that of the result."""
    try:
        from docstring_parser import ParseError, parse
    except ImportError:
        if doc:
            report.note("", "", f"each docstring is kept whole; to read its sections: {_REMEDY}")
        return doc, {}, ""
    try:
        parsed = parse(doc)
    except ParseError:
        report.note(name, "", "the docstring's sections can't be read: it is kept whole")
        return doc, {}, ""
    described = {one.arg_name.lstrip("*"): one.description or "" for one in parsed.params}
    returned = (parsed.returns.description if parsed.returns else "") or ""
    raised = [
        f"Raises {one.type_name}: {one.description}" for one in parsed.raises if one.description
    ]
    kept = [parsed.short_description, parsed.long_description, *raised]
    text = "\n\n".join(part for part in kept if part)
    lost = _words(doc) - _words(" ".join([text, returned, *described, *described.values()]))
    if lost - _words(" ".join(str(one.args) for one in parsed.meta)):
        # A section that the parser does not know: nothing of it may be lost.
        return doc, described, returned
    return text, described, returned


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.lower())) - _SECTIONS


_SECTIONS = frozenset(
    "args arguments params param parameters returns return raises type rtype optional".split()
)
