"""A command with --json that ends with an error prints it as JSON, too."""

import json

import pytest
import typer

from toolmd._cli.commands import make_app

FAILING: dict[str, tuple[str, int]] = {
    "init": ("init tools_md/sell_flowers.py", 2),
    "new tool": ("new tool sell-flowers", 2),
    "new skill": ("new skill make-bouquet", 2),
    "new plugin": ("new plugin json", 2),
    "import": ("import python nowhere.py", 5),
    "check": ("check nowhere", 5),
    "fmt": ("fmt nowhere", 5),
    "test": ("test nothing", 5),
    "list": ("list --project nowhere", 2),
    "show": ("show nothing", 5),
    "graph": ("graph nothing", 5),
    "export": ("export openai nothing", 5),
    "call": ("call sell_flowers kind", 2),
    "handle": ("handle --dialect none", 5),
    "pending": ("pending --limit 0", 2),
    "confirm": ("confirm nothing --user ''", 2),
    "reject": ("reject nothing --user ''", 2),
    "respond": ("respond nothing --user ''", 2),
    "crises": ("crises nothing", 5),
    "accept": ("accept nothing", 5),
    "servers": ("servers nothing", 5),
    "run": ("run nothing", 5),
    "runs": ("runs --after nothing", 5),
    "runs show": ("runs show nothing", 5),
    "runs resume": ("runs resume nothing", 5),
    "runs cancel": ("runs cancel nothing", 5),
    "runs resolve": ("runs resolve nothing --done", 5),
    "tokens new": ("tokens new --user ''", 2),
    "chat": ("chat hello", 2),
    "audit": ("audit --since never", 2),
    "plugins": ("plugins --nothing", 2),
    "rule": ("rule nothing", 5),
    "doctor": ("doctor --nothing", 2),
}
"""Words that end each command with an error, and its exit code."""
CODES = {1: "failed", 2: "usage", 5: "not_found"}


def _with_json(command: object, path: tuple[str, ...] = ()) -> list[str]:
    """Return the paths of the commands that have the option --json."""
    own = any("--json" in parameter.opts for parameter in command.params)
    below = getattr(command, "commands", {})
    found = [one for name, sub in below.items() for one in _with_json(sub, (*path, name))]
    return [" ".join(path)] * own + found


def test_every_command_with_json_is_tried_here() -> None:
    assert set(_with_json(typer.main.get_command(make_app()))) == FAILING.keys()


@pytest.mark.parametrize(("words", "code"), FAILING.values(), ids=[*FAILING])
def test_an_error_is_json_on_stdout_and_text_on_stderr(shop, words: str, code: int) -> None:
    typed = shop(*(word.strip("'") for word in words.split()), "--json")
    printed = json.loads(typed.out)
    error = printed["error"]
    assert (printed["success"], error["code"], typed.code) == (False, CODES[code], code)
    assert f"error: {error['message']}\n" in typed.err
    assert shop(*(word.strip("'") for word in words.split())).out == ""


@pytest.mark.parametrize("words", ["show", "export openai"])
def test_a_file_with_errors_ends_with_one_as_json(shop, words: str) -> None:
    shop.write("broken.tool.md", "no heading\n")
    typed = shop(*words.split(), "--file", "broken.tool.md", "--json")
    assert json.loads(typed.out)["error"] == {
        "code": "failed",
        "message": "broken.tool.md has errors",
        "help": "`toolmd check broken.tool.md --json` prints them as JSON",
    }
    assert typed.code == 1


def test_a_word_after_two_dashes_asks_for_no_json(shop) -> None:
    assert shop("show", "--", "--json").out == ""


@pytest.mark.parametrize("form", ["--output-format json", "--output-format=json"])
def test_check_writes_an_error_in_the_form_that_was_asked_for(shop, form: str) -> None:
    assert json.loads(shop("check", "nowhere", *form.split()).out)["error"]["code"] == "not_found"
    assert shop("check", "nowhere", "--output-format", "sarif").out == ""


def test_check_writes_one_form(shop) -> None:
    typed = shop("check", "--json", "--output-format", "sarif")
    assert (json.loads(typed.out)["error"]["code"], typed.code) == ("usage", 2)
    assert shop("check", "--json", "--output-format", "json").code == 0


def test_a_result_as_json_leaves_the_remedy_on_stderr(shop) -> None:
    typed = shop("call", "sell_flower", "--json")
    assert json.loads(typed.out)["error"]["code"] == "unknown_tool"
    assert (
        typed.err == "help: `toolmd list` shows what is there, and `toolmd check` what is broken\n"
    )


def test_a_list_as_json_leaves_the_note_about_broken_files_on_stderr(shop) -> None:
    shop.write("tools_md/broken.tool.md", "# Broken\n")
    typed = shop("list", "--json")
    assert "broken" not in typed.out
    assert "some definitions may be missing: `toolmd check`" in typed.err
