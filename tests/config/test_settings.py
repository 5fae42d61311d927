"""Settings: four sources in one order, and nothing unreadable passed over."""

from pathlib import Path

import pytest

from toolmd._types.settings import ChatSettings, SafetySettings
from toolmd.config import find_project, load_settings
from toolmd.errors import ConfigError


def write(folder: Path, text: str, name: str = "toolmd.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_given_folder_needs_no_settings_file(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, environ={})

    assert settings.tools == ("tools_md",)
    assert settings.skills == ("skills_md",)
    assert settings.state == tmp_path / ".toolmd"
    assert settings.safety == SafetySettings()
    assert settings.plugins is None


def test_the_command_line_overrides_the_environment_which_overrides_the_file(
    tmp_path: Path,
) -> None:
    write(tmp_path, 'store = "memory"\n[safety]\nfloor = 0.1\ndefault_min = 0.2\n')
    environ = {"TOOLMD_SAFETY_FLOOR": "0.3", "TOOLMD_SAFETY_DEFAULT_MIN": "0.4"}

    settings = load_settings(tmp_path, overrides={"safety.floor": 0.5}, environ=environ)

    assert settings.store == "memory"
    assert settings.safety.default_min == 0.4
    assert settings.safety.floor == 0.5
    assert settings.origin["safety.floor"] == "command line"


def test_the_table_of_pyproject_is_read(tmp_path: Path) -> None:
    write(tmp_path, '[tool.toolmd]\ntools = ["defs"]\n', "pyproject.toml")

    assert load_settings(tmp_path, environ={}).tools == ("defs",)


def test_the_nearest_project_upward_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "")
    inner = tmp_path / "tools_md" / "deep"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)

    assert find_project(inner) == tmp_path
    assert load_settings(environ={}).root == tmp_path


def test_a_pyproject_without_the_table_is_not_a_project(tmp_path: Path) -> None:
    write(tmp_path, "[project]\nname = 'x'\n", "pyproject.toml")

    assert find_project(tmp_path) is None


def test_two_settings_files_at_once_are_an_error(tmp_path: Path) -> None:
    write(tmp_path, "[safety]\nfloor = 0.5\n")
    write(tmp_path, "[tool.toolmd]\n", "pyproject.toml")

    with pytest.raises(ConfigError, match="keep one of the two"):
        load_settings(tmp_path, environ={})


def test_an_unknown_key_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    write(tmp_path, '[safety]\ncrisis_word = ["help"]\n')

    with pytest.raises(ConfigError, match=r"did you mean 'safety\.crisis_words"):
        load_settings(tmp_path, environ={})


def test_a_safety_key_outside_its_table_is_an_error_that_says_where_it_belongs(
    tmp_path: Path,
) -> None:
    write(tmp_path, "floor = 0.5\n")

    with pytest.raises(ConfigError, match=r"did you mean 'safety\.floor"):
        load_settings(tmp_path, environ={})


@pytest.mark.parametrize(
    "text",
    [
        "[safety]\nfloor = 1.5",
        "[safety]\nfloor = nan",
        "[safety]\nfloor = true",
        '[safety]\nfloor = "0.5"',
        "[safety]\ndefault_min = -0.1",
        '[safety]\ncrisis_words = "help"',
        '[safety]\ncrisis_words = [""]',
        '[safety]\non_missing_confidence = "allow"',
        "safety = 1",
        'audit = "yes"',
        "tools = [1]",
        'store = "mysql://x"',
        "this is no toml",
    ],
)
def test_an_unreadable_value_is_an_error(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)

    with pytest.raises(ConfigError):
        load_settings(tmp_path, environ={})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOOLMD_SAFETY_FLOR", "0.5"),
        ("TOOLMD_SAFETY_STRICT", "1"),
        ("TOOLMD_SAFETY_FLOOR", "high"),
        ("TOOLMD_SAFETY", '{"floor": 0.5}'),
        ("TOOLMD_SERVE", "{}"),
        ("TOOLMD_LOAD_PLUGIN", ""),
        ("TOOLMD_AUDIT", "perhaps"),
    ],
)
def test_a_misspelt_variable_is_an_error(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        load_settings(tmp_path, environ={name: value})


def test_a_variable_of_a_list_has_its_parts_by_commas_or_as_json(tmp_path: Path) -> None:
    environ = {
        "TOOLMD_TOOLS": "defs, more",
        "TOOLMD_SAFETY_CRISIS_WORDS": ' ["no, not again", "flood"]',
    }

    settings = load_settings(tmp_path, environ=environ)

    assert settings.tools == ("defs", "more")
    assert settings.safety.crisis_words == ("no, not again", "flood")


@pytest.mark.parametrize("text", ['["flood"', "[flood, fire]", '{"flood": 1}', '["flood", 1]'])
def test_a_list_in_a_variable_that_is_broken_json_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="TOOLMD_SAFETY_CRISIS_WORDS: must be"):
        load_settings(tmp_path, environ={"TOOLMD_SAFETY_CRISIS_WORDS": text})


