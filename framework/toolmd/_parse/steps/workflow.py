"""The Workflow section: numbered items to steps, each key read or refused."""

from dataclasses import dataclass
from typing import Any

from toolmd._model.code import Code
from toolmd._model.skill import Step, WorkflowSection
from toolmd._model.source import Position
from toolmd._parse.blocks.block import Block, Bullets, Comment, Item, Paragraph, Part, mark_of
from toolmd._parse.blocks.prose import prose, with_headings
from toolmd._parse.document.strays import refuse_stray, refuse_strays
from toolmd._parse.fields.entries import Entry, bare_entry, item_entry
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.steps.keys import KEY_BY_FOLD, READERS, STEP_KEYS
from toolmd._parse.steps.templates import read_arguments
from toolmd._parse.words import scalars
from toolmd._parse.words.flow import flow
from toolmd._parse.words.keys import (
    DASHES,
    fold,
    heading_text,
    nearest,
    plain,
    split,
    without_invisible,
)

_ACTIONS = ("Use", "Choose", "Ask", "Return", "Stop")
_ALONE = {"return", "stop"}
_TAKES: dict[str, tuple[type, ...]] = {
    "With": (Bullets,),
    "Return": (Bullets,),
    "Undo": (Bullets,),
    "For each": (Bullets,),
    "Ask": (Paragraph,),
    "Stop": (Paragraph,),
}
"""What may stand below a key."""
_MAX_STEPS = 100


def read_workflow(
    page: Page, blocks: list[Block], parts: list[Part]
) -> tuple[str, list[WorkflowSection]]:
    """Give the prose of a workflow and its sections of steps, the unnamed one first."""
    main, rest = _steps(page, blocks, "")
    sections = [WorkflowSection(name="", steps=tuple(main))] if main else []
    words = [prose(rest)]
    for part in parts:
        name = heading_text(part.heading.text)
        steps, rest = _steps(page, part.blocks, name)
        if steps:
            sections.append(WorkflowSection(name=name, steps=tuple(steps), line=part.heading.line))
            if prose(rest):
                words.append(with_headings([Part(part.level, part.heading, rest)], part.level))
        else:
            words.append(with_headings([part], part.level))
    if sum(len(s.steps) for s in sections) > _MAX_STEPS:
        page.error(
            Code.TOO_MANY,
            Mark("", sections[0].steps[0].line, 1),
            f"more than {_MAX_STEPS} steps",
            "split the skill in two, and make one a Required Skill of the other",
        )
    return "\n\n".join(word for word in words if word), sections


def _steps(page: Page, blocks: list[Block], section: str) -> tuple[list[Step], list[Block]]:
    steps: list[Step] = []
    rest: list[Block] = []
    for block in blocks:
        if isinstance(block, Bullets) and block.ordered:
            for item in block.items:
                number = len(steps) + 1
                identity = f"{section}/{number}" if section else str(number)
                steps.append(_Reader(page, item, identity).read())
        else:
            rest.append(block)
    for block in rest if steps else ():
        _refuse_unnumbered(page, block)
    refuse_strays(page, rest, (), None)
    return steps, rest


def _refuse_unnumbered(page: Page, block: Block) -> None:
    """Refuse a bullet that acts, beside numbered steps: it would be passed over."""
    for item in block.items if isinstance(block, Bullets) else ():
        for pair in (split(i.mark) for i in (item, *item.items)):
            if pair is not None and pair.marked and pair.key.text in _ACTIONS:
                page.error(
                    Code.INVALID_STEP,
                    pair.key,
                    f"'{pair.key.text}' stands in no numbered step, so it would never be done",
                    "number it as the steps beside it are: `1. **Title**`",
                )
                return


