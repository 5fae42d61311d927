"""Show the records of a run: the step, and its outcome in a word."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolmd._types.run import JournalEntry

_BEGUN = re.compile(r":begun(?P<number>\d+)(?P<answer>:\w+)?$")


def recorded(entry: "JournalEntry") -> tuple[str, str]:
    """Return the step and the outcome of a record; a call that begins has a record of its own."""
    if (begun := _BEGUN.search(entry.key)) is None:
        return entry.key, _outcome(entry)
    step = entry.key[: begun.start()]
    if begun["answer"]:
        return step, "took effect" if entry.value["approved"] else "took no effect"
    return step, "began" if begun["number"] == "1" else "began again"


def _outcome(entry: "JournalEntry") -> str:
    value = entry.value
    if entry.key.endswith(":wait"):
        return "waited"
    if isinstance(value, dict) and "outcome" in value:
        code = f"[{value['code']}]" if value.get("code") else ""
        return f"{value['outcome']}{code}"
    if isinstance(value, dict) and "approved" in value:
        return "yes" if value["approved"] else "no"
    return "done"
