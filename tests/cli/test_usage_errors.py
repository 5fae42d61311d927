"""Each common mistake of a newcomer gets one clear message, and never a traceback."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command import run_command

WHOLE = Path("/dev/full")
"""A device that is always full, if the system has one."""


def shell(folder: Path, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Type a command into a shell of its own."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    quiet = {"PATH": path, "HOME": str(folder), "TOOLMD_LOAD_PLUGINS": "", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=quiet | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "said", "help_"),
    [
        ("chek", "no such command 'chek'", "did you mean 'check'?"),
        ("new tol x", "no such command 'tol'", "did you mean 'tool'?"),
        ("runs list", "no such command 'list'", "of `toolmd runs` are show, resume, cancel, "),
        ("call x --json-args {}", "no such option: --json-args", "did you mean --json?"),
        ("call", "missing argument 'TOOL'", "write toolmd call "),
        ("call x --confidence 2", "invalid value for '--confidence': ", "write toolmd call "),
        ("serve --transport tcp", "'tcp' is not one of 'stdio', ", "toolmd serve -h"),
        ("init a b", "got unexpected extra argument(s) (b)", "write toolmd init "),
    ],
)
def test_usage_errors_have_the_form_of_other_errors(console, words, said, help_) -> None:
    typed = console(*words.split())

    error, remedy = typed.err.splitlines()
    assert error.startswith("error: ")
    assert said in error
    assert remedy.startswith("help: ")
    assert help_ in remedy
    assert (typed.out, typed.code) == ("", 2)


@pytest.mark.parametrize(
    ("role", "help_"),
    [("manger", "did you mean 'manager'?"), ("zzz", "the settings have clerk, manager")],
)
@pytest.mark.parametrize("words", ["call x", "run x", "handle", "confirm x", "pending", "serve"])
def test_a_role_that_the_settings_do_not_declare_is_an_error(console, words, role, help_) -> None:
    console.write("toolmd.toml", '[identity]\nroles = ["clerk", "manager"]\n')
    typed = console(*words.split(), "--role", "clerk", "--role", role)
    error, remedy = typed.err.splitlines()
    assert error == f"error: --role {role} is no role of `[identity] roles`"
    assert (remedy, typed.code) == (f"help: {help_}", 2)


USERS = "call x|handle|run x|chat|serve|dev|pending|confirm x|reject x|respond x y".split("|")


@pytest.mark.parametrize("verb", USERS)
def test_an_empty_user_is_a_usage_error_of_every_verb(console, verb) -> None:
    typed = console(*verb.split(), "--user", " ")
    assert typed.err.startswith("error: invalid value for '--user': it is empty; name the user")
    assert (typed.out, typed.code) == ("", 2)


CODES = """
    check 01|fmt 1|test 15|export 15|audit 1|doctor 1|show 15|graph 5|rule 5|accept 5|import 15|
    call 01345|handle 01345|run 01345|chat 01245|confirm 01345|reject 0345|respond 0345|
    runs show 5|runs resume 01345|runs cancel 0145|runs resolve 01345
