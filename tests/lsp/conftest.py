"""Projects in a temporary folder, and editors on them that share one language server."""

from collections.abc import Iterator
from pathlib import Path

import orchard as texts
import pytest
from language_client import SKILL, TOOL, Client, Editor


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    client = Client()
    yield client
    client.close()


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
def editor(client: Client, garden: Path) -> Iterator[Editor]:
    with Editor(client, garden) as editor:
        yield editor


@pytest.fixture
def orchard(client: Client, tmp_path: Path) -> Iterator[Editor]:
    """An editor on a tool with a policy, its Python, and two skills that use it."""
    root = tmp_path / "orchard"
    for name, text in texts.FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with Editor(client, root) as editor:
        editor.open(texts.PICK)
        yield editor
