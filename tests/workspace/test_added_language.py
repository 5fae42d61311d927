"""A plugin adds a language in which messages negate."""

from pathlib import Path

import pytest

from toolmd import Workspace

WAKE = """# Wake

Wake somebody up.

## Metadata

- **Name**: wake
- **Version**: 1.0.0
- **Category**: home

## Parameters

None

## Returns

- **Type**: object
- **Description**: Nothing

## Safety

- **Explicit Intent**: true
- **Intent Keywords**: svegliami, 起こして
"""
LANGUAGES = '''"""Italian, and Japanese."""

from toolmd import hookimpl

ITALIAN = """
common = ["mi", "alle", "per", "favore", "voglio", "che", "tu"]
negators = ["non", "mai", "senza"]
idioms = ["non dimenticare di"]
letters = "òì"
"""
JAPANESE = """
common = []
negators = []
after = ["ないで"]
letters = "いこしてでなを"
"""


@hookimpl
def toolmd_languages():
    return [ITALIAN, JAPANESE]
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {
        "toolmd.toml": "plugins = []\n",
        "tools_md/wake.tool.md": WAKE,
        "tools_md/wake.py": "def wake():\n    return {}\n",
        "tools_md/plugin.py": LANGUAGES,
    }.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def outcomes(project: Path, *messages: str) -> list[str]:
    with Workspace.open(project) as workspace:
        return [workspace.call_sync("wake", {}, message=said).outcome for said in messages]


def test_a_message_is_assessed_in_the_language_of_a_plugin(project: Path) -> None:
    said = ("Per favore svegliami alle 7", "Non voglio che tu mi svegliami")

    assert outcomes(project, *said) == ["ok", "denied"]


def test_an_idiom_of_a_plugins_language_negates_nothing(project: Path) -> None:
    assert outcomes(project, "Per favore non dimenticare di svegliami alle 7") == ["ok"]


def test_letters_tell_a_language_without_spaces_from_chinese(project: Path) -> None:
    assert outcomes(project, "7時に起こして", "起こしてないで") == ["ok", "denied"]


@pytest.mark.parametrize("rules", ["negators = ['(']", "odd = []", "= 1", "negators = 'non'"])
def test_rules_that_cannot_be_read_deny_every_call(project: Path, rules: str) -> None:
    plugin = project / "tools_md/plugin.py"
    known = "common = []\nletters = ''\n" + ("" if "negators" in rules else "negators = []\n")
    plugin.write_text(LANGUAGES.replace("[ITALIAN, JAPANESE]", repr([known + rules])), "utf-8")

    with Workspace.open(project) as workspace:
        result = workspace.call_sync("wake", {}, message="Svegliami")

    assert result.error is not None
    assert result.error.code == "internal_guard_error"


def test_a_verbatim_value_is_negated_in_the_language_of_a_plugin(project: Path) -> None:
    parameter = (
        "### what\n\n- **Type**: string\n- **Required**: true\n- **Verbatim**: true\n"
        "- **Description**: What for\n"
    )
    wake = WAKE.replace("None\n\n## Returns", f"{parameter}\n## Returns")
    (project / "tools_md/wake.tool.md").write_text(wake, "utf-8")
    (project / "tools_md/wake.py").write_text("def wake(what):\n    return {}\n", "utf-8")

    with Workspace.open(project) as workspace:
        said = ("Svegliami per favore, voglio latte", "Svegliami, ma non voglio latte")
        found = [workspace.call_sync("wake", {"what": "latte"}, message=one) for one in said]

    assert [one.outcome for one in found] == ["ok", "denied"]
    assert found[1].error is not None
    assert found[1].error.code == "not_stated_by_user"
