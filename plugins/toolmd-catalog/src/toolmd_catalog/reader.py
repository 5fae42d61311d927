"""A prose catalogue to drafts: find its tools, read what holds for all, put each together."""

from toolmd._import.finish import add_tool
from toolmd._import.imported import Imported, Notebook
from toolmd._import.json_text import UnreadableSourceError
from toolmd._import.names import tool_name
from toolmd._model.code import Code
from toolmd._parse.blocks.block import Block, Fence, Part, Raw
from toolmd._parse.blocks.outline import outline
from toolmd._parse.blocks.tokens import source_lines
from toolmd._parse.document.front_matter import read_front_matter
from toolmd._parse.source.mojibake import report_mojibake
from toolmd._parse.source.page import Page
from toolmd._parse.words.keys import heading_text
from toolmd_catalog.builder import Assembly
from toolmd_catalog.defaults import World, read_world
from toolmd_catalog.layout.entries import ToolEntry, ToolHeading, ToolsFound, find
from toolmd_catalog.layout.spans import Stretch, stretches
from toolmd_catalog.parameters.code import read_code

MAX_CHARACTERS = 2_000_000
_RULE = frozenset("-*_ ")


def read(text: str, name: str) -> Imported:
    """Read a catalogue; what it says is kept, what it leaves open is told, nothing is invented."""
    if len(text) > MAX_CHARACTERS:
        many = f"{MAX_CHARACTERS:,}"
        raise UnreadableSourceError(f"{name}: over {many} characters: hand in the tools alone")
    book = Notebook()
    page = Page(name, source_lines(text))
    read_front_matter(page)
    report_mojibake(page)
    parts = outline(page)
    _tell_findings(page, book)
    tails = _tails(page, parts)
    found = find(page, parts)
    found.entries = found.entries or _from_code(parts)
    world = read_world(page, found.others or parts[:1], tails)
    for entry in _once(found.entries, book):
        own = tool_name(entry.heading.name)
        assembly = Assembly(page, entry, own, world, book)
        if own != entry.heading.name.replace("-", "_"):
            assembly.tell("", f"called {entry.heading.name!r} in the catalogue")
        spec = assembly.spec()
        if spec is not None:
            add_tool(spec, book, entry.line)
    for passed, why, line in found.passed:
        book.tell(passed, "", f"not imported: {why}", line)
    _missing(world, found, book)
    if not book.drafts and not book.refused:
        book.refuse("", "no tool was found in it: a heading or a bullet with its name, and Params")
    return book.close()


def _tell_findings(page: Page, book: Notebook) -> None:
    for diagnostic in page.diagnostics:
        line = diagnostic.span.line
        if diagnostic.code == Code.MOJIBAKE:
            book.tell("", "", f"{diagnostic.message}; nothing is read from such signs", line)
        else:
            book.tell("", "", f"{diagnostic.message}: not read", line)


def _tails(page: Page, parts: list[Part]) -> list[Block]:
    """Take what stands behind the last part's rule: it speaks of the whole catalogue."""
    last = parts[-1].blocks
    for at, block in enumerate(last):
        rule = isinstance(block, Raw) and block.mark.text and not set(block.mark.text) - _RULE
        if rule and at + 1 < len(last):
            roles = {s.role for s in stretches(page, last[at + 1 :], [])}
            if not roles & {"parameters", "returns", "example"}:
                parts[-1].blocks = last[:at]
                return last[at + 1 :]
    return []


def _once(entries: list[ToolEntry], book: Notebook) -> list[ToolEntry]:
    """Keep of two entries with one name the one that tells more."""
    kept: dict[str, ToolEntry] = {}
    for entry in entries:
        name = tool_name(entry.heading.name)
        if not name:
            book.refuse(entry.heading.name, "no name that a tool may have", entry.line)
            continue
        other = kept.get(name)
        if other is None:
            kept[name] = entry
            continue
        fuller, lesser = (
            (entry, other) if len(entry.stretches) > len(other.stretches) else (other, entry)
        )
        kept[name] = fuller
        book.tell(name, "", f"told of twice: read from line {fuller.line}", lesser.line)
    return list(kept.values())


def _from_code(parts: list[Part]) -> list[ToolEntry]:
    """Give the tools of a document that shows them in code alone."""
    entries = []
    for part in parts:
        for block in part.blocks:
            if not isinstance(block, Fence):
                continue
            code = read_code([block])
            named = [(f["name"], line) for f, line in code.functions]
            # A tutorial shows functions too; what is meant as a tool says what it does.
            named += [(s.name, s.line) for s in code.signatures if s.words and s.name[:1] != "_"]
            for name, line in named:
                stretch = Stretch("parameters", "", line, "", [block])
                entries.append(ToolEntry(ToolHeading(name), line, [stretch]))
    return entries


def _missing(world: World, found: ToolsFound, book: Notebook) -> None:
    """Tell what holds for all, and which tools are named but not imported."""
    for line in sorted({*world.lines.values()}):
        facts = [key.replace("_", " ") for key, at in world.lines.items() if at == line]
        book.tell("", "", f"said of every tool: {', '.join(facts)}", line)
    for text, line in world.unread:
        book.tell("", "", f"it names no tool, so it restricts none here: {text!r}", line)
    known = {draft.name for draft in book.drafts} | {note.definition for note in book.refused}
    if not found.entries:
        return
    for name in world.summaries.policies:
        if name not in known:
            line = world.summaries.lines.get(name, 0)
            book.tell(name, "", "in a table, but no section tells of it: not imported", line)
    for part in found.others:
        fences = [block for block in part.blocks if isinstance(block, Fence)]
        for function, line in read_code(fences).functions:
            name = tool_name(function["name"])
            if name not in known:
                under = heading_text(part.heading.text)
                book.tell(name, "", f"a schema under {under!r}: not imported", line)
