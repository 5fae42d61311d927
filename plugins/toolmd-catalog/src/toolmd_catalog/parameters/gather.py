"""The parameters of one tool, gathered from its lists, tables, signatures and examples."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from toolmd_catalog.layout.blocks import Bullets, Item, Paragraph, Table
from toolmd_catalog.layout.entries import ToolEntry
from toolmd_catalog.layout.labels import role_of
from toolmd_catalog.layout.page import Mark, Page
from toolmd_catalog.layout.spans import TextSpan
from toolmd_catalog.parameters.code import read_signature
from toolmd_catalog.parameters.fields import read_below, read_table
from toolmd_catalog.parameters.lines import is_note, read_line, read_listed, says_none
from toolmd_catalog.parameters.needs import in_code, settle
from toolmd_catalog.phrases.clauses import read_clause
from toolmd_catalog.phrases.found import ParameterFound, Relation
from toolmd_catalog.phrases.shapes import alternatives
from toolmd_catalog.words import bare, clean

_COMPARED = re.compile(
    r"`?(?P<one>[A-Za-z][\w ]*?)`? (?:must|should|has to) be (?P<rest>.+)", re.IGNORECASE
)
_ONE_OF = re.compile(
    r"(?P<how>exactly one|at least one|either|one) of (?P<list>.+?)"
    r"(?: (?:is|are|must be|should be) (?:required|given|provided|set|present).*|\.|$)",
    re.IGNORECASE,
)

_LISTED = "parameters"
"""The role of a label above parameters."""


@dataclass(slots=True)
class Gathered:
    """The parameters of a tool, as far as they are read."""

    found: dict[str, ParameterFound] = field(default_factory=dict)
    none_said: bool = False
    """Whether the text says that there are none."""
    listed: bool = False
    """Whether the text lists them anywhere."""
    choices: list[tuple[list[list[str]], str]] = field(default_factory=list)
    """Sets of parameters of which one must be given, and how the text says so."""
    unread: list[tuple[str, int]] = field(default_factory=list)
    """Lines in the place of parameters that none could be read from."""
    need: bool | None = None
    """What the label above says of each: `Optional inputs:`."""

    def settle(self, found: list[ParameterFound], *, code: bool = False) -> None:
        """Decide the need of each parameter, and put them in."""
        for one in found:
            one.need = self.need if one.need is None else one.need
        settle(found, code=code)
        self.add(found)

    def add(self, found: list[ParameterFound]) -> None:
        """Put parameters in, joining what several places say of one."""
        for one in found:
            if one.name in self.found:
                self.found[one.name].take(one)
            else:
                self.found[one.name] = one


def gather(page: Page, entry: ToolEntry, examples: list[dict[str, Any]]) -> Gathered:
    """Read every span of a tool that describes parameters."""
    gathered = Gathered()
    keys = {key for arguments in examples for key in arguments}
    for span in entry.of(_LISTED):
        gathered.listed = True
        read_span(page, span, gathered, keys)
    inside = entry.heading.signature
    keys |= {one.name for one in read_signature(inside.partition(" -> ")[0], entry.line)}
    gathered.none_said = gathered.none_said or (bool(inside) and not inside.strip())
    if not gathered.listed:
        for span in entry.of(""):
            _unlabelled(page, span, gathered, keys)
    return gathered


def read_span(page: Page, span: TextSpan, gathered: Gathered, keys: set[str]) -> None:
    """Read one span of parameters: text behind its label, lists and tables below it."""
    any_of = "at least one" in span.label.lower()
    gathered.need = False if any_of else _need_of(span.label)
    before = list(gathered.found)
    blocks = span.blocks
    if span.text:
        _text(span.text, span.line, gathered, keys)
        added = [one for name, one in gathered.found.items() if name not in before]
        if len(added) == 1 and added[0].said.get("types") in {("array",), ("object",)}:
            # `Input: `rows` (array of objects)`: what stands below are the fields of each.
            read_below(added[0], Item(Mark("", span.line), span.line, 0, span.blocks))
            blocks = []
    for block in blocks:
        if isinstance(block, Bullets):
            _list(page, block, gathered, keys)
        elif isinstance(block, Table):
            gathered.settle(read_table(page, block))
        elif isinstance(block, Paragraph):
            for number, line in enumerate(block.mark.text.split("\n"), block.mark.line):
                _text(line, number, gathered, keys)
    gathered.need = None
    if any_of and (names := [name for name in gathered.found if name not in before]):
        gathered.choices.append(([[name] for name in names], "at least one"))


def _need_of(label: str) -> bool | None:
    folded = label.lower()
    if "optional" in folded:
        return False
    return True if "required" in folded else None


def _text(text: str, line: int, gathered: Gathered, keys: set[str]) -> None:
    if says_none(text):
        gathered.none_said = True
        return
    if shapes := alternatives(clean(text)):
        _several(shapes, line, gathered)
        return
    if _sentence(text, line, gathered):
        return
    single = read_line(text, line)
    listed = read_listed(text, line)
    if single is not None and len(listed) < 2 and not clean(text).startswith("{"):  # noqa: PLR2004
        listed = [single]
    kept = [one for one in listed if _believed(one, keys)]
    for one in kept:
        if clean(text).lstrip("`").startswith("{"):
            one.marked = True
    gathered.settle(kept, code=clean(text).lstrip("`").startswith("{"))
    if not kept:
        gathered.unread.append((text, line))


def _several(shapes: list[str], line: int, gathered: Gathered) -> None:
    """Read `{a} or {b}`: what not all shapes have is optional, and a rule says which to give."""
    read = [read_listed(shape, line) for shape in shapes]
    names = [[one.name for one in shape] for shape in read]
    common = set(names[0]).intersection(*names[1:])
    apart = []
    for shape in read:
        settle(shape, code=True)
        apart.append([one.name for one in shape if one.name not in common and one.need])
        for one in shape:
            if one.name not in common:
                one.need = False
        gathered.add(shape)
    if all(apart):
        gathered.choices.append((apart, "exactly one"))


def _list(page: Page, block: Bullets, gathered: Gathered, keys: set[str]) -> None:
    found: list[ParameterFound] = []
    lines: list[str] = []
    labels: list[Item] = []
    for item in block.items:
        text = " ".join(item.mark.text.split())
        if says_none(text):
            gathered.none_said = True
            continue
        if shapes := alternatives(clean(text)):
            _several(shapes, item.line, gathered)
            continue
        if _is_label(text, item):
            labels.append(item)
            continue
        one = read_line(text, item.line)
        if one is not None and _garbled(page, one):
            one.said["types"] = ()
            one.guesses.append("its line is garbled: nothing of it is read but the name")
        elif one is None or not _believed(one, keys):
            if _sentence(text, item.line, gathered):
                continue
            listed = [f for f in read_listed(text, item.line) if f.marked and _braced(text)]
            if not listed:
                gathered.unread.append((text, item.line))
            gathered.add(listed)
            continue
        read_below(one, item)
        found.append(one)
        lines.append(text)
    gathered.settle(found, code=in_code(found, lines))
    for label in labels:
        _below_label(page, label, gathered, keys)


def _is_label(text: str, item: Item) -> bool:
    """Return whether parameters stand below a bullet: `Additional parameters by method:`."""
    words = clean(text).rstrip()
    return words.endswith(":") and " " in words and bool(item.items) and role_of(words) == _LISTED


def _below_label(page: Page, item: Item, gathered: Gathered, keys: set[str]) -> None:
    """Read the parameters below a label within a list; only some calls need them."""
    outer, gathered.need = gathered.need, _need_of(item.mark.text) or False
    for block in item.blocks:
        if isinstance(block, Bullets):
            _list(page, block, gathered, keys)
    gathered.need = outer


def _braced(text: str) -> bool:
    return clean(text).lstrip("`").startswith("{")


def _sentence(text: str, line: int, gathered: Gathered) -> bool:
    """Read `End must be after start` and `Exactly one of a or b is required`."""
    plain = clean(text).rstrip(".")
    choice = _ONE_OF.search(plain)
    if choice:
        names = [bare(n) for n in re.split(r",|\bor\b|\band\b", choice["list"]) if bare(n)]
        if len(names) > 1 and all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in names):
            how = "at least one" if choice["how"].lower() == "at least one" else "exactly one"
            gathered.choices.append(([[name] for name in names], how))
            return True
    compared = _COMPARED.fullmatch(plain)
    if compared is None:
        return False
    trial = ParameterFound("trial", line)
    if not read_clause(trial, compared["rest"]) or not trial.relations:
        return False
    name = "_".join(compared["one"].lower().split())
    target = gathered.found.get(name) or gathered.found.get(compared["one"])
    if target is None:
        return False
    target.relations += [Relation(r.sign, r.other, r.words) for r in trial.relations]
    return True


def _garbled(page: Page, one: ParameterFound) -> bool:
    """Return whether a parameter's line can't be read because of its encoding."""
    return not one.read and one.line in page.garbled


def _believed(one: ParameterFound, keys: set[str]) -> bool:
    """Return whether a line is a parameter's, and not a remark with a colon in it."""
    if is_note(one):
        return False
    if one.read or one.marked or one.name in keys:
        return True
    if keys or len(one.label.split()) > 1:
        return False
    return one.label == one.name


