"""Hash the Python of a snapshot, by which a run knows whether it changed since the run began."""

import hashlib
import json
from pathlib import Path

from toolmd._load.build import Snapshot
from toolmd._load.source.modules import code_hash


def python_hash(snapshot: Snapshot, project: Path) -> str:
    """Return the hex sha256 of a snapshot's Python, and of the versions of its packages.

    Folders within the project are named as they lie there, so that the hash is the same elsewhere.
    """
    folders = []
    for folder in snapshot.own:
        files = {"/".join(file.parts): code_hash(file) for file in folder.modules}
        if files:
            inside = folder.root.is_relative_to(project)
            root = folder.root.relative_to(project) if inside else folder.root
            folders.append([root.as_posix(), files])
    packages = {
        info.package: info.version
        for info in snapshot.plugins.listed.values()
        if info.package is not None and info.state == "loaded"
    }
    text = json.dumps([folders, packages], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