@dataclass(slots=True)
class _Reader:
    """One item of the list under the finger."""

    page: Page
    item: Item
    identity: str

    def read(self) -> Step:
        said: dict[str, Any] = {"id": self.identity, "line": self.item.line}
        entries: dict[str, Entry] = {}
        own = item_entry(self.item) or self._bare()
        pair = split(self.item.mark)
        if pair is not None:
            refuse_stray(self.page, pair)
        if own is not None and fold(own.name) in KEY_BY_FOLD:
            key = KEY_BY_FOLD[fold(own.name)]
            said["title"] = key
            # The item itself is the action; what is nested below it is its value or more keys.
            nested = [i for i in own.items if not self._is_key(i)]
            more = [i for i in own.items if self._is_key(i)]
            entries[key] = Entry(
                own.key, own.value, [Bullets(nested, ordered=False)] if nested else []
            )
        else:
            said["title"], said["text"] = _title(self.item.mark)
            more = self.item.items
        self._take(more, entries, said)
        self._one_action(entries)
        for key, entry in entries.items():
            self._nothing_unread(key, entry)
        for key, entry in entries.items():
            if (reader := READERS.get(key)) is not None:
                said |= reader(self.page, entry)
        self._join(entries, said)
        said["places"] = {key: _place(entry) for key, entry in entries.items()}
        return Step(**said)

    def _bare(self) -> Entry | None:
        """Read `**Return**` and `**Stop**`, which need no words behind them."""
        mark = self.item.mark
        key = fold(plain(mark.text))
        below = (entry.name for item in self.item.items if (entry := item_entry(item)))
        if not mark.text.startswith(("**", "__")) or key not in _ALONE or key in map(fold, below):
            return None
        return Entry(mark, mark._replace(text=""), self.item.blocks)

    def _nothing_unread(self, key: str, entry: Entry) -> None:
        """Refuse what stands below a key that takes nothing there."""
        takes = _TAKES.get(key, ())
        unread = next((b for b in entry.blocks if not isinstance(b, (Comment, *takes))), None)
        if unread is not None:
            self.page.error(
                Code.INVALID_STEP,
                mark_of(unread),
                f"'{key}' takes nothing below it, so this would be lost",
                "arguments go below `- **With**:`" if key == "Use" else "take it away",
            )

    def _is_key(self, item: Item) -> bool:
        entry = item_entry(item)
        return (
            entry is not None
            and fold(entry.name) in KEY_BY_FOLD
            and (item.mark.text.lstrip().startswith(("*", "_")) or bool(entry.text))
            and entry.name[:1].isupper()
        )

    def _take(self, items: list[Item], entries: dict[str, Entry], said: dict[str, Any]) -> None:
        keyed = [item_entry(i) or _bare_key(i) for i in items]
        acts = any(e is not None and fold(e.name) in KEY_BY_FOLD for e in keyed) or bool(entries)
        left: list[Item] = []
        for item, entry in zip(items, keyed, strict=True):
            key = KEY_BY_FOLD.get(fold(entry.name)) if entry else None
            if entry is None or key is None:
                if entry is not None and self._refused(entry, acts=acts):
                    continue
                left.append(item)
            elif key in entries:
                self.page.error(
                    Code.DUPLICATE_FIELD,
                    entry.key,
                    f"'{key}' stands twice in this step",
                    "make two steps, or keep one",
                )
            else:
                entries[key] = entry
        blocks: list[Block] = [b for b in self.item.blocks if not isinstance(b, Bullets)]
        if left:
            blocks.append(Bullets(left, ordered=False))
        text = "\n\n".join(t for t in (said.get("text", ""), prose(blocks)) if t)
        said["text"] = text

    def _refused(self, entry: Entry, *, acts: bool) -> bool:
        """Whether `key: value` is a slip in a step that acts, and not a sentence."""
        near = nearest(entry.name, STEP_KEYS)
        words = len(entry.name.split())
        marked = (
            self.page.lines[entry.key.line - 1][: entry.key.column - 1]
            .rstrip()
            .endswith(("*", "_"))
        )
        if near is None and not (acts and (marked or words == 1)):
            return False
        mark = self.page.mark(entry.name, entry.key.line, entry.key.column)
        self.page.error(
            Code.UNKNOWN_STEP_KEY,
            mark,
            f"a step has no key '{entry.name}'",
            f"did you mean '{near}'?" if near else f"a step has {', '.join(STEP_KEYS)}",
            replace(mark, near) if near else (),
        )
        return True

    def _one_action(self, entries: dict[str, Entry]) -> None:
        actions = [key for key in _ACTIONS if key in entries]
        if len(actions) > 1 and set(actions) != {"Use", "Ask"}:
            second = entries[actions[1]]
            self.page.error(
                Code.TWO_ACTIONS,
                second.key,
                f"this step does {' and '.join(actions)}; a step does one thing",
                "make two steps",
            )
        for key, needs in (
            ("With", ("Use",)),
            ("Or else", ("Choose",)),
            ("If no", ("Ask", "Use")),
            ("At Once", ("For each",)),
            ("For each", ("Use", "Choose")),
            ("Undo", ("Use",)),
            ("Timeout", ("Use", "Ask")),
        ):
            if key in entries and not set(needs) & set(entries):
                self.page.error(
                    Code.INVALID_STEP,
                    entries[key].key,
                    f"'{key}' needs {' or '.join(needs)} in the same step",
                    f"add `- **{needs[0]}**: …`, or take '{key}' away",
                )

    def _join(self, entries: dict[str, Entry], said: dict[str, Any]) -> None:
        """Put With below Use and At Once below For each."""
        with_ = entries.get("With")
        if with_ is not None:
            if with_.text:
                self.page.error(
                    Code.INVALID_STEP,
                    with_.value,
                    "With takes its arguments as nested bullets",
                    "write `- argument: value` below it, one a line",
                )
            arguments = read_arguments(self.page, with_.items, "With")
            if "use" in said:
                said["use"] = said["use"].model_copy(update={"arguments": arguments})
        at_once = entries.get("At Once")
        if at_once is not None and "for_each" in said:
            many = scalars.whole(at_once.text)
            if not many:
                self.page.error(
                    Code.INVALID_STEP, at_once.value, "At Once is a whole number", "write `3`"
                )
            said["for_each"] = said["for_each"].model_copy(update={"at_once": many or 1})


def _bare_key(item: Item) -> Entry | None:
    """Read `- With` with bullets below it, or `- **Return**`: a key that lacks its colon alone."""
    if fold(plain(item.mark.text)) in KEY_BY_FOLD and (
        item.items or item.mark.text.startswith(("**", "__"))
    ):
        return bare_entry(item)
    return None


def _place(entry: Entry) -> Position:
    return (entry.value if entry.value.text else entry.key).place


def _title(mark: Mark) -> tuple[str, str]:
    """Split a step's words: its bold words, else its first sentence, are its title."""
    text = flow(mark.text)
    pair = split(Mark(text, mark.line, mark.column))
    if pair is not None:
        return plain(pair.key.text), pair.value.text
    for wrapper in ("**", "__"):
        end = text.find(wrapper, 2)
        if text.startswith(wrapper) and end > 0:
            # A comma belongs to the sentence; a dash or a stop only parts it.
            rest = text[end + 2 :].lstrip(" ." + DASHES)
            return plain(text[2:end]).rstrip(":.,"), rest
    head, stop, tail = text.partition(". ")
    return without_invisible(head), tail if stop else ""
