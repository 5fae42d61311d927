"""Find the parameters of a section, and bring each way to write one into a draft."""

import re
from collections.abc import Sequence

from toolmd._parse.blocks import Block, Bullets, Comment, Node, Paragraph, Part, Table, mark_of
from toolmd._parse.fields.entries import item_entries, lines_as_entries, table_entries
from toolmd._parse.fields.table import PARAMETER, UNSUPPORTED, near_field
from toolmd._parse.page import Mark, Page
from toolmd._parse.parameters.signature import Draft, read_signature
from toolmd._parse.parameters.types import is_type
from toolmd._parse.unread import report_pair
from toolmd._parse.words import DASHES, Pair, flow, fold, plain, says_none, section_title, split
from toolmd._types.code import Code

_SCALARS = frozenset(("string", "integer", "number", "boolean"))
_GROUP = re.compile(r"(required|optional)(parameters|params|arguments|args|inputs|fields)?")
_COLUMNS = {
    word: column
    for column, words in {
        "Name": "name parameter param field argument arg property key input variable",
        "Type": "type datatype schema kind",
        "Required": "required req mandatory need needed requiredoptional",
        "Description": "description desc details meaning purpose explanation notes note",
    }.items()
    for word in words.split()
}


def read_drafts(page: Page, blocks: Sequence[Block], parts: list[Part]) -> Draft:
    """Find the parameters of a section in its blocks and below its headings; keep its prose."""
    read = Draft(Mark("", 1, 1))
    for block in _with_bold_lines(blocks):
        match block:
            case Comment():
                pass
            case Table() if (columns := columns_of(block)) is not None:
                read.drafts += from_table(page, block, columns)
            case Bullets():
                left = [item for item in block.items if not _parameter(page, item, read)]
                read.prose += [Bullets(left, block.ordered)] if left else []
            case Paragraph() if says_none(block.mark.text):
                read.is_empty = True
            case Paragraph() if report_group(page, block.mark):
                pass
            case _:
                read.prose.append(block)
    for item in headings(page, parts):
        if not (report_group(page, item.mark, item) or _report_restriction(page, item)):
            draft = from_item(page, item)
            read.drafts += [draft, *draft.siblings]
    return read


def headings(page: Page, parts: list[Part]) -> list[Node]:
    """Return headings as bullets; a deeper heading is nested in the one above."""
    top = Node.bullet(Mark("", 1, 1))
    stack: list[tuple[int, Node]] = [(0, top)]
    for part in parts:
        item = Node.bullet(page.mark(section_title(part.heading.text), part.heading.line))
        item.blocks, item.headed = [*part.blocks], True
        while stack[-1][0] >= part.level:
            stack.pop()
        stack[-1][1].blocks.append(Bullets([item], ordered=False))
        stack.append((part.level, item))
    return top.items


def report_group(page: Page, mark: Mark, item: Node | None = None) -> bool:
    """Report a title above several parameters, such as `Required parameters:`."""
    found = _GROUP.fullmatch(fold(mark.text))
    if found is None or (item is not None and any(map(_is_field, item.items))):
        return False
    what = f"'{mark.text.strip('*_: ')}' is a group, and parameters are not read in groups"
    flag = "true" if found[1] == "required" else "false"
    help_ = f"write `- **Required**: {flag}` or `({found[1]})` at each of its parameters"
    page.error(Code.INVALID_NAME, mark, what, help_)
    return True


def _report_restriction(page: Page, item: Node) -> bool:
    """Report a heading over one paragraph that would restrict a call."""
    below = [block for block in item.blocks if not isinstance(block, Comment)]
    if len(below) > 1 or not all(isinstance(block, Paragraph) for block in below):
        return False
    yes = item.mark._replace(text="yes")
    values = [*map(mark_of, below), *([yes] if " " in item.mark.text or not below else [])]
    return any(report_pair(page, Pair(item.mark, value, marked=False)) for value in values)


def _report_headed(page: Page, draft: Draft, item: Node) -> bool:
    """Report a heading below a parameter that is no parameter: a field is a bullet."""
    pair = split(item.mark)
    name = pair.key.text if pair else item.mark.text
    known = PARAMETER.field(name) or PARAMETER.field(near_field(name) or "")
    below = {row.attribute for one in item.items if (row := PARAMETER.field(one.key.text))}
    only_bounds = draft.kind != "object" and below and not below & {"types", "description"}
    is_title = name[:1].isupper() or " " in name or (known is not None and known.restricts)
    unlike = only_bounds or draft.kind in _SCALARS or fold(name) in UNSUPPORTED
    if not (is_title or only_bounds) or not (known or unlike):
        return False
    of_a_value = known is not None and known.attribute in _OF_A_VALUE
    valued = pair is not None and pair.value.text and not is_type(pair.value.text)
    if any(map(_is_field, item.items)) and not (of_a_value or valued or only_bounds):
        return False  # a parameter of that name
    what = f"'{plain(name)}' is a heading, and nothing would read it as a field"
    help_ = f"write `- **{known.name if known else plain(name)}**: …` below the parameter's name"
    if only_bounds and not known:
        help_ = "write its bullets directly below the parameter's own fields, without this heading"
    page.error(Code.MISPLACED_FIELD, item.mark, what, help_)
    return True


