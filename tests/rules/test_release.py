"""A release that weakens a policy: what CI accepts by a committed file, and what `serve` says."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.command import run_command
from tests.definitions import Folder, tool

from toolmd import Workspace
from toolmd._cli.main import main
from toolmd._load.accepted import FILE, read_accepted
from toolmd.config import load_settings
from toolmd.errors import ConfigError

QUOTA = "\n## Limits\n\n- **Quota**: {} calls per user ever\n"
SAFETY = "\n## Safety\n\n- **Requires Confirmation**: true\n"


def git(folder: Path, *words: str) -> None:
    named = ["-c", "user.name=ana", "-c", "user.email=ana@example.org"]
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def shop(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    folder.write("toolmd.toml", 'plugins = []\nstore = "sqlite"\n')
    release(folder, SAFETY + QUOTA.format(3))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    with opened(folder):
        pass  # the state that the next release finds
    return folder


def release(folder: Folder, policy: str) -> None:
    folder.write("tools_md/pay.tool.md", tool("pay", extra=policy))
    folder.write("tools_md/pay.py", "def pay():\n    return {}\n")


def opened(folder: Folder) -> Workspace:
    return Workspace(load_settings(folder.root))


def toolmd(folder: Folder, *words: str) -> int:
    return main([*words, "--project", str(folder.root)])


def pending(folder: Folder) -> list[str]:
    with opened(folder) as workspace:
        return [str(one) for edit in workspace.changes.list_sync() for one in edit.weakened]


def test_an_accepted_release_passes_ci_and_is_live_at_its_start(shop, capsys) -> None:
    release(shop, QUOTA.format(10))
    assert toolmd(shop, "check", "--against", "HEAD") == 1
    capsys.readouterr()
    words = ("accept", "--all", "--against", "HEAD", "--by", "ana", "--why", "sale")
    assert toolmd(shop, *words) == 0
    text = (shop.root / FILE).read_text()
    assert text.count("[[accepted]]") == 2
    assert '"ana"' in text
    assert "3 calls per user ever → 10 calls per user ever" in text
    capsys.readouterr()
    assert toolmd(shop, "check", "--against", "HEAD") == 0
    assert "0 weaker, 0 stricter, 0 unchanged, 2 accepted." in capsys.readouterr().err
    assert pending(shop) == []


def test_a_later_edit_asks_again(shop) -> None:
    release(shop, QUOTA.format(10))
    toolmd(shop, "accept", "pay", "--against", "HEAD")
    release(shop, QUOTA.format(11))
    assert toolmd(shop, "check", "--against", "HEAD") == 1
    assert any("11 calls" in one for one in pending(shop))


def test_a_running_project_takes_nothing_from_the_file(shop) -> None:
    with opened(shop) as workspace:
        release(shop, QUOTA.format(10))
        toolmd(shop, "accept", "--all", "--against", "HEAD")
        workspace.reload()
        assert len(workspace.changes.list_sync()) == 1
    assert pending(shop) == []


def test_a_damaged_file_accepts_nothing(shop) -> None:
    release(shop, QUOTA.format(10))
    toolmd(shop, "accept", "--all", "--against", "HEAD")
    text = (shop.root / FILE).read_text()
    for damaged in (text + "[[", text.replace('to = "', 'to_ = "'), "accepted = 3\n"):
        (shop.root / FILE).write_text(damaged)
        with pytest.raises(ConfigError, match="accepts nothing"):
            read_accepted(shop.root)
        with opened(shop) as workspace:
            assert len(workspace.changes.list_sync()) == 1
            assert FILE in {one.span.path for one in workspace.diagnostics}
        assert toolmd(shop, "check", "--against", "HEAD") == 2


def test_entries_are_added_once_and_name_one_tool_where_asked(shop, capsys) -> None:
    release(shop, QUOTA.format(10))
    shop.write("tools_md/look.tool.md", tool("look"))
    assert toolmd(shop, "accept", "look", "--against", "HEAD") == 0
    assert not (shop.root / FILE).exists()
    assert toolmd(shop, "accept", "--against", "HEAD") == 2
    for _ in range(2):
        toolmd(shop, "accept", "--all", "--against", "HEAD", "--json")
    assert (shop.root / FILE).read_text().count("[[accepted]]") == 2


def test_a_weaker_setting_is_accepted_too(shop) -> None:
    shop.write("toolmd.toml", 'plugins = []\nstore = "sqlite"\n[safety]\ndefault_min = 0.5\n')
    git(shop.root, "commit", "-qam", "two")
    shop.write("toolmd.toml", 'plugins = []\nstore = "sqlite"\n[safety]\ndefault_min = 0.4\n')
    assert toolmd(shop, "check", "--against", "HEAD") == 1
    toolmd(shop, "accept", "--all", "--against", "HEAD")
    assert toolmd(shop, "check", "--against", "HEAD") == 0


def test_serve_says_what_waits_and_may_refuse_to_start(shop) -> None:
    release(shop, QUOTA.format(10))
    said = run_command(shop.root, "serve", "--require-accepted")
    assert said.code == 3
    assert "pay: Limits: Quota: 3 calls per user ever → 10 calls" in said.err
    assert "the stricter one is in force" in said.err
    assert "toolmd accept" in said.err
    toolmd(shop, "accept", "--all", "--against", "HEAD")
    silent = run_command(shop.root, "serve", "--require-accepted")
    assert (silent.code, "waits for acceptance" in silent.err) == (0, False)


def test_the_policy_has_a_hash(shop) -> None:
    with opened(shop) as workspace:
        first = workspace.policy
        assert first.startswith("sha256:")
        release(shop, SAFETY + QUOTA.format(2))
        workspace.reload()
        assert workspace.policy != first
        release(shop, SAFETY + QUOTA.format(3))
        workspace.reload()
        assert json.loads(json.dumps(workspace.policy)) != ""
