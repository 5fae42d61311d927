"""Build what a release publishes, check it, and try it as a user would: `make dist`.

The wheels and the source archives of Toolmd and its plugins go into `dist/`. twine checks their
metadata. Each Python of this machine gets an empty environment with the wheels, and runs the main
job there; the first Python also installs the source archives.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from finding import Python, find_pythons
from installing import ROOT, Environment, InstallError, run, uv

from pythons import copy_clinic, ended

DIST = ROOT / "dist"
NEVER = (".venv", "__pycache__", ".pyc", ".toolmd", "tests/", ".git/")
"""No published archive has a path with one of these."""


def main() -> int:
    """Build and try everything; return 1 if something failed."""
    try:
        built = build()
        check(built)
    except InstallError as error:
        sys.exit(str(error))
    wheels = [file for file in built if file.suffix == ".whl"]
    archives = [file for file in built if file.suffix == ".gz"]
    pythons, _ = find_pythons(dict(os.environ))
    with tempfile.TemporaryDirectory(prefix="dist-") as name:
        folder = Path(name)
        copy_clinic(folder / "clinic")
        failed = [try_out(python, folder, wheels) for python in pythons]
        failed.append(try_archives(pythons[0], folder, archives))
    print(f"dist/ has {len(wheels)} wheels and {len(archives)} source archives:")
    print(
        "".join(f"  {file.stat().st_size / 1024:6.0f} KiB  {file.name}\n" for file in built), end=""
    )
    return int(any(failed))


def build() -> list[Path]:
    """Build Toolmd and its plugins into `dist/`, with the times of the last commit.

    Returns:
        The wheels and source archives.

    Raises:
        InstallError: A build fails.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    began = time.monotonic()
    committed = ("git", "-C", str(ROOT), "log", "-1", "--format=%ct")
    done = subprocess.run(committed, capture_output=True, text=True, check=False)
    # The same commit gives the same bytes. Outside of a checkout, hatchling's own date stands.
    if done.returncode == 0:
        os.environ["SOURCE_DATE_EPOCH"] = done.stdout.strip()
    for project in [ROOT, *sorted(file.parent for file in ROOT.glob("plugins/*/pyproject.toml"))]:
        uv(
            "build",
            "--quiet",
            "--no-build-isolation",
            "--python",
            sys.executable,
            "--out-dir",
            str(DIST),
            str(project),
        )
    DIST.joinpath(".gitignore").unlink(missing_ok=True)
    ended("build", began)
    return sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])


def check(built: list[Path]) -> None:
    """Check the metadata with twine, and that no archive holds what is not published.

    Raises:
        InstallError: A file has faulty metadata, or a path that is never published.
    """
    began = time.monotonic()
    run(
        sys.executable,
        "-m",
        "uv",
        "tool",
        "run",
        "--quiet",
        "twine",
        "check",
        "--strict",
        *map(str, built),
    )
    licence = (ROOT / "LICENSE").read_bytes()
    for file in built:
        content = read(file)
        if odd := [name for name in content if any(part in name for part in NEVER)]:
            raise InstallError(f"{file.name} holds {', '.join(odd[:5])}, which is not published")
        if licence not in [text for name, text in content.items() if name.endswith("/LICENSE")]:
            raise InstallError(f"{file.name} does not hold the LICENSE of this repository")
    ended("check the metadata and the contents", began)


def read(file: Path) -> dict[str, bytes]:
    """Return the files in a wheel or a source archive, by their paths."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(file) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        opened = {member.name: archive.extractfile(member) for member in members}
        return {name: stream.read() for name, stream in opened.items() if stream}


def try_out(python: Python, folder: Path, wheels: list[Path]) -> bool:
    """Install the wheels into an empty environment, run the main job; return whether it failed."""
    print(f"\nPython {python.shown}", flush=True)
    environment, began = Environment(folder / f"python-{python.shown}", python), time.monotonic()
    try:
        environment.install(wheels)
        ended("install the wheels", began)
        return main_job(environment, folder)
    except InstallError as error:
        ended("install the wheels", began, str(error))
        return True


def try_archives(python: Python, folder: Path, archives: list[Path]) -> bool:
    """Install the source archives over the wheels of a tried Python; return whether it failed."""
    environment, began = Environment(folder / f"python-{python.shown}", python), time.monotonic()
    print(f"\nPython {python.shown}, from the source archives", flush=True)
    try:
        uv(
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--reinstall",
            "--python",
            str(environment.python),
            *map(str, archives),
        )
        ended("install the source archives", began)
        return main_job(environment, folder)
    except InstallError as error:
        ended("install the source archives", began, str(error))
        return True


def main_job(environment: Environment, folder: Path) -> bool:
    """Run the main job of the clinic; return whether it failed."""
    began = time.monotonic()
    demo = str(folder / "clinic" / "demo" / "main_job.py")
    done = subprocess.run(
        [environment.python, demo],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    ended("main job", began, done.stdout[-4000:] if done.returncode else "")
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
