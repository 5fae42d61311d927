"""Try a copy of the project where users keep it, and print a table; `make test-places` runs it.

Each place gets the demonstration and a small part of the tests, in an environment that holds
nothing but a PATH and what the place adds. Name places to try only those.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from copies import NOBODY, STRANGER, Copies, FailedError, SkippedError, User

DEMO = ("demo/main_job.py",)
PART = (
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:cacheprovider",
    "tests/workspace/test_state_of_others.py",
    "tests/config",
    "tests/project/test_lint.py",
    "tests/durability/test_postgres_server.py",
)


def private(copies: Copies) -> None:
    """Root, in a folder that only root may enter."""
    copies.need_root()
    project = copies.project("private/toolmd", mode=0o700)
    copies.python(project, *DEMO, HOME=str(project.parent))
    copies.python(project, *PART, HOME=str(project.parent))


def ordinary(copies: Copies) -> None:
    """A user without rights, who owns the project."""
    copies.need_root("to become another user")
    project = copies.project("home/toolmd", owner=NOBODY)
    copies.python(project, *DEMO, user=NOBODY, HOME=str(project.parent))
    copies.python(project, *PART, user=NOBODY, HOME=str(project.parent))


def spaces(copies: Copies) -> None:
    """A path with spaces and umlauts."""
    project = copies.project("Jörgs Projekte/tool md")
    copies.python(project, *DEMO, HOME=str(project.parent))
    copies.python(project, *PART, HOME=str(project.parent))


def homeless(copies: Copies) -> None:
    """No HOME, and where root can become one a user whom the system does not know."""
    user = STRANGER if copies.is_root else None
    project = copies.project("homeless/toolmd", owner=user)
    copies.python(project, *DEMO, user=user)
    copies.python(project, *PART, user=user)


def ascii_only(copies: Copies) -> None:
    """LANG=C and LC_ALL=C."""
    project = copies.project("plain/toolmd")
    home = str(project.parent)
    copies.python(project, *DEMO, HOME=home, LANG="C", LC_ALL="C")
    copies.python(project, *PART, HOME=home, LANG="C", LC_ALL="C")


def gitless(copies: Copies) -> None:
    """No git on the PATH."""
    project = copies.project("gitless/toolmd")
    path = copies.path_without("git")
    copies.python(project, *DEMO, HOME=str(project.parent), PATH=path)
    copies.python(project, *PART, HOME=str(project.parent), PATH=path)


def archive(copies: Copies) -> None:
    """A source archive, which has no history."""
    project = copies.project("archive/toolmd", history=False)
    copies.python(project, *DEMO, HOME=str(project.parent))
    copies.python(project, *PART, HOME=str(project.parent))


def read_only(copies: Copies) -> None:
    """A checkout in which the user may not write: `toolmd check` and `list`."""
    copies.need_root("to become a user who may not write")
    project = copies.project("read-only/toolmd", user=NOBODY)
    home = copies.folder / "read-only-home"
    home.mkdir()
    copies.give(home, NOBODY)
    for words in (
        ("check",),
        ("list",),
        ("check", "tools_md/appointment/book-appointment.tool.md"),
    ):
        copies.toolmd(project, *words, user=NOBODY, HOME=str(home))
    if left := [path for path in project.rglob("*") if path.stat().st_uid == NOBODY.uid]:
        raise FailedError(f"the user wrote {left[0]}")


def neighbours(copies: Copies) -> None:
    """Two users with a project each, side by side, at the same time."""
    copies.need_root("to become two users")
    users: dict[str, User] = {"ana": NOBODY, "ben": STRANGER}
    projects = {name: copies.project(f"shared/{name}", owner=user) for name, user in users.items()}
    with ThreadPoolExecutor() as both:
        tried = [
            both.submit(copies.python, projects[name], *DEMO, user=user, HOME=str(projects[name]))
            for name, user in users.items()
        ]
    for one in tried:
        one.result()
    copies.toolmd(projects["ana"], "check", user=STRANGER, HOME=str(projects["ben"]))


def wheel(copies: Copies) -> None:
    """The wheel alone, in a fresh environment: what `pip install toolmd` brings."""
    project = copies.installed("wheel/clinic")
    found = copies.toolmd(project, "clinic", "seed", "--json", HOME=str(project.parent))
    day = found.partition('"full_evening": "')[2][:10]
    words = f"patientId=P-1001 date={day} numChildren=2 parentPhone=+15550100 timeRange=morning"
    run = ("run", "schedule_appointment", *words.split(), "--yes")
    copies.toolmd(project, *run, HOME=str(project.parent))
    copies.toolmd(project, "audit", "--verify", HOME=str(project.parent))


PLACES = {
    place.__name__.replace("_", "-"): place
    for place in (
        private, ordinary, spaces, homeless, ascii_only, gitless, archive, read_only, neighbours,
        wheel,
    )
}  # fmt: skip


@contextmanager
def copies() -> Iterator[Copies]:
    """Give a folder that every user may enter, and take it away."""
    with tempfile.TemporaryDirectory(prefix="toolmd-places-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        folder.chmod(0o755)
        yield Copies(folder)


def main(names: list[str]) -> int:
    """Try the places, two at a time; return how many failed."""
    if unknown := sorted(set(names) - PLACES.keys()):
        sys.exit(f"no such place: {', '.join(unknown)}; there are {', '.join(PLACES)}")
    os.umask(0o022)
    began = time.monotonic()
    with copies() as made, ThreadPoolExecutor(2) as two:
        tried = {name: two.submit(attempt, made, name) for name in names or PLACES}
        rows = [one.result() for one in tried.values()]
    print(f"\n{'place':<11} {'result':<8} {'s':>5}  about")
    for name, result, seconds, about in rows:
        print(f"{name:<11} {result:<8} {seconds:>5.1f}  {about}")
    failed = sum(result == "FAILED" for _, result, _, _ in rows)
    print(f"{len(rows)} places in {time.monotonic() - began:.0f} s, {failed} failed")
    return failed


def attempt(made: Copies, name: str) -> tuple[str, str, float, str]:
    """Try one place; print at once what failed."""
    place = PLACES[name]
    began = time.monotonic()
    about = (place.__doc__ or "").strip()
    result = "ok"
    try:
        place(made)
    except SkippedError as error:
        result, about = "skipped", f"{about} {error}"
    except FailedError as error:
        result = "FAILED"
        print(f"\n--- {name}: {about}\n{error}", flush=True)
    return name, result, time.monotonic() - began, about


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
