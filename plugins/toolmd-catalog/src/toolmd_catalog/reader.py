"""Read a prose catalogue: find its tools, read the defaults, build each tool."""

from typing import Any

from toolmd import ToolmdError
from toolmd.importing import Imported, ImportReport, tool_name
from toolmd_catalog.arguments import compare_namesakes
from toolmd_catalog.builder import ToolBuilder
from toolmd_catalog.defaults import Defaults, read_defaults
from toolmd_catalog.guesses import Ask, filled, suggestions
from toolmd_catalog.layout.blocks import Block, Fence, Part, Raw
from toolmd_catalog.layout.entries import ToolEntry, ToolsFound, find, find_plain
from toolmd_catalog.layout.headings import heading_text
from toolmd_catalog.layout.markdown import outline
from toolmd_catalog.layout.page import Page, page_of
from toolmd_catalog.layout.spans import TextSpan, fences, spans
from toolmd_catalog.layout.tool_headings import ToolHeading
from toolmd_catalog.leftovers import untold
from toolmd_catalog.parameters.calls import Shown, read_calls, read_inputs
from toolmd_catalog.parameters.code import read_code
from toolmd_catalog.server import live_import, whole_numbers
from toolmd_catalog.words import clean

MAX_CHARACTERS = 2_000_000
_RULE = frozenset("-*_ ")


def read(text: str, name: str, ask: Ask | None = None) -> Imported:
    """Read a catalogue: keep what it says, note what it leaves open, invent nothing.

    With `ask`, a model adds what the text holds and the reader could not read, as marked guesses.
    """
    if len(text) > MAX_CHARACTERS:
        many = f"{MAX_CHARACTERS:,}"
        raise ToolmdError(f"{name}: over {many} characters: hand in the tools alone")
    report = ImportReport()
    page = page_of(text)
    parts = outline(page)
    for unread, line in page.notes:
        report.note("", "", unread, line)
    tails = _tails(page, parts)
    found = find(page, parts)
    found.entries += _from_code(page, [part for part in found.others if part.lists])
    if not found.entries:
        found = find_plain(page, parts)
        found.entries = found.entries or _from_code(page, parts)
    defaults = read_defaults(page, found.others or parts[:1], tails)
    defaults.whole = whole_numbers(text)
    suggested = {} if ask is None else suggestions(text, ask, report)
    for builder in _builders(page, parts, _once(found.entries, report), defaults, report):
        own, entry = builder.name, builder.entry
        if own != entry.heading.name.replace("-", "_"):
            builder.note("", f"called {entry.heading.name!r} in the catalogue")
        spec = builder.spec()
        if spec is not None:
            spec, guesses = filled(spec, builder.left_open, suggested.pop(own, []), report)
            restrictions = map(clean, builder.restrictions)
            report.add_tool(spec, entry.line, restrictions, guesses=guesses)
    for unknown in suggested:
        report.note("", "", f"the model names a tool that was not found: {unknown!r} is left out")
    for passed, why, line in found.passed:
        report.note(passed, "", f"not imported: {why}", line)
    _missing(defaults, found, report)
    if report.drafts:
        _untold(report, found, defaults)
    if command := live_import(text):
        report.note("", "", f"an MCP server has these tools: `{command}` reads them exactly")
    if not report.drafts and not report.rejected:
        report.reject(
            "", "no tool was found in it: a heading or a bullet with its name, and Params"
        )
    return report.close()


def _builders(
    page: Page,
    parts: list[Part],
    entries: list[ToolEntry],
    defaults: Defaults,
    report: ImportReport,
) -> list[ToolBuilder]:
    """Read the parameters of all tools; those without a type take it from their namesakes."""
    calls, inputs = _examples(parts, {tool_name(entry.heading.name) for entry in entries})
    builders = []
    for entry in entries:
        own = tool_name(entry.heading.name)
        shown, given = calls.get(own, {}), inputs.get(own)
        builders.append(ToolBuilder(page, entry, own, defaults, report, shown, given))
    compare_namesakes([builder.arguments for builder in builders])
    return builders


def _examples(
    parts: list[Part], tools: set[str]
) -> tuple[dict[str, Shown], dict[str, dict[str, Any]]]:
    """Return what the page's example calls name, and the inputs that it shows of each tool."""
    code = [f for part in parts for f in fences(TextSpan("", "", 0, "", part.blocks))]
    inputs: dict[str, dict[str, Any]] = {}
    for part in parts:
        inputs = read_inputs(part.blocks, tools) | inputs
    return read_calls(code, tools), inputs