@pytest.mark.parametrize(("wrong", "right"), [("saftey", "safety"), ("servr", "serve")])
def test_a_misspelt_table_is_an_error_that_names_the_right_one(
    tmp_path: Path, wrong: str, right: str
) -> None:
    write(tmp_path, f"[{wrong}]\nfloor = 0.5\n")

    with pytest.raises(ConfigError, match=f"did you mean '{right}'"):
        load_settings(tmp_path, environ={})


def test_a_misspelt_code_is_an_error_that_names_the_right_one(tmp_path: Path) -> None:
    write(tmp_path, '[check]\nignore = ["emty-enum"]\n')

    with pytest.raises(ConfigError, match="did you mean 'empty-enum'"):
        load_settings(tmp_path, environ={})


def test_variables_of_others_are_left_alone(tmp_path: Path) -> None:
    load_settings(tmp_path, environ={"TOOLMD_CLINIC_SMS": "outbox", "HOME": "/"})


def test_an_empty_load_plugins_loads_none(tmp_path: Path) -> None:
    write(tmp_path, 'plugins = ["alara"]')

    assert load_settings(tmp_path, environ={}).plugins == ("alara",)
    assert load_settings(tmp_path, environ={"TOOLMD_LOAD_PLUGINS": ""}).plugins == ()
    assert load_settings(tmp_path, environ={"TOOLMD_LOAD_PLUGINS": "a, b"}).plugins == ("a", "b")


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        load_settings(tmp_path / "nowhere", environ={})


def test_without_a_project_the_remedy_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match="toolmd init"):
        load_settings(environ={})


def test_a_folder_of_definitions_is_a_project_by_itself(tmp_path: Path) -> None:
    write(tmp_path / "booking", "# x", "book.tool.md")

    assert load_settings(tmp_path, environ={}).tools == (".",)
    assert load_settings(tmp_path / "booking", environ={}).tools == (".",)


def test_a_broken_pyproject_that_does_not_speak_of_toolmd_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "[broken", "pyproject.toml")
    assert load_settings(tmp_path, environ={}).file is None

    write(tmp_path, "[tool.toolmd\n", "pyproject.toml")
    with pytest.raises(ConfigError, match="can't be read"):
        load_settings(tmp_path, environ={})


def test_a_state_folder_of_an_unknown_user_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no user"):
        load_settings(tmp_path, overrides={"state": "~nobody-of-this-name/x"}, environ={})


def test_the_table_of_chat_is_read(tmp_path: Path) -> None:
    write(tmp_path, '[chat]\nmodel = "m"\n')
    environ = {"TOOLMD_CHAT_BASE_URL": "http://127.0.0.1:1/v1"}
    settings = load_settings(tmp_path, environ=environ)
    assert settings.chat == ChatSettings(model="m", base_url="http://127.0.0.1:1/v1")


BAD_CHATS = ['base_url = "ftp://x"', 'model = ""', "max_tokens = 50"]


@pytest.mark.parametrize("text", [f"[chat]\n{line}\n" for line in BAD_CHATS])
def test_an_invalid_model_or_address_is_an_error(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=r"chat\."):
        load_settings(tmp_path, environ={})


def test_tokens_are_known_by_their_hashes_alone(tmp_path: Path) -> None:
    digest = "ab" * 32
    context = 'context = { patient = ["p1"] }'
    text = f'[serve]\ntokens = [{{ sha256 = "{digest}", user = "ana", {context} }}]\n'
    (tmp_path / "toolmd.toml").write_text(text, encoding="utf-8")

    token = load_settings(tmp_path, environ={}).serve.tokens[0]

    assert (token.sha256, token.user, token.context) == (digest, "ana", {"patient": ("p1",)})


@pytest.mark.parametrize(
    "wrong",
    ["{}", "[1]", '[{"user": "a"}]', '[{"sha256": "secret", "user": "a"}]', "no json",
     '[{"sha256": "%s", "user": ""}]',
     '[{"sha256": "%s", "user": "a", "context": ["p"]}]',
     '[{"sha256": "%s", "user": "a", "context": {"patient": "p"}}]',
     '[{"sha256": "%s", "user": "a", "context": {"a b": ["p"]}}]',
     '[{"sha256": "%s", "user": "a", "context": {"a-b": ["p"], "a_b": ["q"]}}]',
     '[{"sha256": "%s", "user": "a", "admin": true}]',
     '[{"sha256": "%s", "user": "a"}, {"sha256": "%s", "user": "b"}]'],
)  # fmt: skip
def test_an_unreadable_token_is_an_error(tmp_path: Path, wrong: str) -> None:
    text = wrong.replace("%s", "ab" * 32)

    with pytest.raises(ConfigError, match="TOOLMD_SERVE_TOKENS"):
        load_settings(tmp_path, environ={"TOOLMD_SERVE_TOKENS": text})
