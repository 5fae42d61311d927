"""Read the section Approval: who besides the caller must agree to a call."""

import re
from collections.abc import Callable

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
    groups: list[tuple[str, Mark, list[Block]]] = []
    groups += [(heading_text(p.heading.text), p.heading, p.blocks) for p in section.parts]
    found: list[Approval] = []
    own = _Group(definition.page, check, parameters, "", section.mark)
    approval = own.read(section.blocks, needed=not groups)
    left = own.left
    for title, mark, blocks in groups:
        one = _Group(definition.page, check, parameters, title, mark)
        if (read := one.read(blocks, needed=True)) is not None:
            found.append(read)
        left += one.left
    definition.document.keep(section, left, list[Part]())
    return (*(() if approval is None else (approval,)), *found)


class _Group:
    """A reader of one approval."""

    def __init__(
        self, page: Page, check: Check, parameters: tuple[Parameter, ...], title: str, mark: Mark
    ) -> None:
        self.page, self.title, self.mark = page, title, mark
        self._check, self._parameters = check, parameters
        self.left: list[Block] = []
        """The prose beside the fields."""

    def read(self, blocks: list[Block], *, needed: bool) -> Approval | None:
        page = self.page
        read = read_entries(page, blocks, APPROVAL)
        self.left = read.prose
        if not read.entries and not needed:
            return None
        fields = name_fields(page, read.entries, APPROVAL)
        values = read_values(page, fields)
        if fields.entry("when") is None:
            page.error(
                Code.APPROVAL_WITHOUT_WHEN,
                self.mark,
                "this approval does not say when it is needed, so it would hold no call",
                "write `` - **When**: `amount > 100` ``, or `- **When**: always`",
            )
        if fields.entry("by") is None:
            what, help_ = "this approval does not say who may give it", "write `- **By**: manager`"
            page.error(Code.MISSING_FIELD, self.mark, what, help_)
        if not {"when", "by"} <= values.keys():
            return None
        approval = Approval(self.title, **values)
        self._expressions(fields, approval)
        self._times(fields, approval)
        return approval

    def _expressions(self, fields: Fields, one: Approval) -> None:
        page = self.page
        when, by, text = fields.entry("when"), fields.entry("by"), fields.entry("text")
        if when is not None and one.when != ALWAYS:
            self._check(_at(page, when, one.when), one.when, "condition of Approval")
        if by is not None and isinstance(one.by, str):
            self._check(_at(page, by, one.by), one.by, "By", of_approver=True)
        if text is not None:
            check_text(page, text, one.text, self._check, self._parameters)

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
