"""`check --against REV`: what is weaker than at a revision of git, without running its code."""

import subprocess
from pathlib import Path

import pytest
from tests.definitions import Folder, tool

from toolmd._cli.main import main
from toolmd._types.settings import Settings
from toolmd._workspace.against import Comparison, compare
from toolmd.config import load_settings
from toolmd.errors import ConfigError

SAFETY = "\n## Safety\n\n- **Requires Confirmation**: true\n"
QUOTA = "\n## Limits\n\n- **Quota**: {} calls per user ever\n"


def git(folder: Path, *words: str) -> None:
    named = ["-c", "user.name=ana", "-c", "user.email=ana@example.org"]
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def shop(tmp_path: Path) -> Folder:
    """A committed project in a subfolder with a space and an umlaut in its name."""
    root = tmp_path / "the shöp"
    root.mkdir()
    folder = Folder(root)
    folder.write("toolmd.toml", "[safety]\ndefault_min = 0.5\n")
    folder.write("tools_md/pay.tool.md", tool("pay", extra=SAFETY + QUOTA.format(3)))
    folder.write("tools_md/pay.py", "raise SystemExit('it runs')\n")
    folder.write("tools_md/look.tool.md", tool("look"))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    return folder


def compared(shop: Folder, revision: str = "HEAD") -> Comparison:
    settings: Settings = load_settings(shop.root, environ={})
    return compare(shop.root, settings, revision)


def told(found: Comparison) -> list[str]:
    return [one.message for one in found.diagnostics]


def test_an_unchanged_project_is_as_strict(shop: Folder) -> None:
    found = compared(shop)

    assert told(found) == []
    assert str(found).endswith(": 0 weaker, 0 stricter, 2 unchanged.")


def test_each_weaker_restriction_is_a_warning_at_its_line(shop: Folder) -> None:
    shop.write("tools_md/pay.tool.md", tool("pay", extra=QUOTA.format(10)))
    found = compared(shop)

    assert told(found) == [
        "pay: Safety: Requires Confirmation: true is gone (it is at " + found.commit + ")",
        "pay: Limits: Quota: 3 calls per user ever → 10 calls per user ever "
        "(at " + found.commit + ")",
    ]
    text = (shop.root / "tools_md/pay.tool.md").read_text().splitlines()
    assert "**Quota**" in text[found.diagnostics[1].span.line - 1]
    assert found.weaker == 2
    assert {one.code for one in found.diagnostics} == {"weakened-policy"}


def test_a_stricter_policy_is_counted_and_no_finding(shop: Folder) -> None:
    shop.write("tools_md/look.tool.md", tool("look", extra=SAFETY))
    found = compared(shop)

    assert (told(found), found.weaker, found.stricter) == ([], 0, 1)


def test_a_renamed_file_is_compared_by_its_tools_name(shop: Folder) -> None:
    (shop.root / "tools_md/pay.tool.md").unlink()
    shop.write("tools_md/money/paying.tool.md", tool("pay", extra=SAFETY))

    (message,) = told(compared(shop))
    assert message.startswith("pay: Limits: Quota: ")


def test_new_and_removed_tools_are_notes(shop: Folder) -> None:
    (shop.root / "tools_md/look.tool.md").unlink()
    shop.write("tools_md/see.tool.md", tool("see"))
    found = compared(shop)

    assert told(found) == []
    assert found.notes == (f"new since {found.commit}: see", f"gone since {found.commit}: look")


def test_a_definition_that_was_broken_counts_as_weaker(shop: Folder) -> None:
    shop.write("tools_md/look.tool.md", "# Look\n\n## Safety\n\n- **Confirm**: sure\n")
    git(shop.root, "commit", "-qam", "two")
    shop.write("tools_md/look.tool.md", tool("look"))
    found = compared(shop)

    assert [one.code for one in found.diagnostics] == ["baseline-unreadable"]
    assert found.weaker == 1


def test_weaker_settings_are_found(shop: Folder) -> None:
    shop.write("toolmd.toml", "")

    assert told(compared(shop)) == ["the setting safety.default_min is weaker"]


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "HEAD~5", ""])
def test_a_revision_that_is_not_there_is_no_empty_result(shop: Folder, revision: str) -> None:
    with pytest.raises(ConfigError, match="is not in this clone; fetch it"):
        compared(shop, revision)
    assert not (shop.root / "x").exists()


def test_a_folder_without_git_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="git"):
        compare(tmp_path, load_settings(tmp_path, environ={}), "HEAD")


def test_the_command_ends_with_the_summary(
    shop: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write("tools_md/pay.py", "def pay():\n    return {}\n")
    shop.write("tools_md/look.py", "def look():\n    return {}\n")
    shop.write("tools_md/pay.tool.md", tool("pay", extra=QUOTA.format(3)))
    monkeypatch.chdir(shop.root)

    assert main(["check", "--against", "HEAD", "--output-format", "concise"]) == 1
    said = capsys.readouterr()
    assert "warning[weakened-policy] pay: Safety: Requires Confirmation" in said.out
    assert said.err.splitlines()[-1].startswith("Policy against ")
    assert main(["check", "--against", "nowhere"]) == 2
    assert "is not in this clone" in capsys.readouterr().err