def _tails(page: Page, parts: list[Part]) -> list[Block]:
    """Remove the text after the last part's rule, which describes the whole catalogue."""
    last = parts[-1].blocks
    for at, block in enumerate(last):
        rule = isinstance(block, Raw) and block.mark.text and not set(block.mark.text) - _RULE
        if rule and at + 1 < len(last):
            roles = {s.role for s in spans(page, last[at + 1 :], [])}
            if not roles & {"parameters", "returns", "example"}:
                parts[-1].blocks = last[:at]
                return last[at + 1 :]
    return []


def _once(entries: list[ToolEntry], report: ImportReport) -> list[ToolEntry]:
    """Keep, of two entries with one name, the one that says more."""
    kept: dict[str, ToolEntry] = {}
    for entry in entries:
        name = tool_name(entry.heading.name)
        if not name:
            report.reject(entry.heading.name, "no name that a tool may have", entry.line)
            continue
        other = kept.get(name)
        if other is None:
            kept[name] = entry
            continue
        fuller, lesser = sorted((other, entry), key=_fullness, reverse=True)
        kept[name] = fuller
        report.note(name, "", f"told of twice: read from line {fuller.line}", lesser.line)
    return list(kept.values())


def _fullness(entry: ToolEntry) -> tuple[bool, int]:
    """Return what orders two descriptions of one tool: parameters first, then its length."""
    return bool(entry.of("parameters") or entry.heading.signature.strip()), len(entry.spans)


def _from_code(page: Page, parts: list[Part]) -> list[ToolEntry]:
    """Return the tools that only code names: a schema, a signature, a call."""
    entries = []
    for part in parts:
        shown: list[tuple[str, int, Fence]] = []
        for block in part.blocks:
            if not isinstance(block, Fence):
                continue
            code = read_code([block])
            shown += [(f["name"], line, block) for f, line in code.functions]
            for one in code.signatures:
                # A tutorial shows functions too; what is meant as a tool says what it does.
                if (one.words or part.lists) and one.name[:1] != "_":
                    own = Fence(block.mark, block.info, one.text) if one.text else block
                    shown.append((one.name, one.line, own))
            shown += [(call.tool, call.line, block) for call in code.calls if part.lists]
        if len({name for name, _, _ in shown}) == 1 and part.level > 1:
            heading = ToolHeading(shown[0][0], words=heading_text(part.heading.text))
            entries.append(ToolEntry(heading, part.heading.line, spans(page, part.blocks, [])))
            continue
        for name, line, own in shown:
            entries.append(
                ToolEntry(ToolHeading(name), line, [TextSpan("parameters", "", line, "", [own])])
            )
    return entries


def _untold(report: ImportReport, found: ToolsFound, defaults: Defaults) -> None:
    """Note the parts of which nothing else tells."""
    notes = [*report.notes, *report.rejected]
    told = " ".join(
        [*(d.text for d in report.drafts), *(f"{n.definition} {n.text}" for n in notes)]
    )
    read = {*defaults.lines.values(), *(line for _, line in defaults.unread)}
    for text, line in untold(found.others, told, read):
        report.note("", "", text, line)


def _missing(defaults: Defaults, found: ToolsFound, report: ImportReport) -> None:
    """Note the defaults of all tools, and the tools that are named but not imported."""
    for line in sorted({*defaults.lines.values()}):
        facts = [key.replace("_", " ") for key, at in defaults.lines.items() if at == line]
        report.note("", "", f"applies to every tool: {', '.join(facts)}", line)
    for text, line in defaults.unread:
        report.note("", "", f"it names no tool, so it restricts none here: {text!r}", line)
    known = {draft.name for draft in report.drafts} | {note.definition for note in report.rejected}
    if not found.entries:
        return
    for name in defaults.summaries.policies:
        if name not in known:
            line = defaults.summaries.lines.get(name, 0)
            report.note(name, "", "in a table, but no section tells of it: not imported", line)
    for part in found.others:
        fences = [block for block in part.blocks if isinstance(block, Fence)]
        for function, line in read_code(fences).functions:
            name = tool_name(function["name"])
            if name not in known:
                under = heading_text(part.heading.text)
                report.note(name, "", f"a schema under {under!r}: not imported", line)
