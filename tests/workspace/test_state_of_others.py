"""A folder of state that others may enter: what Toolmd keeps there is its owner's alone."""

import os
from collections.abc import Iterator

import pytest
from workspace_shop import Shop, skill

GUARDED = "\n## Safety\n\n- **Requires Confirmation**: true\n"
STEPS = "1. **Greet**, if they like.\n   - **Ask**: Shall I greet?\n   - **Use**: greet"


@pytest.fixture
def careless() -> Iterator[None]:
    """Be a user whose files everybody may read and write, as far as nobody says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="this system keeps rights elsewhere")
@pytest.mark.usefixtures("careless")
def test_no_file_in_a_shared_folder_is_readable_by_others(shop: Shop) -> None:
    state = shop.root / ".toolmd"
    state.mkdir(mode=0o755)
    shop.tool("greet", "def greet(): return {}")
    shop.tool("pay", "def pay(): return {}", extra=GUARDED)
    shop.write("skills_md/welcome.skill.md", skill("welcome", "greet", STEPS))

    ws = shop.open(overrides={"store": "sqlite"})
    assert ws.call_sync("pay", {}, user="ana").outcome == "confirm"
    assert ws.run_sync("welcome", {}, user="ana").outcome == "confirm"
    shop.tool("pay", "def pay(): return {}")
    ws.reload()

    kept = [path for path in state.rglob("*") if path.is_file()]
    assert {".jsonl", ".sqlite3"} <= {path.suffix for path in kept}
    for path in kept:
        ways = [path, *path.parents[: path.parents.index(state)]]
        assert any(way.stat().st_mode & 0o077 == 0 for way in ways), path
