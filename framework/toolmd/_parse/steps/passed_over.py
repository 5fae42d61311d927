"""Report text that looks like a step's key but would not be read as one."""

from dataclasses import dataclass

from toolmd._parse.blocks.block import Block, Bullets, Item, Paragraph, Part
from toolmd._parse.blocks.prose_lines import lines_of, pairs
from toolmd._parse.document.strays import is_setting, report_restriction, report_strays
from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.restrictions import names_restriction, restriction_of
from toolmd._parse.fields.step import ACTIONS, HOLDING, KEY_BY_FOLD, key_meant
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words.keys import COLONS, Pair, fold, plain, split
from toolmd._parse.words.slips import nearest
from toolmd._types.code import Code
from toolmd._types.skill import STEP_KEYS

_MOST_WORDS = 3
"""A plain key of more words than this is the beginning of a sentence."""


def workflow_acts(blocks: list[Block], parts: list[Part]) -> bool:
    """Return whether any numbered step has an action; without one, the workflow is only prose."""
    for block in [*blocks, *(block for part in parts for block in part.blocks)]:
        for item in block.items if isinstance(block, Bullets) and block.ordered else ():
            keys = (KEY_BY_FOLD.get(fold(_lead(one.mark.text))) for one in (item, *item.items))
            if any(key in ACTIONS for key in keys):
                return True
    return False


@dataclass(frozen=True, slots=True)
class MissedKeys:
    """A checker for text in and around the steps of a workflow that was meant as a key."""

    page: Page
    acts: bool
    """Whether any step of the workflow has an action."""

    def check_bullet(self, item: Item) -> bool:
        """Check a bullet directly under a step, where `**Word**: text` is always a key."""
        pair = split(item.mark)
        lead = pair.key if pair is not None else item.mark._replace(text=_lead(item.mark.text))
        meant = key_meant(lead.text)
        is_key = pair is not None and (pair.marked or (self.acts and _is_name(item.mark, pair)))
        if is_key or meant is not None:
            self._unknown(lead, meant)
            return True
        if pair is not None and report_restriction(self.page, pair):
            return True
        if pair is not None and _is_name(item.mark, pair):
            self.page.warn(
                Code.UNKNOWN_STEP_KEY,
                pair.key,
                f"a step has no key '{plain(pair.key.text)}'; it is kept as text",
                f"the keys of a step are {', '.join(STEP_KEYS)}",
            )
        return False

    def check_title(self, mark: Mark) -> None:
        """Check the title of a step without keys: `1. **Confirm**: Pay?` would ask nobody."""
        pair = split(mark)
        name = pair.key if pair is not None else mark
        meant = key_meant(name.text) if self.acts else None
        if meant is not None:
            self._unknown(name, meant)

    def check_within(self, blocks: list[Block]) -> None:
        """Check the text of a step: lines, quotes, tables and nested bullets."""
        report_strays(self.page, blocks, (), None, in_steps=True)
        for pair in pairs(blocks) if self.acts else ():
            meant = key_meant(pair.key.text)
            if pair.marked or meant in HOLDING or fold(pair.key.text) in KEY_BY_FOLD:
                self._unread(pair, meant)

    def check_lines(self, mark: Mark) -> None:
        """Check the lines of a step's own text after the first."""
        self.check_within([Paragraph(line) for line in [*lines_of(mark)][1:]])

    def check_values(self, entry: Entry) -> None:
        """Check the lines of a value after the first; plain ones are text."""
        lines = [*lines_of(entry.value)][1:]
        for block in entry.blocks:
            lines += lines_of(block.mark) if isinstance(block, Paragraph) else ()
        for pair in map(split, lines):
            if pair is not None and pair.marked:
                self._unread(pair, key_meant(pair.key.text))

    def check_outside(self, blocks: list[Block]) -> None:
        """Check the blocks outside the steps, which are kept as text about all of them."""
        for block in blocks if self.acts else ():
            for pair in pairs([block]):
                meant = key_meant(pair.key.text)
                if isinstance(block, Bullets):
                    self._check_bullet_outside(pair, meant)
                elif meant in HOLDING and (pair.marked or is_setting(pair.value.text)):
                    self._unread(pair, meant)

    def _check_bullet_outside(self, pair: Pair, meant: str | None) -> None:
        if pair.marked or meant in HOLDING:
            self._unread(pair, meant)
        if pair.marked and meant is None:
            self.page.warn(
                Code.UNKNOWN_STEP_KEY,
                pair.key,
                f"'{plain(pair.key.text)}' is not in a step; it is kept as text",
                "number it if it is a step: `1. **Title**`",
            )

    def _unread(self, pair: Pair, meant: str | None) -> None:
        if meant is None or restriction_of(pair) is not None:
            return  # a restriction of a tool is reported as one
        self.page.error(
            Code.INVALID_STEP,
            pair.key,
            f"'{plain(pair.key.text)}' is not a bullet of a numbered step, so it would be ignored",
            f"write `- **{meant}**: …` directly below its step, or number it as a step",
        )

    def _unknown(self, key: Mark, meant: str | None) -> None:
        name = plain(key.text)
        mark = self.page.mark(name, key.line, key.column)
        if meant is None:
            message = f"a step has no key '{name}'"
            help_ = f"the keys of a step are {', '.join(STEP_KEYS)}"
        elif fold(name) in KEY_BY_FOLD:
            message = f"'{name}' is not written as a key here, so it would be ignored"
            help_ = f"write `- **{meant}**: …`"
        else:
            message, help_ = f"a step has no key '{name}'", f"did you mean '{meant}'?"
        slip = meant is not None and meant == nearest(name, STEP_KEYS)
        fix = replace(mark, meant) if slip and meant is not None else ()
        self.page.error(Code.UNKNOWN_STEP_KEY, mark, message, help_, fix)


def _lead(text: str) -> str:
    """Return the words that may be a key: before the colon, in bold at the start, or all."""
    pair = split(Mark(text, 1, 1))
    if pair is not None:
        return pair.key.text
    for sign in ("**", "__"):
        if text.startswith(sign) and (end := text.find(sign, 2)) > 0:
            return text[2:end]
    return text.rstrip(".")


def _is_name(mark: Mark, pair: Pair) -> bool:
    """Return whether a plain key looks like one: few words and a colon, but not a URL."""
    if names_restriction(pair.key.text):
        return True
    words = plain(pair.key.text).split()
    if not words or len(words) > _MOST_WORDS or not words[0][0].isalpha():
        return False
    end = pair.key.column - mark.column + len(pair.key.text)
    colon = mark.text[end:].lstrip()[:1] in COLONS
    return not pair.value.text.startswith("//") and (colon or len(words) == 1)
