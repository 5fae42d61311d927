"""Demonstrate the main job: check, deny, book, text, and report a full evening."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHORT_S = 3
"""Most seconds that `make` takes with everything installed."""
TOOLMD = str(Path(sys.executable).with_name("toolmd"))


class Stage:
    """Runs commands in the clinic's project; its temporary state is deleted afterwards."""

    def __init__(self, state: str) -> None:
        self.environment = os.environ | {"TOOLMD_STATE": state}
        self.scenes = 0

    def scene(self, title: str) -> None:
        """Print the title of the next scene."""
        self.scenes += 1
        print(
            f"\n\033[1m{self.scenes}. {title}\033[0m"
            if sys.stdout.isatty()
            else f"\n{self.scenes}. {title}"
        )

    def run(self, *words: str, status: int = 0) -> None:
        """Show a command and its output; stop the demonstration on another exit status."""
        print(f"\n$ {shlex.join(['toolmd', *words])}", flush=True)
        done = subprocess.run(
            [TOOLMD, *words],
            cwd=ROOT,
            env=self.environment,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode != status:
            sys.exit(f"expected status {status}, got {done.returncode}")

    def ask(self, *words: str) -> dict[str, str]:
        """Return a command's JSON output, without showing it."""
        command = [TOOLMD, *words, "--json"]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.PIPE
        )
        answer: dict[str, str] = json.loads(done.stdout)
        return answer


def main(words: list[str]) -> None:
    """Show the main job; exit with a status other than 0 where a part of it fails.

    `words` may contain the start of the installation, in seconds since the epoch.
    """
    began = time.time()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as state:
        stage = Stage(state)
        book = stage.ask("clinic", "seed")
        day = book["full_evening"]
        family = ("patientId=P-1001", f"date={day}", "numChildren=2", "parentPhone=+15550100")

        stage.scene("The clinic's tools and skills are markdown. All of them are checked.")
        stage.run("check")
        stage.run("list")

        stage.scene("Errors in a file are reported line by line, each with a fix.")
        stage.run("check", "demo/broken/book-visit.tool.md", status=1)

        stage.scene("A call with wrong arguments is denied with a message that a model can act on.")
        stage.run(
            "call",
            "check_availability",
            f"date={day}",
            "time_range=noon",
            "num_children=2",
            status=3,
        )

        stage.scene("The skill books: patient, free slots, earliest, a yes, booking, text message.")
        stage.run("run", "schedule_appointment", *family, "timeRange=morning", "--yes")

        stage.scene("What the parent's phone gets.")
        stage.run("clinic", "outbox")

        stage.scene("An evening without room: the skill says so, and names days with free chairs.")
        stage.run("run", "schedule_appointment", *family, "timeRange=evening", "--yes", status=1)

        stage.scene("Each decision was recorded before its effect, in a hash chain.")
        stage.run("audit", "--verify")
    print(f"\n{took(began, float(words[0]) if words else began)}")
    print("Write a tool of your own: docs/tutorial/first-tool.md")


def took(began: float, asked: float) -> str:
    """Return the total time, and the part of the installation."""
    whole, before = time.time() - asked, began - asked
    if before < SHORT_S:
        return f"Done in {whole:.0f} seconds."
    return f"Done in {whole:.0f} seconds: {before:.0f} to install, {whole - before:.0f} to show."


if __name__ == "__main__":
    main(sys.argv[1:])
