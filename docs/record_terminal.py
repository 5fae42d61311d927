"""Record the terminal of docs/index.md: a denied call, a confirmation, a killed and resumed run.

`make pictures` runs it. Every line of the picture is what the command printed.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parent / "pictures" / "terminal.svg"
WIDTH = 100
BOOK_TABLE = """# Book Table

Book a table in the restaurant.

## Metadata

- **Name**: book_table
- **Version**: 1.0.0
- **Category**: booking

## Parameters

- `guests` (integer, required, 1..12): How many people come

## Returns

- **Type**: object
- **Description**: The booked table

## Safety

- **Confirm When**: `guests > 8`
"""
TELL_KITCHEN = """# Tell Kitchen

Tell the kitchen how many guests come.

## Metadata

- **Name**: tell_kitchen
- **Version**: 1.0.0
- **Category**: booking
- **Idempotent**: yes

## Parameters

- `guests` (integer, required): How many people come

## Returns

- **Type**: object
- **Description**: What the kitchen knows
"""
PARTY = """# Host Party

Book a table and tell the kitchen.

## Metadata

- **Name**: host_party
- **Version**: 1.0.0
- **Category**: booking
- **Required Tools**: book_table, tell_kitchen

## Workflow

1. **Book the table**.
   - **Use**: book_table
   - **With**:
     - guests: `guests`
   - **Save as**: booked

2. **Tell the kitchen**.
   - **Use**: tell_kitchen
   - **With**:
     - guests: `guests`

3. **Return**:
   - table: `booked.table`

## Input Schema

### guests

- **Type**: integer
- **Required**: true
- **Description**: How many people come

## Output Schema

- **Type**: object (SkillResult)
- **Success**: boolean - Whether the party has a table
"""
PYTHON = '''"""Book tables, and tell the kitchen."""

import asyncio
from pathlib import Path


async def book_table(guests: int) -> dict[str, object]:
    with Path("bookings.txt").open("a") as book:
        book.write(f"{guests}\\n")
    return {"table": f"terrace {guests}", "seats": guests}


async def tell_kitchen(guests: int) -> dict[str, object]:
    Path("kitchen-called").touch()
    if not Path("kitchen-open").exists():
        await asyncio.sleep(25)
    return {"guests": guests}
'''


class Recording:
    """Runs commands in a folder, and records what they print."""

    def __init__(self, folder: Path) -> None:
        """Write the definitions and the Python into an empty folder."""
        self.folder = folder
        self.shown = Console(record=True, width=WIDTH, force_terminal=True, file=sys.stderr)
        tools = folder / "tools_md"
        for name, text in {
            "toolmd.toml": "plugins = []\n",
            "tools_md/book-table.tool.md": BOOK_TABLE,
            "tools_md/tell-kitchen.tool.md": TELL_KITCHEN,
            "tools_md/restaurant.py": PYTHON,
            "skills_md/host-party.skill.md": PARTY,
        }.items():
            tools.parent.joinpath(name).parent.mkdir(exist_ok=True)
            folder.joinpath(name).write_text(text, "utf-8")

    def say(self, comment: str) -> None:
        """Show a comment of the person who types."""
        self.shown.print(Text(f"# {comment}", style="bright_black"))

    def run(self, words: str) -> str:
        """Run a command, show it with all that it prints, and return that."""
        self.shown.print(Text.assemble(("$ ", "green"), (words, "bold")))
        done = self.start(words)
        printed, _ = done.communicate()
        self.shown.print(Text.from_ansi(printed.rstrip()))
        self.shown.print()
        return printed

    def start(self, words: str) -> subprocess.Popen[str]:
        """Start a command without showing it."""
        environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm"}
        path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        return subprocess.Popen(
            shlex.split(words),
            cwd=self.folder,
            env=environment | {"PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def kill_in_second_step(self, words: str) -> str:
        """Show a command, kill its process in the second step, and return the id of its run."""
        self.shown.print(Text.assemble(("$ ", "green"), (words, "bold")))
        running = self.start(words)
        while not (self.folder / "kitchen-called").exists():
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGKILL)
        self.shown.print(Text("Killed\n", style="red"))
        (run,) = json.loads(self.start("toolmd runs --json").communicate()[0])
        return str(run["id"])


def main() -> None:
    """Record the three scenes and write the picture."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        recording = Recording(Path(scratch))
        recording.say("A model asks for 40 seats. The file allows 12.")
        recording.run("toolmd call book_table guests=40")
        recording.say("Ten are allowed, but a person must agree.")
        asked = recording.run("toolmd call book_table guests=10")
        found = re.search(r"toolmd confirm (\S+)", asked)
        assert found, asked
        recording.run(f"toolmd confirm {found[1]}")
        recording.say(
            "The process dies in the second step of a skill. The table stays booked once."
        )
        run = recording.kill_in_second_step("toolmd run host_party guests=4")
        (Path(scratch) / "kitchen-open").touch()
        recording.run(f"toolmd runs resume {run}")
        recording.run("cat bookings.txt")
    picture = recording.shown.export_svg(title="Toolmd")
    # Rich names a font of another host; a reader's own monospace does as well.
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = re.sub(r"<!--.*?-->\s*", "", picture, flags=re.DOTALL)
    PICTURE.write_text(picture.replace("Fira Code", "Menlo, Consolas, DejaVu Sans Mono"), "utf-8")
    print(f"{PICTURE.name}: {PICTURE.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main()
