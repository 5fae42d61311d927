"""The invariants of the parser and the formatter for any bytes."""

import json
import re
from zlib import crc32

from fuzz_seeds import RESTRICTING

from toolmd._parse import decode, format_text, parse_skill, parse_tool
from toolmd._types.diagnostic import Diagnostic

WORD = "zqxv"
"""A word that is in no message."""
SHAPES = (
    "{}",
    "- {}",
    "  - {}",
    "    {}",
    "1. {}",
    "- **{}**: value",
    "  - **Key**: {}",
    "### {}",
    "## {}",
    "> {}",
    "| {} | b |",
    "[{}]: there",
    "<b>{}</b>",
    "\t{}",
)
NO = {"false", "no", "n", "off", "optional", "❌", "✖", "✗", "✘", "☐", "🔴"}
TOOL = "# T\n\nText.\n\n## Metadata\n\n- **Name**: t\n{}\n\n## Parameters\n\n### texts\n\n\
- **Type**: array\n\n## Returns\n\n- **Type**: object\n\n## {}\n\n{}\n"


def one(data: bytes) -> None:
    """Check one input; its first byte selects the kind."""
    kind, rest = (data[0] % 3 if data else 0), data[1:]
    if kind == 1:
        restriction(rest)
    else:
        definition(rest, "x.tool.md" if kind == 0 else "x.skill.md")


def definition(data: bytes, path: str) -> None:
    """Read any bytes as a file of this name."""
    text, told = decode(data, path)
    if text is None:
        assert told
        return
    spec, _ = read(text, path)
    kept(text, path)
    if spec is None:
        return
    shown = spec.hash
    formatted = format_text(text, path)
    assert formatted is not None
    again, _ = read(formatted, path)
    assert again is not None, "the formatter's text can't be read"
    assert again.hash == shown, "formatting changed the hash"
    assert format_text(formatted, path) == formatted, "formatting again changed the text"
    if "\r" not in text and "\ufeff" not in text and crc32(data) % 4 == 0:
        other, _ = read("\ufeff" + text.replace("\n", "\r\n"), path)
        assert other is not None, "line ends changed the result"
        assert other.hash == shown, "line ends changed the hash"


def read(text, path):
    """Read a text, and check the diagnostics against it."""
    parse = parse_tool if path.endswith(".tool.md") else parse_skill
    spec, diagnostics = parse(text, path)
    failed = any(d.severity == "error" for d in diagnostics)
    assert (spec is None) == failed, "expected either a spec or an error"
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for diagnostic in diagnostics:
        placed(diagnostic, lines)
    if spec is not None:
        json.dumps(spec.canonical, allow_nan=False, ensure_ascii=False).encode()
    return spec, diagnostics


def placed(diagnostic: Diagnostic, lines: list[str]) -> None:
    """Check that the places of a diagnostic and its edits are in the file."""
    span = diagnostic.span
    assert 1 <= span.line <= len(lines), diagnostic
    assert 1 <= span.column <= len(lines[span.line - 1]) + 1, diagnostic
    assert (span.line, span.column) <= (span.end_line, span.end_column), diagnostic
    str(diagnostic).encode()
    for edit in diagnostic.fix:
        assert 1 <= edit.line <= edit.end_line <= len(lines) + 1, diagnostic
        assert (edit.line, edit.column) <= (edit.end_line, edit.end_column), diagnostic
        for line, column in ((edit.line, edit.column), (edit.end_line, edit.end_column)):
            width = len(lines[line - 1]) if line <= len(lines) else 0
            assert 1 <= column <= width + 1, diagnostic


def kept(text: str, path: str) -> None:
    """Insert a line, and find it in the result."""
    if WORD in text.lower() or "\r" in text:
        return
    lines = text.split("\n")
    pick = crc32(text.encode())
    at, shape = pick % (len(lines) + 1), SHAPES[pick // 4096 % len(SHAPES)]
    lines.insert(at, shape.format(WORD))
    written = "\n".join(lines)
    spec, diagnostics = read(written, path)
    if spec is None or any(d.span.line <= at + 1 <= d.span.end_line for d in diagnostics):
        return
    said = json.dumps(spec.canonical, ensure_ascii=False) + "".join(map(str, diagnostics))
    if WORD not in said.lower():
        # A comment is not in the spec, but the formatter keeps it.
        assert WORD in (format_text(written, path) or ""), f"line {at + 1} is lost"


def restriction(data: bytes) -> None:
    """Write a restriction in an unusual form; it must be read or be an error."""
    key, _, value = data.decode(errors="replace").partition("\n")
    value = value.partition("\n")[0].strip()
    found = nearest(key)
    if found is None or not re.search(r"\w", value) or "<!--" in key + value:
        return
    section, field = found
    line = f"- **{key}**: {value}"
    text = TOOL.format("", section.name, line)
    if section.name == "Metadata":
        text = TOOL.format(line, "Notes", "None.")
    spec, _ = read(text, "x.tool.md")
    if spec is None:
        return
    holder = spec if section.name == "Metadata" else getattr(spec, section.name.lower())
    if field.attribute == "requires_patient_context":
        held = "patient" in spec.requires_context  # the older form of that field
    else:
        held = getattr(holder, field.attribute)
    if held in (None, (), False):
        words = set(re.findall(r"\w+|[^\w\s]", value.lower()))
        assert held is False, f"{line} restricts nothing"
        assert words & NO, f"{line} restricts nothing"


def nearest(key: str):
    """Return the restricting field from which a key differs by at most one letter."""
    folded = "".join(c for c in key if c.isalnum()).casefold()
    for section, field in RESTRICTING:
        name = field.attribute.replace("_", "")
        if folded == name or (abs(len(folded) - len(name)) < 2 and off_by_one(folded, name)):
            return section, field
    return None


def off_by_one(a: str, b: str) -> bool:
    """Return whether one letter was added, dropped or changed."""
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    return (
        a[start + 1 :] == b[start + 1 :]
        or a[start:] == b[start + 1 :]
        or a[start + 1 :] == b[start:]
    )
