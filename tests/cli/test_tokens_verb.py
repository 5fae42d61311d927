"""`toolmd tokens new`: a token is printed once, with the table that the settings need."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from toolmd.config import load_settings


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("toolmd.toml", 'tools = ["tools_md"]\n'),
        ("pyproject.toml", '[project]\nname = "x"\n\n[tool.toolmd]\ntools = ["tools_md"]\n'),
    ],
)
def test_a_new_token_is_printed_once_and_its_table_fits_the_settings(
    console: Any, tmp_path: Path, name: str, text: str
) -> None:
    file = tmp_path / name
    file.write_text(text, "utf-8")
    facts = ("branch=north", "branch=south", "branch=north", "patient=P-1")
    words = [word for fact in facts for word in ("--context", fact)]

    made = console("tokens", "new", "--user", "ana", "--may", "decide,call", *words)

    assert made.code == 0
    secret, table = made.out.strip(), made.err.split("\n\n")[1]
    file.write_text(f"{text}\n{table}\n", "utf-8")
    (token,) = load_settings(tmp_path).serve.tokens
    assert token.sha256 == hashlib.sha256(secret.encode()).hexdigest()
    assert (token.user, {*token.may}) == ("ana", {"call", "decide"})
    assert token.context == {"branch": ("north", "south"), "patient": ("P-1",)}
    assert secret not in made.err


def test_a_new_token_as_json_may_only_call(project: Any) -> None:
    made = json.loads(project("tokens", "new", "--user", 'e"v\\e', "--json").out)

    assert (made["user"], made["may"], made["context"]) == ('e"v\\e', ["call"], {})
    assert made["sha256"] == hashlib.sha256(made["token"].encode()).hexdigest()


@pytest.mark.parametrize("words", [("--user", "ana", "--may", "fly"), ("--user", "")])
def test_an_unknown_right_and_an_empty_user_are_errors(project: Any, words: Any) -> None:
    assert project("tokens", "new", *words).code == 2