def _unlabelled(page: Page, span: TextSpan, gathered: Gathered, keys: set[str]) -> None:
    """Read lists and tables that stand without a label but can be nothing else."""
    for block in span.blocks:
        if isinstance(block, Paragraph) and says_none(block.mark.text):
            gathered.none_said = True
        elif isinstance(block, Table) and (found := read_table(page, block)):
            gathered.listed = True
            gathered.settle(found)
        elif isinstance(block, Bullets):
            _mixed(page, block, gathered, keys)


def _mixed(page: Page, block: Bullets, gathered: Gathered, keys: set[str]) -> None:
    """Read the bullets that have a type; the others are kept as prose and drop nothing."""
    texts = [" ".join(item.mark.text.split()) for item in block.items]
    lines = [read_line(text, item.line) for text, item in zip(texts, block.items, strict=True)]
    typed = [
        one is not None
        and ("types" in one.said or one.name in keys)
        and not (is_note(one) or (not one.marked and role_of(one.label) == _LISTED))
        for one in lines
    ]
    if not any(typed):
        gathered.none_said = gathered.none_said or any(map(says_none, texts))
        return
    gathered.listed = True
    pairs = list(zip(block.items, texts, typed, strict=True))
    _list(page, replace(block, items=[item for item, _, kept in pairs if kept]), gathered, keys)
    gathered.unread += [(text, item.line) for item, text, kept in pairs if not kept]
