"""`toolmd tokens`: a token is printed once, and the settings keep its hash only."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolmd.config import load_settings

OWN = """# Ours
tools = ["tools_md"]  # here

[serve]
max_connections = 100
"""


@pytest.fixture(params=["toolmd.toml", "pyproject.toml"])
def file(request: Any, tmp_path: Path) -> Path:
    made = tmp_path / request.param
    text = OWN
    if request.param == "pyproject.toml":
        text = (
            '[project]\nname = "x"\n\n[tool.toolmd]\ntools = ["tools_md"]\n\n[tool.other]\na = 1\n'
        )
    made.write_text(text, "utf-8")
    return made


@pytest.fixture
def tokens(console: Any) -> Callable[..., Any]:
    return lambda *words: console("tokens", *words)


def test_a_token_may_allow_several_values_of_a_fact(tokens: Callable[..., Any], file: Path) -> None:
    facts = ("branch=north", "branch=south", "branch=north", "patient=P-1")
    words = [word for fact in facts for word in ("--context", fact)]

    assert tokens("new", "--user", "ana", *words).code == 0

    (token,) = load_settings(file.parent).serve.tokens
    assert token.context == {"branch": ("north", "south"), "patient": ("P-1",)}
    assert "branch=north|south, patient=P-1" in tokens().out


def test_a_new_token_is_printed_once_and_its_hash_is_added(
    tokens: Callable[..., Any], file: Path
) -> None:
    before = file.read_text("utf-8")
    words = ("--user", "ana", "--may", "decide,call", "--context", "patient=P-1")

    made = tokens("new", *words)

    assert made.code == 0
    secret = made.out.strip()
    (token,) = load_settings(file.parent).serve.tokens
    assert token.sha256 == hashlib.sha256(secret.encode()).hexdigest()
    assert (token.user, token.may, token.context) == (
        "ana", ("call", "decide"), {"patient": ("P-1",)},
    )  # fmt: skip
    assert file.read_text("utf-8").startswith(before.rstrip())
    assert secret not in file.read_text("utf-8")
    listed = tokens()
    assert f"{token.sha256[:12]}  ana   call, decide  patient=P-1" in listed.out
    assert secret not in listed.out + listed.err
    assert json.loads(tokens("--json").out)[0]["may"] == ["call", "decide"]


def test_by_default_a_token_may_only_call(tokens: Callable[..., Any], file: Path) -> None:
    tokens("new", "--user", "host")

    assert load_settings(file.parent).serve.tokens[0].may == ("call",)


def test_a_revoked_token_is_removed_and_nothing_else(
    tokens: Callable[..., Any], file: Path
) -> None:
    before = file.read_text("utf-8")
    for user in ("ana", 'e"v\\e'):
        assert tokens("new", "--user", user).code == 0
    both = load_settings(file.parent).serve.tokens

    assert tokens("revoke", both[0].sha256[:8]).code == 0
    assert load_settings(file.parent).serve.tokens == both[1:]
    assert tokens("revoke", both[1].sha256).code == 0
    assert file.read_text("utf-8") == before


def test_an_unknown_token_or_right_is_an_error(tokens: Callable[..., Any], file: Path) -> None:
    before = file.read_text("utf-8")

    assert tokens("revoke", "abc").code == 5
    assert tokens("new", "--user", "ana", "--may", "fly").code == 2
    assert tokens("new", "--user", "").code == 2
    assert file.read_text("utf-8") == before


def test_a_file_of_another_form_is_left_alone(tokens: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "toolmd.toml"
    digest = "a" * 64
    text = f'serve = {{ tokens = [{{ sha256 = "{digest}", user = "ana" }}] }}\n'
    file.write_text(text, "utf-8")

    made = tokens("new", "--user", "eve")
    revoked = tokens("revoke", "aaa")

    assert made.code == 0
    assert "Add this to the settings" in made.err
    assert "[[serve.tokens]]" in made.err
    assert revoked.code == 2
    assert digest in revoked.err
    assert file.read_text("utf-8") == text


def test_tokens_of_the_environment_are_not_written_to_the_file(
    tokens: Callable[..., Any], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_text("utf-8")
    monkeypatch.setenv("TOOLMD_SERVE_TOKENS", json.dumps([{"sha256": "b" * 64, "user": "ana"}]))

    assert "Add this to the settings" in tokens("new", "--user", "eve").err
    assert tokens("revoke", "bbb").code == 2
    assert file.read_text("utf-8") == before
