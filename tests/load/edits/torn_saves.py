"""Save a guarded tool half-written again and again, and check the live policy."""

import random
import re
from pathlib import Path

from policies import FULL

from toolmd import ToolSpec, Workspace
from toolmd._load.weakening import list_weakened

EDITS = (
    ("Give a patient a dose.", "Give one dose, now."),
    ("- **Maximum**: 10", "- **Maximum**: 9"),
    ("- **Min Confidence**: 0.8", "- **Min Confidence**: 0.85"),
    ("- **Description**: Where", "- **Description**: In which ward"),
    ("- **Timeout**: 10s", "- **Timeout**: 9s"),
    ("- **Category**: care", "- **Category**: drugs"),
)
"""What an author changes, there and back."""


def sections(dice: random.Random, text: str) -> str:
    """Give the text with its sections in any order, so that any may be the one that is cut."""
    head, *rest = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    rest = [section.rstrip() + "\n\n" for section in rest]
    dice.shuffle(rest)
    return head + "".join(rest)


def torn(dice: random.Random, old: bytes, new: bytes) -> bytes:
    """Give what a file holds in the middle of a save."""
    cut = dice.randrange(len(new) + 1)
    match dice.randrange(4):
        case 0:  # Truncated, then written from the start.
            return new[:cut]
        case 1:  # Written over in place.
            return new[:cut] + old[cut:]
        case 2:  # Grown first, as some file systems show it.
            return new[:cut] + b"\0" * (len(new) - cut)
        case _:  # A block in the middle has not come yet.
            end = dice.randrange(cut, len(new) + 1)
            return new[:cut] + new[end:]


def tear(folder: Path, times: int, *, trust_edits: bool = False, seed: int = 7) -> list[str]:
    """Save so often, torn first and then whole; gives what was live and looser than before.

    Each torn state is read as it is: no time to settle stands between it and the reload.
    """
    dice = random.Random(seed)
    (folder / "tools_md").mkdir(parents=True)
    file = folder / "tools_md/give-dose.tool.md"
    text = FULL
    file.write_text(text, "utf-8")
    looser: list[str] = []
    overrides = {"plugins": [], "trust_edits": trust_edits}
    with Workspace.open(folder, overrides=overrides) as workspace:
        before = workspace.tools["give_dose"].spec
        for number in range(times):
            line, by = dice.choice(EDITS)
            new = text.replace(line, by, 1) if line in text else text.replace(by, line, 1)
            written = sections(dice, new)
            for data in (torn(dice, file.read_bytes(), written.encode()), written.encode()):
                file.write_bytes(data)
                workspace.reload()
                live = _live(workspace)
                if live is None:
                    continue
                looser += [f"{number}: {found}" for found in list_weakened(before, live)]
                before = live
            text = written
    return looser


def _live(workspace: Workspace) -> ToolSpec | None:
    """Give the tool, under whatever name it is live."""
    tools = list(workspace.tools.values())
    return tools[0].spec if tools else None
