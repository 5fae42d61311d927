"""Lay a copy of the project somewhere, with an environment of its own, and run it as some user."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "house"))

from tracked import listed  # noqa: E402 - the tests' folders are no packages

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


class Bench:
    """A folder in which copies of the project lie."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_root = hasattr(os, "geteuid") and os.geteuid() == 0

    def need_root(self, why: str = "") -> None:
        """Raise SkippedError for an ordinary user."""
        if not self.is_root:
            raise SkippedError(f"(only root can try it{' ' * bool(why)}{why})")

    def project(
        self, name: str, *, mode: int = 0o755, owner: User | None = None, history: bool = True
    ) -> Path:
        """Copy the checkout, and lay an environment into it that shares this one's packages.

        Args:
            name: The folder, below that of the bench.
            mode: Of the folder that holds it.
            owner: To whom it is given, with the folder that holds it.
            history: Whether it has a `.git`.

        """
        project = self.folder / name
        project.parent.mkdir(mode=mode, parents=True, exist_ok=True)
        for path in listed():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, project / path)
        if history and shutil.which("git"):
            for words in (("init", "-q"), ("add", "--all")):
                subprocess.run(["git", *words], cwd=project, check=True)
        self._environment(project)
        if owner is not None:
            self.give(project, owner)
            if project.parent.name != "shared":
                os.chown(project.parent, *owner)
            self._need_python(project, owner)
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

    def _environment(self, project: Path) -> None:
        """Make `.venv` of the project's own code and this environment's packages."""
        made = project / ".venv"
        venv.create(made, with_pip=False, symlinks=True)
        (site,) = made.glob("lib/python*/site-packages")
        # The editable installs of this environment stay out: its own .pth files are not read.
        (site / "places.pth").write_text(f"{project / 'framework'}\n{SITE}\n", "utf-8")
        script = made / "bin" / "toolmd"
        start = "import sys; from toolmd._cli.main import main; sys.exit(main())"
        python = made / "bin" / "python"
        script.write_text(f'#!/bin/sh\nexec "{python}" -c "{start}" "$@"\n', "utf-8")
        script.chmod(0o755)

    def _need_python(self, project: Path, user: User) -> None:
        try:
            self.python(project, "-c", "import pydantic, pytest", user=user)
        except FailedError as error:
            reason = str(error).strip().splitlines()[-1]
            where = f"(another user can't enter {sys.prefix} or its Python: {reason})"
            raise SkippedError(where) from error