def _with_bold_lines(blocks: Sequence[Block]) -> list[Block]:
    """Turn each line that begins with a name in bold or a code span into a bullet.

    The bullets and the description below such a line are nested in it.
    """
    found: list[Block] = []
    owner: Node | None = None
    visible = [block for block in blocks if not isinstance(block, Comment)]
    for at, block in enumerate(visible):
        if isinstance(block, Bullets) and owner is not None and _all_fields(block):
            owner.blocks.append(block)
            owner = None
        elif isinstance(block, Paragraph) and not says_none(block.mark.text):
            below = next((b for b in visible[at + 1 : at + 3] if not _is_plain(b)), None)
            items = _bold_items(block, fields_below=_all_fields(below))
            if owner is not None and not items and _all_fields(below):
                owner.blocks.append(block)
                continue
            found.append(Bullets(items, ordered=False) if items else block)
            owner = items[-1] if items else None
        else:
            found.append(block)
            owner = None
    return found


def _is_plain(block: Block) -> bool:
    return isinstance(block, Paragraph) and not _bold_items(block, fields_below=True)


def _bold_items(block: Paragraph, *, fields_below: bool) -> list[Node]:
    items: list[Node] = []
    for number, text in enumerate(block.mark.text.split("\n")):
        mark = Mark(text.strip(), block.mark.line + number, block.mark.column)
        if _begins(mark, fields_below=fields_below):
            items.append(Node.bullet(mark))
        elif items:
            items[-1].blocks.append(Paragraph(mark))
        else:
            return []
    return items


def _begins(mark: Mark, *, fields_below: bool) -> bool:
    line = read_signature(mark) if mark.text.startswith(("**", "__", "`")) else None
    if line is None or not line.marked:
        return False
    return line.typed or line.separated or (fields_below and not line.entries)


def _all_fields(block: Block | None) -> bool:
    return isinstance(block, Bullets) and all(map(_is_field, block.items))


def _is_field(item: Node) -> bool:
    entry = item.entry
    return entry is not None and PARAMETER.field(entry.key.text) is not None


def _parameter(page: Page, item: Node, read: Draft) -> bool:
    """Read a bullet as a parameter; return whether it is one, or was reported."""
    line = read_signature(item.mark)
    if says_none(item.mark.text) and not item.blocks:
        read.is_empty = True
        return True
    if report_group(page, item.mark, item) or is_stray(page, item, line):
        return True
    if line is None:
        return False
    alone = line.name.text == item.mark.text.strip().rstrip("?:")
    named = (line.separated and line.entries) or alone
    if (
        line.typed
        or line.marked
        or any(map(_is_field, item.items))
        or (named and not line.name.text[0].isupper())
    ):
        read.drafts.append(from_item(page, item))
        return True
    return False


def is_stray(page: Page, item: Node, line: Draft | None) -> bool:
    """Report a restriction among names, `- Requires Confirmation: yes`, unless it has a type."""
    pair = split(item.mark)
    if pair is None or (line is not None and line.typed) or item.items:
        return False
    return report_pair(page, pair)


def from_item(page: Page, item: Node, line: Draft | None = None) -> Draft:
    """Read a bullet or a heading that names a parameter, and what is nested below it."""
    text = item.mark.text
    line = line or read_signature(item.mark)
    if item.headed and line is not None:
        has_details = line.typed or line.separated or line.flagged
        if line.name.text != text.rstrip("?* \\") and not has_details:
            line = None
    draft = line or Draft(item.mark)
    fill(page, draft, item.blocks, headed=item.headed)
    return draft


def fill(page: Page, draft: Draft, blocks: Sequence[Block], *, headed: bool = True) -> None:
    """Read the fields and the properties below a parameter."""
    for block in blocks:
        match block:
            case Bullets():
                left = [item for item in block.items if not _take(page, draft, item)]
                draft.prose += [Bullets(left, block.ordered)] if left else []
            case Table() if (rows := table_entries(block, PARAMETER)) is not None:
                draft.entries += rows
            case Table() if (columns := columns_of(block)) is not None:
                draft.drafts += from_table(page, block, columns)
            case Paragraph() if lines := lines_as_entries(page, block.mark, PARAMETER):
                draft.entries += lines
            case Paragraph() if not draft.entries and _is_type_alone(block.mark.text):
                draft.entries.append(Node(block.mark._replace(text="Type"), block.mark))
            case Paragraph() if block.mark.text.strip("*_: ") in {"Properties", "Fields"}:
                pass  # a label above nested fields
            case Paragraph() if not headed and not draft.prose:
                _describe(draft, block)
            case Comment():
                pass
            case _:
                draft.prose.append(block)