""".split("|")
"""The exit codes of each verb, without 2 and 70, which every verb has."""


@pytest.mark.parametrize("line", CODES)
def test_the_help_of_a_verb_names_its_exit_codes(console, line) -> None:
    *verb, codes = line.split()
    shown = " ".join(console(*verb, "--help").out.split())
    sentence = re.search(r"Exit codes?(, the worst of its calls)?:? ([^.]*)", shown)
    assert sentence is not None, shown
    assert "".join(sorted(re.findall(r"(?<![-\w])\d(?!\w)", sentence[2]))) == codes


def test_arguments_that_a_skill_denies_print_denied(shop) -> None:
    typed = shop("run", "make_bouquet", "kind=rose", "number=many")
    assert typed.err.startswith("denied[invalid_arguments] ")
    assert typed.code == 3


def test_a_group_without_its_command_shows_its_help(console) -> None:
    typed = console("new")
    assert typed.err.startswith("Usage: toolmd new ")
    assert typed.code == 2


def test_a_verb_outside_a_project_says_how_one_is_made(console) -> None:
    typed = console("list")
    assert "no project here or above; run `toolmd init`, or name one with --project" in typed.err
    assert typed.code == 2


def test_an_argument_without_a_name_gets_the_names(project) -> None:
    typed = project("call", "say_hello", "Ana")
    assert typed.err == (
        "error: 'Ana' is not of the form key=value\nhelp: write name=…, or --args-json '{…}'\n"
    )
    assert typed.code == 2


def test_json_without_quotes_gets_a_hint(project) -> None:
    typed = project("call", "say_hello", "--args-json", "{name: Ana}")
    assert typed.err.startswith("denied[malformed_call] the arguments are not JSON: ")
    assert """help: the shell removes quotes: use --args-json '{"key": "value"}'""" in typed.err


def test_a_misspelt_tool_gets_a_suggestion(project) -> None:
    typed = project("call", "say_helo", "name=Ana")
    assert "did you mean 'say_hello'?" in typed.err
    assert (
        "help: `toolmd list` shows what is there, and `toolmd check` what is broken\n" in typed.err
    )
    assert typed.code == 5


def test_a_broken_file_is_named_after_the_denial(project) -> None:
    project.write("tools_md/greet.tool.md", "# Greet\n")
    typed = project("call", "greet")
    refused, help_ = typed.err.splitlines()
    assert refused.startswith("denied[unknown_tool]")
    assert help_ == "help: its file has errors: toolmd check tools_md/greet.tool.md"


def test_a_missing_python_file_is_named(project) -> None:
    (project.folder / "tools_md/say_hello.py").unlink()

    assert project("check").err.endswith("say_hello.\nhelp: write tools_md/say_hello.py\n")
    typed = project("call", "say_hello", "name=Ana")
    assert typed.err.startswith("failed[not_implemented]")
    assert typed.err.endswith("help: write tools_md/say_hello.py\n")


def test_a_python_file_of_nearly_the_right_name_is_named(project) -> None:
    python = project.folder / "tools_md/say_hello.py"
    # Under its right name the function would be found in any file of the folder.
    python.with_name("say_helo.py").write_text(
        python.read_text().replace("def say_hello", "def hi")
    )
    python.unlink()
    assert "rename tools_md/say_helo.py to say_hello.py" in project("check").err


def test_many_tools_without_python_are_counted_and_named(project) -> None:
    text = (project.folder / "tools_md/say-hello.tool.md").read_text("utf-8")
    for word in ("one", "two", "three", "four"):
        project.write(f"tools_md/{word}.tool.md", text.replace("say_hello", word))
    typed = project("check")
    names = "four, one, three, two"
    assert typed.err.endswith(f" 4 tools have no Python yet, so calls fail: {names}.\n"), typed.err


def test_python_that_lacks_a_package_says_which(project) -> None:
    project.write("tools_md/say_hello.py", "import no_such_package\n")
    typed = project("check")
    assert (
        "can't be imported: ModuleNotFoundError: No module named 'no_such_package'\n" in typed.out
    )
    assert "help: install what gives `no_such_package`, or fix the import\n" in typed.out


def test_a_crash_of_a_tools_python_is_one_line(project) -> None:
    project.write("tools_md/say_hello.py", "def say_hello(name):\n    raise ValueError('late')\n")
    typed = project("call", "say_hello", "name=Ana")
    log, help_, failed = typed.err.splitlines()
    assert log.endswith(": say_hello failed: ValueError: late (tools_md/say_hello.py:2)")
    assert help_ == "help: TOOLMD_DEBUG=1 shows the whole trace"
    assert failed.startswith("failed[tool_error]")


def test_the_debug_variable_shows_the_whole_trace(project) -> None:
    project.write("tools_md/say_hello.py", "def say_hello(name):\n    raise ValueError('late')\n")
    done = run_command(project.folder, "call", "say_hello", "name=Ana", TOOLMD_DEBUG="1")
    assert "Traceback (most recent call last)" in done.err
    assert done.code == 1


def test_a_file_with_another_suffix_is_reported_as_not_loaded(project) -> None:
    tool = project.folder / "tools_md/say-hello.tool.md"
    tool.rename(tool.with_name("say-hello.md"))
    typed = project("check", "tools_md/say-hello.md")
    assert "note: tools_md/say-hello.md is not loaded: rename it to NAME.tool.md" in typed.err


def test_a_file_in_place_of_the_tools_folder_is_reported(project) -> None:
    folder = project.folder / "tools_md"
    folder.rename(project.folder / "elsewhere")
    folder.write_text("", "utf-8")

    assert project("list").err == "Nothing here: `toolmd check` shows why.\n"
    signs = {sign["about"]: sign for sign in json.loads(project("doctor", "--json").out)}
    assert signs["tools_md"]["found"] == "a file, not a folder"
    typed = project("new", "tool", "greet")
    assert (
        "a file, not a folder\nhelp: a file is in the place of a folder: move it away" in typed.err
    )


def test_with_a_file_as_state_folder_calls_are_denied_with_the_reason(project, monkeypatch) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    (project.folder / ".toolmd").write_text("", "utf-8")

    typed = project("call", "say_hello", "name=Ana")
    assert typed.code == 3
    assert "denied[internal_guard_error]" in typed.err
    assert ".toolmd" in typed.err.splitlines()[-1]
    assert "set TOOLMD_STATE" in typed.err.splitlines()[-1]
    typed = project("pending")
    assert typed.code == 5
    assert "a file is in the place of a folder, move it away" in typed.err


def test_a_definition_without_python_names_the_expected_file(project) -> None:
    (project.folder / "tools_md/say-hello.tool.md").rename(project.folder / "tools_md/hi.tool.md")
    (project.folder / "tools_md/say_hello.py").unlink()
    typed = project("call", "say_hello", "name=Ana")
    assert typed.err.endswith("help: write tools_md/hi.py, with a function say_hello\n")


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        (
            "toolmd_guard(spec)",
            "implements toolmd_guard, which is no hook; did you mean 'toolmd_guards'?",
        ),
        ("toolmd_guards(sepc)", "takes 'sepc' in toolmd_guards, which gives spec"),
    ],
)
def test_a_wrong_hook_names_the_expected_form(project, hook, said) -> None:
    text = f"from toolmd import hookimpl\n\n@hookimpl\ndef {hook}:\n    return []\n"
    project.write("tools_md/plugin.py", text)
    assert said in project("check").out
    typed = project("plugins")
    assert said in typed.out
    assert typed.err == ""


def test_a_port_in_use_is_reported_with_the_remedy(project) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        typed = project("serve", "--transport", "http", "--port", port)
    assert typed.err.splitlines()[-2:] == [
        f"error: 127.0.0.1:{port}: Address already in use",
        "help: another program uses that port; --port 0 picks a free one",
    ]
    assert typed.code == 5


def test_a_waiting_run_names_the_command_to_resume_it(shop, monkeypatch) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    waits = shop("run", "make_bouquet", "kind=rose", "number=3")
    assert waits.code == 4
    help_ = waits.err.splitlines()[-1].removeprefix("help: ")
    assert help_.endswith(" [--yes]; toolmd pending lists the questions")

    program, *words = shlex.split(help_.partition(" [")[0])
    assert program == "toolmd"
    assert json.loads(shop(*words, "--yes").out) == {"sold": "3 x rose"}


def test_a_broken_pipe_is_silent_and_keeps_the_exit_code(project) -> None:
    project.write("tools_md/greet.tool.md", "# Greet\n" + "- **x**: y\n" * 3000)
    done = shell(project.folder, "toolmd check --json | true")
    assert (done.stderr, done.returncode) == ("", 1)
    done = shell(project.folder, "toolmd rule --json | true")
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_closed_output_is_not_an_error(project) -> None:
    done = shell(project.folder, "toolmd list >&-")
    assert (done.stderr, done.returncode) == ("1 tool, 0 skills.\n", 0)


@pytest.mark.parametrize("command", ["handle", "serve", "lsp"])
def test_a_closed_input_is_an_empty_one(project, command: str) -> None:
    done = shell(project.folder, f"toolmd {command} <&-")
    assert "Traceback" not in done.stderr
    assert "Toolmd itself failed" not in done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not WHOLE.exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_reported(project) -> None:
    done = shell(project.folder, "toolmd list > /dev/full")
    assert done.stderr.endswith(
        "error: standard output: No space left on device\nhelp: free some space there\n"
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


def test_the_doctor_names_what_an_extra_is_for(project) -> None:
    found = {sign["about"]: sign for sign in json.loads(project("doctor", "--json").out)}
    assert "`toolmd serve`" in found["extra mcp"]["found"]
    assert "`toolmd import python`" in found["extra python"]["found"]
    assert {"extra chat", "extra lsp", "extra mcp", "extra server"} <= found.keys()


def test_a_new_tool_says_what_comes_next(project) -> None:
    typed = project("new", "tool", "greet")
    assert typed.err == "Next: describe the tool in tools_md/greet.tool.md, then run toolmd check\n"


def test_a_checkout_that_can_not_be_written_is_checked_all_the_same(project) -> None:
    (project.folder / ".toolmd").write_text("", "utf-8")
    typed = project("check")
    assert (typed.out, typed.code) == ("", 0)
    assert "note: what is live can't be kept for the next start: " in typed.err


@pytest.mark.parametrize(
    "known", ["tools_md/deep/rose-count.tool.md", "skills_md/rose_count.skill.md"]
)
def test_a_name_that_another_folders_file_has_is_not_written_again(project, known: str) -> None:
    project.write(known, "taken")
    typed = project("new", "tool", "rose-count")
    assert typed.err.startswith(f"error: {known} exists already\n")
    assert typed.code == 2
    assert not (project.folder / "tools_md/rose-count.tool.md").exists()


def test_naming_a_skill_with_no_skills_is_an_error(shop) -> None:
    typed = shop("export", "openai", "make-bouquet", "--no-skills")
    assert "make_bouquet: a skill, and --no-skills at once" in typed.err
    assert (typed.out, typed.code) == ("", 2)


def test_a_name_that_is_typed_twice_is_exported_once(shop) -> None:
    typed = shop("export", "mcp", "sell_flowers", "sell-flowers")
    assert [item["name"] for item in json.loads(typed.out)] == ["sell_flowers"]
    assert typed.err == ""


@pytest.mark.parametrize("target", ["opnai", "OpenAI", "OPENAI"])
def test_a_misspelt_target_gets_a_suggestion(shop, target: str) -> None:
    typed = shop("export", target)
    assert typed.err == f"error: no export target '{target}'; did you mean 'openai'?\n"
    assert typed.code == 5


def test_a_tool_in_capitals_gets_a_suggestion(shop) -> None:
    assert "did you mean 'sell_flowers'" in shop("call", "SELL_FLOWERS").err


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("serve", "--transport", "http", "--host", ""), "the value of --host"),
        (("serve", "--transport", "http", "--allow-host="), "the value of --allow-host"),
        (("fmt", ""), "an argument"),
        (("export", "openai", "--out", ""), "the value of --out"),
        (("--project", "", "list"), "the value of --project"),
        (("chat", "hello", "--model", ""), "the value of --model"),
        (("import", "mcp", "--live", "", "--", "x"), "the value of --live"),
    ],
)
def test_an_empty_value_is_an_error(project, words: tuple[str, ...], what: str) -> None:
    typed = project(*words)
    assert (typed.out, typed.code) == ("", 2)
    assert typed.err == f"error: {what} is empty\nhelp: write a value, or leave it out\n"


def test_a_message_may_be_empty_and_a_value_may_end_with_an_equals_sign(project) -> None:
    for words in (("--message", ""), ("--message=",), ("--context=place=1=",)):
        assert project("call", "say_hello", "name=Ana", *words).code == 0
