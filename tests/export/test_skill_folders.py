"""An Agent Skill comes out of Toolmd as it went in, with every file of its folder."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolmd import Workspace
from toolmd._cli.main import main

SKILL = """---
name: pdf-forms
description: >-
  Fill in PDF forms.
  Use when the user has one.
license:   Apache-2.0
allowed-tools: Bash(python:*) Read
metadata: {author: someone, version: "1.2"}
---

PDF forms
=========

Look at the form first, as in references/forms.md.

## Ground rules

* Never send the form.
* You must ask first.

## Steps

1) Read the fields.
2) Fill them in.
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, and a folder of skills from elsewhere."""
    (tmp_path / "toolmd.toml").write_text('tools = []\nskills = ["skills_md"]\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def content(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_skill_comes_out_byte_for_byte_with_its_files(place: Path) -> None:
    files = {
        "pdf-forms/SKILL.md": SKILL.replace("\n", "\r\n").encode("utf-8-sig"),
        "pdf-forms/references/forms.md": b"# Forms\n",
        "pdf-forms/scripts/fill.py": b"print('filled')\n",
        "pdf-forms/logo.png": bytes(range(256)),
        "pdf-forms/LICENSE.txt": b"",
    }
    write(place / "theirs", files)
    script = place / "theirs/pdf-forms/scripts/fill.py"
    script.chmod(0o755)

    assert main(["import", "agentskills", "theirs"]) == 0
    assert main(["fmt"]) == 0
    assert main(["export", "agentskills", "--out", "back"]) == 0

    assert content(place / "back") == files
    assert (place / "back/pdf-forms/scripts/fill.py").stat().st_mode & 0o111
    assert not (place / "back/pdf-forms/logo.png").stat().st_mode & 0o111


NAMES = st.text("abcxyz019_-", min_size=1, max_size=6).map(lambda name: f"f{name}")
TEXT = st.text(st.characters(codec="utf-8"), max_size=300)


@settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(body=TEXT, files=st.dictionaries(NAMES, st.binary(max_size=50), max_size=4))
def test_whatever_stands_in_a_skill_comes_out_again(
    tmp_path_factory: pytest.TempPathFactory, body: str, files: dict[str, bytes]
) -> None:
    place = tmp_path_factory.mktemp("skills")
    (place / "toolmd.toml").write_text("tools = []\n", "utf-8")
    head = "---\nname: any\ndescription: Anything.\n---\n"
    given_ = {"any/SKILL.md": (head + body).encode()}
    given_ |= {f"any/{name}": data for name, data in files.items()}
    write(place / "theirs", given_)

    words = ["--project", str(place), "--out", str(place / "skills_md")]
    code = main(["import", "agentskills", str(place / "theirs"), *words])
    if code == 1:
        return  # The whole skill was refused, and nothing was written.
    with Workspace.open(place) as workspace:
        exported = workspace.exported("agentskills")

    assert exported.items[0].get("text", "").encode() == given_["any/SKILL.md"], exported.losses
    assert {item["path"] for item in exported.items} == {*given_}


def test_an_edited_skill_gets_a_new_text_and_keeps_its_files(place: Path) -> None:
    write(place / "theirs/pdf-forms", {"SKILL.md": SKILL.encode(), "forms.md": b"Forms"})
    main(["import", "agentskills", "theirs"])
    file = place / "skills_md/pdf-forms.skill.md"
    file.write_text(file.read_text("utf-8").replace("ask first", "ask twice"), "utf-8")
    with Workspace.open(place) as workspace:
        exported = workspace.exported("agentskills")

    text = exported.items[0]["text"]
    assert [item["path"] for item in exported.items] == ["pdf-forms/SKILL.md", "pdf-forms/forms.md"]
    assert "## Ground rules\n\n- Never send the form.\n- You must ask twice." in text
    assert 'allowed-tools: "Bash(python:*) Read"' in text
    assert ["a new SKILL.md" in loss.what for loss in exported.losses] == [True]


def test_a_skill_of_ones_own_is_exported_with_all_its_sections(place: Path) -> None:
    write(place / "theirs/pdf-forms", {"SKILL.md": SKILL.encode()})
    main(["import", "agentskills", "theirs"])
    (place / "skills_md/pdf-forms/SKILL.md").unlink()
    with Workspace.open(place) as workspace:
        (item,) = workspace.export("agentskills")

    assert "Never send the form." in item["text"]
    assert "license: Apache-2.0" in item["text"]


@pytest.mark.parametrize(
    "name", [".env", "scripts/.git/config", "own.tool.md", "__pycache__/x.pyc"]
)
def test_what_is_not_the_skills_is_left_out(place: Path, name: str) -> None:
    write(place / "theirs/pdf-forms", {"SKILL.md": SKILL.encode(), name: b"x"})
    main(["import", "agentskills", "theirs"])

    assert [*content(place / "skills_md/pdf-forms")] == ["SKILL.md"]


@pytest.mark.parametrize("name", ["link", "scripts/link"])
def test_a_link_is_never_followed(place: Path, name: str, capsys: pytest.CaptureFixture) -> None:
    write(place, {"secret.txt": b"secret", "theirs/pdf-forms/SKILL.md": SKILL.encode()})
    link = place / "theirs/pdf-forms" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(place / "secret.txt")
    main(["import", "agentskills", "theirs"])
    assert f"{name} is left out: a link" in capsys.readouterr().err

    link = place / "skills_md/pdf-forms" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(place / "secret.txt")
    with Workspace.open(place) as workspace:
        exported = workspace.exported("agentskills")
    assert "secret" not in str(exported.items)


def test_a_folder_without_a_skill_file_gives_only_its_known_parts(place: Path) -> None:
    write(place / "theirs/pdf-forms", {"SKILL.md": SKILL.encode()})
    main(["import", "agentskills", "theirs"])
    (place / "skills_md/pdf-forms/SKILL.md").unlink()
    write(place / "skills_md/pdf-forms", {"notes.txt": b"mine", "references/a.md": b"A"})
    with Workspace.open(place) as workspace:
        items = workspace.export("agentskills")

    assert [item["path"] for item in items] == ["pdf-forms/SKILL.md", "pdf-forms/references/a.md"]


def test_a_folder_that_is_too_large_is_left_whole(place: Path) -> None:
    files = {f"references/{number}": b"" for number in range(1001)}
    write(place / "theirs/pdf-forms", {"SKILL.md": SKILL.encode(), **files})

    assert main(["import", "agentskills", "theirs"]) == 0
    assert [*content(place / "skills_md")] == ["pdf-forms.skill.md"]


def test_an_export_never_overwrites_without_force(place: Path) -> None:
    write(place / "theirs/pdf-forms", {"SKILL.md": SKILL.encode()})
    main(["import", "agentskills", "theirs"])
    write(place / "back/pdf-forms", {"SKILL.md": b"mine"})

    assert main(["export", "agentskills", "--out", "back"]) == 2
    assert content(place / "back") == {"pdf-forms/SKILL.md": b"mine"}
    assert main(["export", "agentskills", "--out", "back", "--force"]) == 0
    assert content(place / "back") == {"pdf-forms/SKILL.md": SKILL.encode()}


@pytest.mark.parametrize(("target", "name"), [("openai", "openai.json"), ("prompt", "prompt.md")])
def test_every_other_target_is_one_file(place: Path, target: str, name: str) -> None:
    assert main(["export", target, "--out", "back"]) == 0
    assert [*content(place / "back")] == [name]


def test_an_original_that_is_exported_loses_nothing(place: Path) -> None:
    text = SKILL.replace("Fill in PDF forms.", "Fill in PDF forms. " * 60)
    write(place / "theirs/pdf-forms", {"SKILL.md": text.encode()})
    main(["import", "agentskills", "theirs"])
    with Workspace.open(place) as workspace:
        exported = workspace.exported("agentskills")

    assert exported.losses == ()
    assert exported.items[0]["text"] == text
