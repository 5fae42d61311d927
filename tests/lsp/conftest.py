"""A garden with one tool and one skill, and an editor on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from language_client import SKILL, TOOL, Editor


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    root = tmp_path / "garden"
    for folder in ("tools_md", "skills_md"):
        (root / folder).mkdir(parents=True)
    (root / "toolmd.toml").write_text("plugins = []\n")
    (root / "tools_md/water-plant.tool.md").write_text(TOOL)
    (root / "tools_md/water_plant.py").write_text(
        "print('loaded')\ndef water_plant(plant: str) -> str:\n    return plant\n"
    )
    (root / "skills_md/care.skill.md").write_text(SKILL)
    return root


@pytest.fixture
def editor(garden: Path) -> Iterator[Editor]:
    editor = Editor(garden)
    yield editor
    editor.close()
