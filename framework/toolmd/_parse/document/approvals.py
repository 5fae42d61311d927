"""Read the section Approval: who besides the caller must agree to a call."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from toolmd._expressions.syntax import pieces
from toolmd._parse.blocks import Block, Node, Part
from toolmd._parse.document.definition import Definition
from toolmd._parse.fields.entries import Fields, name_fields, read_entries
from toolmd._parse.fields.table import APPROVAL
from toolmd._parse.fields.values import read_values
from toolmd._parse.page import Mark, Page
from toolmd._parse.words import heading_text
from toolmd._types.approval import ALWAYS, Approval
from toolmd._types.code import Code
from toolmd._types.schema import Parameter

Check = Callable[..., bool]
"""Compiles an expression at a mark, named by these words; False where it was reported."""


def read_approvals(
    definition: Definition, check: Check, parameters: tuple[Parameter, ...]
) -> tuple[Approval, ...]:
    """Read the approval of a tool, or each of its `### title` groups.

    Args:
        definition: the file.
        check: checks an expression; `of_approver` lets it read `approver`, `any_type` lets it
            return any value.
        parameters: the tool's parameters.
    """
    section = definition.section("Approval")
    if section is None:
        return ()
    reader = _Reader(definition.page, check, parameters)
    one, left = reader.read("", section.mark, section.blocks, needed=not section.parts)
    found = [one]
    for part in section.parts:
        title = heading_text(part.heading.text)
        one, more = reader.read(title, part.heading, part.blocks, needed=True)
        found.append(one)
        left += more
    definition.document.keep(section, left, list[Part]())
    return tuple(one for one in found if one is not None)


@dataclass(slots=True)
class _Reader:
    """A reader of approvals."""

    page: Page
    check: Check
    parameters: tuple[Parameter, ...]

    def read(
        self, title: str, mark: Mark, blocks: list[Block], *, needed: bool
    ) -> tuple[Approval | None, list[Block]]:
        """Return the approval of a group, and the prose beside its fields."""
        page = self.page
        read = read_entries(page, blocks, APPROVAL)
        if not read.entries and not needed:
            return None, read.prose
        fields = name_fields(page, read.entries, APPROVAL)
        values = read_values(page, fields)
        if fields.entry("when") is None:
            page.error(
                Code.APPROVAL_WITHOUT_WHEN,
                mark,
                "this approval does not say when it is needed, so it would hold no call",
                "write `` - **When**: `amount > 100` ``, or `- **When**: always`",
            )
        if fields.entry("by") is None:
            what, help_ = "this approval does not say who may give it", "write `- **By**: manager`"
            page.error(Code.MISSING_FIELD, mark, what, help_)
        if not {"when", "by"} <= values.keys():
            return None, read.prose
        approval = Approval(title, **values)
        self._expressions(fields, approval)
        self._times(fields, approval)
        return approval, read.prose

    def _expressions(self, fields: Fields, one: Approval) -> None:
        page = self.page
        when, by, text = fields.entry("when"), fields.entry("by"), fields.entry("text")
        if when is not None and one.when != ALWAYS:
            self.check(_at(page, when, one.when), one.when, "condition of Approval")
        if by is not None and isinstance(one.by, str):
            self.check(_at(page, by, one.by), one.by, "By", of_approver=True)
        if text is not None:
            check_text(page, text, one.text, self.check, self.parameters)

    def _times(self, fields: Fields, one: Approval) -> None:
        escalate = fields.entry("escalate")
        if escalate is not None and any(e.after_s >= one.expires_s for e in one.escalate):
            self.page.error(
                Code.UNREADABLE_VALUE,
                escalate.mark,
                "it escalates when the call has expired",
                "escalate earlier, or write a longer **Expires**",
            )


def check_text(
    page: Page, entry: Node, text: str, check: Check, parameters: tuple[Parameter, ...]
) -> None:
    """Report what stands in the braces of a text for a person and can't be shown."""
    secret = {one.name for one in parameters if one.shape.holds_sensitive}
    for piece, is_code in pieces(text):
        if not is_code:
            if "{" in piece:
                what = "an opening brace is never closed"
                page.error(Code.INVALID_EXPRESSION, entry.value, what, "close it: `{expression}`")
            continue
        mark = _at(page, entry, piece)
        check(mark, piece, entry.name, any_type=True)
        if hidden := sorted(set(re.findall(r"[A-Za-z_]\w*", piece)) & secret):
            page.error(
                Code.INVALID_EXPRESSION,
                mark,
                f"the text would show {hidden[0]}, which is Sensitive",
                "leave it out: the approver sees every other argument",
            )


def _at(page: Page, entry: Node, text: str) -> Mark:
    return page.mark(text, entry.value.line, entry.value.column)
