"""The Workflow section: turn numbered items into steps, and report keys that can't be read."""

from dataclasses import dataclass
from typing import Any

from toolmd._parse.blocks import (
    Block,
    Bullets,
    Comment,
    Node,
    Paragraph,
    Part,
    mark_of,
    prose,
    with_headings,
)
from toolmd._parse.fields.entries import with_repeated
from toolmd._parse.fields.table import ACTIONS, KEY_BY_FOLD, step_key
from toolmd._parse.page import Mark, Page
from toolmd._parse.steps.values import READERS
from toolmd._parse.unread import report_key, report_pair, report_steps
from toolmd._parse.words import (
    DASHES,
    flow,
    fold,
    heading_text,
    plain,
    split,
    without_invisible,
)
from toolmd._types.code import Code
from toolmd._types.skill import STEP_KEYS, Step, WorkflowSection

_ALONE = {"return", "stop"}
_MAX_STEPS = 100


def read_workflow(
    page: Page, blocks: list[Block], parts: list[Part]
) -> tuple[str, list[WorkflowSection]]:
    """Return the prose of a workflow and its sections of steps, the unnamed one first."""
    acts = workflow_acts(blocks, parts)
    main, rest = _steps(page, blocks, "", acts=acts)
    sections = [WorkflowSection(name="", steps=tuple(main))] if main else []
    words = [prose(rest)]
    for part in parts:
        name = heading_text(part.heading.text)
        steps, rest = _steps(page, part.blocks, name, acts=acts)
        if steps:
            page.named("section", name, part.heading, declares=True)
            sections.append(WorkflowSection(name=name, steps=tuple(steps), line=part.heading.line))
            if prose(rest):
                words.append(with_headings([Part(part.level, part.heading, rest)], part.level))
        else:
            words.append(with_headings([part], part.level))
    if sum(len(s.steps) for s in sections) > _MAX_STEPS:
        what = f"more than {_MAX_STEPS} steps"
        help_ = "split the skill in two, and list one as a Required Skill of the other"
        page.error(Code.TOO_MANY, Mark("", sections[0].steps[0].line, 1), what, help_)
    return "\n\n".join(word for word in words if word), sections


def _steps(
    page: Page, blocks: list[Block], section: str, *, acts: bool
) -> tuple[list[Step], list[Block]]:
    steps: list[Step] = []
    rest: list[Block] = []
    for block in blocks:
        if isinstance(block, Bullets) and block.ordered:
            for item in block.items:
                number = len(steps) + 1
                identity = f"{section}/{number}" if section else str(number)
                steps.append(_Reader(page, item, identity, acts).read())
        else:
            rest.append(block)
    report_steps(page, rest, acts=acts)
    return steps, rest


def workflow_acts(blocks: list[Block], parts: list[Part]) -> bool:
    """Return whether any numbered step has an action; without one, the workflow is only prose."""
    items = [i for b in [*blocks, *(b for p in parts for b in p.blocks)]
             if isinstance(b, Bullets) and b.ordered for i in b.items]  # fmt: skip
    marks = [one.mark for item in items for one in (item, *item.items)]
    bullets = [i for b in blocks if isinstance(b, Bullets) and not b.ordered for i in b.items]
    below = [one for item in bullets for one in item.items if one.keyed]
    if any(fold(one.name) == "use" and one.text.isidentifier() for one in below):
        return True  # steps, but not numbered
    return any(KEY_BY_FOLD.get(fold(_lead(mark).text)) in ACTIONS for mark in marks)


def _lead(mark: Mark) -> Mark:
    """Return the words that may be a key: before the colon, in bold at the start, or all."""
    pair = split(mark)
    end = mark.text.find("**", 2) if mark.text.startswith("**") else -1
    return pair.key if pair else mark.at(2, end - 2) if end > 0 else mark