def _describe(draft: Draft, block: Paragraph) -> None:
    """Continue the description that stands next to a name in bold."""
    description = next((e for e in draft.entries if e.key.text == "Description"), None)
    if description is None:
        draft.prose.append(block)
    else:
        description.value = description.value._replace(
            text=f"{description.value.text}\n{block.mark.text}"
        )


def _is_type_alone(text: str) -> bool:
    return text.startswith("`") and text.endswith(("`", "[]")) and is_type(text)


def _take(page: Page, draft: Draft, item: Node) -> bool:
    """Read a bullet or a heading as a field or as a property; return whether it is one."""
    if item.headed:
        if not (_report_headed(page, draft, item) or _report_restriction(page, item)):
            below = from_item(page, item)
            beside = draft.siblings if draft.kind in _SCALARS else draft.drafts
            beside += [below, *below.siblings]
        return True
    entry = item.entry
    if entry is not None and (known := PARAMETER.field(entry.key.text)):
        lines = item_entries(page, item, PARAMETER)
        lines[0].known = known
        draft.entries += lines
        return True
    words = plain(item.mark.text)
    if entry is None and PARAMETER.field(words):
        draft.entries.append(item)
        return True
    line = read_signature(item.mark)
    typed = line is not None and line.typed and not (entry and near_field(entry.key.text))
    if line is not None and (typed or any(map(_is_field, item.items))):
        draft.drafts.append(from_item(page, item, line))
    elif entry is not None:
        draft.entries.append(entry)
    else:
        return _report_broken(page, item)
    return True


_LEAD = re.compile(rf"[^:;={re.escape(DASHES)}]{{1,40}}(?=[:;=]| [{re.escape(DASHES)}])")
_BOLD = re.compile(r"[*_`]+([^*_`]+)")


def _report_broken(page: Page, item: Node) -> bool:
    """Report a bullet such as `- **Sensitive** true`: a field's name, but no `key: value`."""
    text = item.mark.text
    if not text:
        return any(_report_broken(page, below) for below in item.items)
    found = [match[0] for match in (_LEAD.match(text),) if match]
    if text[:1] in "*_`#":
        found += [match[1] for match in (_BOLD.match(text),) if match]
    fields = (PARAMETER.field(name) or PARAMETER.field(near_field(name) or "") for name in found)
    known = next(filter(None, fields), None)
    if known is None:
        return False
    what = f"'{plain(text)[:40]}' is not read as a field, so it restricts nothing"
    page.error(Code.UNREADABLE_VALUE, item.mark, what, f"write `- **{known.name}**: …`")
    return True


_OF_A_VALUE = frozenset(("items", "values", "properties", "one_of"))


def columns_of(table: Table) -> list[str] | None:
    """Return the field of each column of a table; None if no column is a name."""
    columns = []
    for cell in table.head:
        title = plain(cell.text)
        known = PARAMETER.field(title)
        columns.append(_COLUMNS.get(fold(title)) or (known.name if known else title))
    if "Name" not in columns and {"Type", "Description"} & set(columns[1:]):
        columns[0] = "Name"
    return columns if "Name" in columns else None


def from_table(page: Page, table: Table, columns: list[str]) -> list[Draft]:
    """Read each row as a parameter."""
    drafts: list[Draft] = []
    for row in table.rows:
        name = row[columns.index("Name")]
        line = read_signature(name)
        if line is None:
            if not says_none(name.text) and any(cell.text.strip() for cell in row):
                what, help_ = "a row of parameters has no name", "write it in the first column"
                page.error(Code.INVALID_NAME, name, what, help_)
            continue
        others = [Pair(name, cell, marked=False) for cell in row if cell is not name]
        if "Type" not in columns and any(report_pair(page, pair) for pair in others):
            continue
        drafts.append(line)
        for title, cell in zip(columns, row, strict=False):
            if title != "Name" and flow(cell.text) not in {"", *DASHES}:
                line.entries.append(Node(cell._replace(text=title), cell))
        for cell in row[len(columns) :]:
            what = "this row has more cells than the table's header; this cell is not read"
            help_ = "write `\\|` for a bar within a cell, or add a column header"
            page.error(Code.UNREAD_LINE, cell, what, help_)
    return drafts
