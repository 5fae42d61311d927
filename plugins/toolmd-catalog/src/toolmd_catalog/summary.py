"""Tables of many tools: a row for each, a column for each policy."""

import re
from typing import Any

from toolmd.importing import tool_name
from toolmd_catalog.layout.blocks import Block, Bullets, Item, Part, Table
from toolmd_catalog.layout.page import Page
from toolmd_catalog.layout.tables import columns, rows_of
from toolmd_catalog.phrases.literals import boolean
from toolmd_catalog.policy.demands import LEVELS, Policy
from toolmd_catalog.policy.statements import read_sentence
from toolmd_catalog.words import NUMBER, bare, clean, fold, number

_COLUMNS: dict[str, str] = {
    **dict.fromkeys(
        "requiresconfirmation confirmation confirm confirmationrequired needsconfirmation".split(),
        "requires_confirmation",
    ),
    **dict.fromkeys("sensitivity sensitivitylevel risk risklevel".split(), "sensitivity"),
    **dict.fromkeys(
        "minconfidence minimumconfidence confidence confidencethreshold threshold".split(),
        "min_confidence",
    ),
    **dict.fromkeys(
        "explicitintent explicitintentrequired requiresexplicitintent intent".split(),
        "explicit_intent",
    ),
    **dict.fromkeys("readonly".split(), "read_only"),
    **dict.fromkeys(
        "requiresauth auth authentication authrequired requiresauthentication".split(),
        "requires_auth",
    ),
    **dict.fromkeys("patientcontext requirespatientcontext".split(), "requires_context"),
    **dict.fromkeys("category group domain".split(), "category"),
    **dict.fromkeys("version".split(), "version"),
    **dict.fromkeys(
        "about description details does purpose summary what whatfor whatitdoes".split(),
        "description",
    ),
    **dict.fromkeys("timeout ratelimit rate retries limits limit".split(), "limits"),
}
_TOOL = {"tool", "toolname", "name", "function", "functionname", "command", "action"}


class Summaries:
    """The statements of a catalogue's tables and lists on each tool, by name."""

    def __init__(self, page: Page, parts: list[Part]) -> None:
        self.policies: dict[str, Policy] = {}
        self.words: dict[str, str] = {}
        """A tool's sentence in a list of tools."""
        self.lines: dict[str, int] = {}
        """The first line of each name."""
        for part in parts:
            for block in part.blocks:
                self._block(page, block)

    def _block(self, page: Page, block: Block) -> None:
        if isinstance(block, Table):
            head, rows = rows_of(page, block)
            named = bool(head) and fold(clean(head[0])) in _TOOL and not columns(head)
            fields = [_COLUMNS.get(fold(clean(cell)), "") for cell in head[1:]]
            if named and any(fields):
                for line, row in rows:
                    self._row(tool_name(bare(clean(row[0]))), head, fields, row, line)
        elif isinstance(block, Bullets):
            for item in block.items:
                self._item(item)

    def _item(self, item: Item) -> None:
        marked = re.match(
            r"\s*(?:\*\*|__)?`?([A-Za-z_][\w-]*)`?(?:\*\*|__)?\s*[-–—:]\s*(.+)",  # noqa: RUF001
            item.mark.text,
            re.DOTALL,
        )
        if marked and ("_" in marked[1] or item.mark.text.lstrip()[:1] in "*`_"):
            name = tool_name(marked[1])
            self.words.setdefault(name, " ".join(clean(marked[2]).split()))
            self.lines.setdefault(name, item.line)

    def _row(
        self, name: str, head: list[str], fields: list[str], row: list[str], line: int
    ) -> None:
        if not name:
            return
        policy = self.policies.setdefault(name, Policy())
        self.lines.setdefault(name, line)
        for label, key, cell in zip(head[1:], fields, row[1:], strict=False):
            text = bare(clean(cell))
            if text in {"", "-", "–", "—", "n/a", "N/A"}:  # noqa: RUF001
                continue
            if key == "description":
                self.words.setdefault(name, text)
            elif key == "limits":
                read_sentence(policy, f"{clean(label)}: {text}", line)
            elif key and not _set(policy, key, text, line):
                policy.guess(f"{clean(label)} is {text!r} in the table: it can't be read", line)


def _set(policy: Policy, key: str, text: str, line: int) -> bool:
    value: Any
    if key == "sensitivity":
        value = text.lower().replace("moderate", "medium")
        if value not in LEVELS:
            return False
    elif key == "min_confidence":
        match = re.fullmatch(rf"(?:>=|≥|>|at least)?\s*({NUMBER})\s*(%)?", text)
        if match is None:
            return False
        value = float(number(match[1])) / (100 if match[2] or number(match[1]) > 1 else 1)
        if not 0 <= value <= 1:
            return False
    elif key in {"category", "version"}:
        policy.facts[key] = text
        return True
    else:
        value = boolean(text)
        if value is None:
            return False
        if key == "requires_context":
            if value:
                policy.facts[key] = ("patient",)
            return True
        if key in {"read_only", "requires_auth"}:
            if value:
                policy.facts[key] = True
            return True
    policy.restrict(key, line, value=value)
    return True