@dataclass(slots=True)
class _Reader:
    """A reader of one numbered item."""

    page: Page
    item: Node
    identity: str
    acts: bool
    """Whether any step of the workflow has an action."""

    def read(self) -> Step:
        values: dict[str, Any] = {"id": self.identity, "line": self.item.mark.line}
        entries: dict[str, Node] = {}
        own = self.item.entry or self._bare()
        pair = split(self.item.mark)
        if pair is not None:
            report_pair(self.page, pair)
        key = KEY_BY_FOLD.get(fold(own.name)) if own is not None else None
        if own is not None and key is not None and _is_meant_as(key, own):
            values["title"] = key
            # The item itself is the action; what is nested below it is its value or more keys.
            more = [i for i in own.items if _is_key(i, key)]
            nested = [i for i in own.items if i not in more]
            entries[key] = Node(
                own.key, own.value, [Bullets(nested, ordered=False)] if nested else []
            )
        else:
            values["title"], values["text"] = read_title(self.item.mark)
            more = self.item.items
        reported = self._take(more, entries, values)
        lead = _lead(self.item.mark)
        alone = pair is not None or plain(lead.text) == plain(self.item.mark.text)
        unread = alone and not entries and not reported
        if self.acts and unread and _swaps(lead.text):
            report_key(self.page, lead)
        below = [_below(each) for each in (self.item.mark, *(e.value for e in entries.values()))]
        report_steps(self.page, below, acts=self.acts)
        self._one_action(entries)
        for key, entry in entries.items():
            self._nothing_unread(key, entry)
        for key, row in STEP_KEYS.items():
            if (read := entries.get(key)) is not None:
                value = READERS[row.kind].read(self.page, read, values.get(row.attribute))
                values |= value if isinstance(value, dict) else {row.attribute: value}
        values["places"] = {key: entry.written.place for key, entry in entries.items()}
        return Step(**values)

    def _bare(self) -> Node | None:
        """Read `**Return**` and `**Stop**`, which may have no text after them."""
        mark = self.item.mark
        key = fold(plain(mark.text))
        below = (entry.name for item in self.item.items if (entry := item.entry))
        if not mark.text.startswith(("**", "__")) or key not in _ALONE or key in map(fold, below):
            return None
        return Node(mark, mark._replace(text=""), self.item.blocks)

    def _nothing_unread(self, key: str, entry: Node) -> None:
        """Report blocks below a key that accepts none."""
        takes = (Comment, *READERS[STEP_KEYS[key].kind].takes)
        unread = next((b for b in entry.blocks if not isinstance(b, takes)), None)
        if unread is not None:
            what = f"'{key}' accepts nothing below it, so this would be lost"
            help_ = "arguments go below `- **With**:`" if key == "Use" else "remove it"
            self.page.error(Code.INVALID_STEP, mark_of(unread), what, help_)

    def _take(self, items: list[Node], entries: dict[str, Node], values: dict[str, Any]) -> bool:
        """Read the bullets that are keys; return whether any other bullet was reported."""
        reported = False
        left: list[Node] = []
        for item in items:
            entry = item.entry or _bare_key(item)
            key = KEY_BY_FOLD.get(fold(entry.name)) if entry else None
            if entry is None or key is None:
                if self._is_meant(item):
                    report_key(self.page, _lead(item.mark))
                    reported = True
                else:
                    left.append(item)
            elif key in entries and STEP_KEYS[key].kind == "escalations":
                entries[key] = with_repeated(entries[key], entry)
            elif key in entries:
                what = f"'{key}' is written twice in this step"
                help_ = "make two steps, or keep one"
                self.page.error(Code.DUPLICATE_FIELD, entry.key, what, help_)
            else:
                entries[key] = entry
        blocks: list[Block] = [b for b in self.item.blocks if not isinstance(b, Bullets)]
        report_steps(self.page, [*blocks, Bullets(left, ordered=False)], acts=self.acts)
        if left:
            blocks.append(Bullets(left, ordered=False))
        text = "\n\n".join(t for t in (values.get("text", ""), prose(blocks)) if t)
        values["text"] = text
        return reported

    def _is_meant(self, item: Node) -> bool:
        """Return whether a bullet directly below a step is written as a key."""
        pair, lead = split(item.mark), _lead(item.mark)
        few = self.acts and len(plain(lead.text).split()) <= 3 and lead.text[:1].isalpha()  # noqa: PLR2004
        is_key = pair is not None and (
            pair.marked or (few and not pair.value.text.startswith("//"))
        )
        return is_key or step_key(lead.text) is not None

    def _one_action(self, entries: dict[str, Node]) -> None:
        actions = [key for key in ACTIONS if key in entries and key != "Wait"]
        if len(actions) > 1 and set(actions) != {"Use", "Ask"}:
            second = entries[actions[1]]
            what = f"this step has {' and '.join(actions)}; a step has one action"
            self.page.error(Code.TWO_ACTIONS, second.key, what, "make two steps")
        for key, row in STEP_KEYS.items():
            needs = row.needs
            if key in entries and needs and not set(needs) & set(entries):
                what = f"'{key}' needs {' or '.join(needs)} in the same step"
                help_ = f"add `- **{needs[0]}**: …`, or remove '{key}'"
                self.page.error(Code.INVALID_STEP, entries[key].key, what, help_)


def _is_meant_as(key: str, own: Node) -> bool:
    """Return whether a step that begins with a key is more than its title: `**Check**: the oil`."""
    return STEP_KEYS[key].kind != "condition" or bool(own.blocks) or "`" in own.text


def _is_key(item: Node, action: str) -> bool:
    """Return whether a bullet below an action is a key; below Return, `- when: …` is a value."""
    entry = item.entry or _bare_key(item)
    if entry is None or fold(entry.name) not in KEY_BY_FOLD:
        return False
    marked = item.mark.text.lstrip().startswith(("*", "_"))
    return action != "Return" or ((marked or bool(entry.text)) and entry.name[:1].isupper())


def _swaps(lead: str) -> bool:
    """Return whether a lead is an action, or one with its letters swapped: `Aks`."""
    return any(sorted(fold(lead)) == sorted(fold(action)) for action in ACTIONS)


def _below(mark: Mark) -> Paragraph:
    """Return the lines of a text below its first one."""
    return Paragraph(Mark(mark.text.partition("\n")[2], mark.line + 1, 1))


def _bare_key(item: Node) -> Node | None:
    """Read `- With` with bullets below it, or `- **Return**`: a key without its colon."""
    if fold(plain(item.mark.text)) in KEY_BY_FOLD and (
        item.items or item.mark.text.startswith(("**", "__"))
    ):
        return item
    return None


def read_title(mark: Mark) -> tuple[str, str]:
    """Split a step's text: its bold words, or else its first sentence, are the title."""
    text = flow(mark.text)
    pair = split(Mark(text, mark.line, mark.column))
    if pair is not None:
        return plain(pair.key.text), pair.value.text
    for wrapper in ("**", "__"):
        end = text.find(wrapper, 2)
        if text.startswith(wrapper) and end > 0:
            # A comma belongs to the sentence; a dash or a full stop only separates it.
            rest = text[end + 2 :].lstrip(" ." + DASHES)
            return plain(text[2:end]).rstrip(":.,"), rest
    head, stop, tail = text.partition(". ")
    return without_invisible(head), tail if stop else ""
