"""What a newcomer runs into in the first hour: prints, missing parts, folders without a project."""

import json
import signal
import sys
from pathlib import Path

import pytest
from tests.command import apart
from tests.terminal import Terminal

TALKS = """\
print("loaded")


def say_hello(name):
    print("at work")
    return {"greeting": name}
"""


def test_a_tools_prints_are_not_data(project) -> None:
    project.write("tools_md/say_hello.py", TALKS)

    typed = project("call", "say_hello", "name=Ana")

    assert json.loads(typed.out) == {"greeting": "Ana"}
    assert "loaded\nat work\n" in typed.err


def test_no_summary_of_a_verb_is_cut_off(console) -> None:
    for words in ([], ["new"], ["runs"]):
        assert "..." not in console(*words, "--help").out.partition("\n\n")[2]


def test_on_a_narrow_terminal_no_summary_is_cut_off_either(console) -> None:
    done = apart(console.folder, sys.executable, "-m", "toolmd", "--help", COLUMNS="50")

    assert "..." not in done.stdout.partition("\n\n")[2]
    assert max(map(len, done.stdout.splitlines())) <= 50


def test_the_installed_plugins_are_listed_without_a_project(console) -> None:
    typed = console("plugins", "--json")

    assert (json.loads(typed.out), typed.code) == ([], 0)
    assert not list(console.folder.iterdir())


def test_the_plugins_of_settings_that_can_not_be_read_are_not_guessed(console) -> None:
    console.write("toolmd.toml", "tools = [\n")

    assert console("plugins").code == 2


@pytest.mark.parametrize("name", ["json", "toolmd"])
def test_a_plugin_that_could_never_be_imported_is_not_written(console, name: str) -> None:
    typed = console("new", "plugin", name)

    assert f"help: choose another name, such as {name}_tools" in typed.err
    assert typed.code == 2
    assert not list(console.folder.iterdir())


def test_an_incomplete_list_names_the_check_command(project) -> None:
    project.write("tools_md/greet.tool.md", "# Greet\n")

    assert "say_hello" in project("list").out
    assert "`toolmd check`" in project("list").err


def test_unreadable_python_is_reported_once_with_its_line(project) -> None:
    project.write("tools_md/say_hello.py", "def say_hello(name:\n")

    told = project("check").out.splitlines()[0]
    assert told.startswith("tools_md/say_hello.py:1:1: error[broken-implementation]")
    assert told.endswith("can't be imported: SyntaxError: '(' was never closed")


def test_a_module_in_a_folder_of_tools_is_imported_by_its_path(project) -> None:
    told = project("import", "python", "say_hello")

    assert told.err.endswith("; did you mean tools_md/say_hello.py?\n")
    assert told.code == 5


def test_an_invalid_plugin_of_a_folder_is_reported_with_its_line(project) -> None:
    project.write("tools_md/plugin.py", "x = 1\ndef broken(:\n")

    assert "tools_md/plugin.py:2" in project("check").out


def test_drawing_a_tool_reports_that_it_is_not_a_skill(project) -> None:
    typed = project("graph", "say_hello")

    told = "error: 'say_hello' is a tool: call it with `toolmd call say_hello`\n"
    assert (typed.err, typed.code) == (told, 5)


def test_an_unknown_name_is_reported_with_the_way_to_list_names(project) -> None:
    assert "`toolmd list` shows what is there" in project("test", "bananas").err


def test_an_engine_that_does_not_answer_is_found_by_the_doctor(project) -> None:
    engine = "postgresql://ana:secret@127.0.0.1:1/runs"
    words = (sys.executable, "-m", "toolmd", "doctor", "--json")

    done = apart(project.folder, *words, TOOLMD_STORE=engine)

    (sign,) = (sign for sign in json.loads(done.stdout) if sign["about"] == "store")
    assert sign["state"] == "bad"
    assert "postgresql://ana:***@127.0.0.1:1/runs can't be reached" in sign["found"]
    assert "secret" not in done.stdout + done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("words", "lacks", "said"),
    [
        ("dev", "starlette", "extra `server`, which is not installed (missing: starlette): pip"),
        ("dev", "httptools", "(missing: httptools): pip install 'toolmd[server]'"),
        ("lsp", "pygls", "the language server needs the package pygls: pip install 'toolmd[l"),
        ("chat --model m hi", "openai", "needs the package openai: pip install 'toolmd[chat]'"),
    ],
)
def test_a_part_that_is_not_installed_is_named_with_its_remedy(
    project, words: str, lacks: str, said: str
) -> None:
    """The import is refused as it is where a package is not there."""
    code = (
        "import sys\n"
        "class Lacks:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {lacks!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Lacks())\n"
        "import importlib.util\n"
        "whole = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda n, *a: None if n == {lacks!r} else whole(n, *a)\n"
        "from toolmd._cli.main import main\n"
        f"sys.exit(main({words.split()!r}))"
    )
    done = apart(project.folder, sys.executable, "-c", code, OPENROUTER_API_KEY="k")

    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["check -", "fmt -", "show --file -", "call say_hello -"])
def test_a_command_that_reads_stdin_says_so_and_ctrl_c_ends_it(project, words: str) -> None:
    shown, code = interrupted(project.folder, words, "end it with Ctrl-D.")

    assert shown.count("\n") <= 2
    assert code == 130


@pytest.mark.parametrize(("words", "sign"), [("serve", "mcp.md"), ("lsp", "editor.md")])
def test_ctrl_c_ends_a_command_that_waits_on_a_pipe(project, words: str, sign: str) -> None:
    _, code = interrupted(project.folder, words, sign)

    assert code in {0, 130, -signal.SIGINT}


def interrupted(folder: Path, words: str, sign: str) -> tuple[str, int]:
    """Type a command on a terminal of its own, and Ctrl-C once it shows `sign`."""
    terminal = Terminal(folder, *words.split(), TERM="xterm", NO_COLOR="1")
    terminal.wait(sign)
    code = terminal.press_until_end("C")
    return terminal.shown, code


def test_the_doctor_finds_a_full_disk(project) -> None:
    assert project("list").code == 0
    command = f"ulimit -f 0; {sys.executable} -m toolmd doctor --json"

    done = apart(project.folder, "bash", "-c", f"set -o pipefail; {command} | cat")

    (sign,) = (sign for sign in json.loads(done.stdout) if sign["about"] == "state")
    assert sign["state"] == "bad"
    assert sign["remedy"].endswith("or set TOOLMD_STATE")


def test_a_state_folder_that_could_not_be_completed_is_removed(project) -> None:
    """No file of it may hold a byte, as on a full disk; what is there then has its .gitignore."""
    state = project.folder / ".toolmd"
    listed = [sys.executable, "-m", "toolmd", "list"]

    apart(project.folder, "bash", "-c", f"ulimit -f 0; {' '.join(listed)} | true")
    assert not list(project.folder.glob(".toolmd*"))

    apart(project.folder, *listed)
    assert (state / ".gitignore").read_text("utf-8") == "*\n"
    assert list(project.folder.glob(".toolmd*")) == [state]


@pytest.mark.parametrize(
    ("verb", "extra"),
    [
        ("dev", "toolmd[server,mcp]"),
        ("serve", "toolmd[mcp,server]"),
        ("chat", "toolmd[chat]"),
        ("lsp", "toolmd[lsp]"),
        ("import", "toolmd[mcp]"),
    ],
)
def test_the_help_of_a_verb_names_the_extra_that_it_needs(project, verb: str, extra: str) -> None:
    assert extra in "".join(project(verb, "--help").out.split())
