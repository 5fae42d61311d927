"""Test the adapters in their frameworks, in the newest and the lowest releases that they take."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv-adapters"
BESIDE = ("pytest", "pytest-rerunfailures", "pytest-xdist", "hypothesis",
          "langgraph-checkpoint-sqlite", "sybil")  # fmt: skip

PAGES = ("tests/docs/test_examples.py",)
"""Runs the pages that need a framework, among others."""


def main() -> int:
    """Install both, and test each release once; return 1 if anything failed."""
    sys.path.insert(0, str(ROOT / "tests/project"))
    from lint import HOSTS

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    wanted = [one for name in sorted(HOSTS) for one in extras[name]]
    lowest = [one.partition(",")[0].replace(">=", "==") for one in wanted]
    names = {
        one.partition("==")[0]: extra for extra, one in zip(sorted(HOSTS), lowest, strict=True)
    }
    failed, tested = False, set()
    for name, asked in (("newest", wanted), ("lowest", lowest)):
        python = FOLDER / name / "bin/python"
        if not python.exists():
            uv("venv", "--quiet", "--python", sys.executable, str(FOLDER / name))
        try:
            uv("pip", "install", "--quiet", "--upgrade", "--python", str(python), *asked, *BESIDE,
               "-e", f"{ROOT}[mcp]")  # fmt: skip
        except subprocess.CalledProcessError:
            print(f"note: the {name} frameworks can't be had; their tests skip", flush=True)
            continue
        listed = uv("pip", "freeze", "--python", str(python)).splitlines()
        releases = {line for line in listed if line.partition("==")[0] in names} - tested
        if releases:
            print(f"{name}: {', '.join(sorted(releases))}", flush=True)
            hosts = {names[line.partition("==")[0]].replace("-", "_") for line in releases}
            words = [str(python), "-m", "pytest", "-q", "-n", "2", "-o", "addopts=",
                     "--reruns", "1", "-k", " or ".join(sorted(hosts)), "tests/adapters",
                     *PAGES]  # fmt: skip
            failed |= subprocess.run(words, cwd=ROOT, check=False).returncode != 0
            tested |= releases
    return int(failed)


def uv(*words: str) -> str:
    """Run uv and return what it printed."""
    done = subprocess.run([sys.executable, "-m", "uv", *words], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


if __name__ == "__main__":
    sys.exit(main())
