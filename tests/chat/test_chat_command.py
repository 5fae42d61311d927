"""`toolmd chat`, in a process and on a terminal of its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from nursery import DEFINITIONS
from tests.command import Ended, run_command
from tests.terminal import TIMEOUT_S, Terminal

from toolmd.testing import ModelServer, RawReply, asking

SIGNATURES = {
    "look_up": "plant: str",
    "water": "plant: str, litres: int",
    "plant_tree": "kind: str, number: int",
    "fell_tree": "number: int",
    "remind": "time: str",
}
PLANT = asking(("plant_tree", {"kind": "oak", "number": 3}))
WATER = asking(("water", {"plant": "fern", "litres": 2}))
QUESTION = "kind: oak, number: 3"


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    (tmp_path / "toolmd.toml").write_text('[chat]\nmodel = "scripted"\n')
    tools = tmp_path / "tools_md"
    tools.mkdir()
    for file, text in DEFINITIONS.items():
        name = file.partition(".")[0]
        (tools / file).write_text(text)
        values = ", ".join(part.partition(":")[0] for part in SIGNATURES[name].split(", "))
        (tools / f"{name}.py").write_text(
            "from pathlib import Path\n\n\n"
            f"def {name}({SIGNATURES[name]}) -> dict:\n"
            '    with Path("done.txt").open("a") as file:\n'
            f'        print("{name}", {values}, file=file)\n'
            f'    return {{"message": "{name} is done"}}\n'
        )
    return tmp_path


def done(garden: Path) -> list[str]:
    file = garden / "done.txt"
    return file.read_text().splitlines() if file.exists() else []


def typed(
    garden: Path, server: ModelServer | None, *words: str, stdin: str = "", **environ: str
) -> Ended:
    address = [] if server is None else ["--base-url", server.base_url]
    return run_command(garden, "chat", *address, *words, stdin=stdin, **environ)


def on_terminal(garden: Path, server: ModelServer, *words: str) -> Terminal:
    return Terminal(garden, "chat", "--base-url", server.base_url, *words, OPENAI_API_KEY="k")


def wait_for(happened: Callable[[], object]) -> None:
    until = monotonic() + TIMEOUT_S
    while not happened():
        assert monotonic() < until


def test_one_message_is_answered(garden) -> None:
    with ModelServer({**WATER, "content": "At once."}, "The fern is happy.") as server:
        ended = typed(garden, server, "Water the fern", OPENAI_API_KEY="sk-mine")
    assert ended.code == 0, ended.err
    assert ended.out == "At once.\nThe fern is happy.\n"
    assert ended.err == "ok water: water is done\n"
    assert done(garden) == ["water fern 2"]
    assert server.keys == ["Bearer sk-mine"] * 2
    assert server.heard[0]["model"] == "scripted"


def test_the_answer_as_json(garden) -> None:
    with ModelServer(WATER, "Done.") as server:
        ended = typed(garden, server, "--json", "Water the fern")
    said = json.loads(ended.out)
    assert said["text"] == "Done."
    assert said["results"][0]["tool"] == "water"
    assert (said["pending"], said["crisis"], said["stopped"]) == ([], False, "")


def test_words_are_streamed_on_a_terminal(garden) -> None:
    with ModelServer("Hello there.", "Whole.") as server:
        terminal = on_terminal(garden, server, "Hi")
        assert terminal.end() == 0
        assert "Hello there." in terminal.shown
        assert on_terminal(garden, server, "--no-stream", "Hi").end() == 0
    assert [request.get("stream") for request in server.heard] == [True, None]


def test_the_message_may_come_from_stdin(garden) -> None:
    with ModelServer("Hi") as server:
        typed(garden, server, "-", stdin="Two\nlines")
    assert server.heard[0]["messages"][0]["content"] == "Two\nlines"


def test_each_line_of_a_file_is_sent(garden) -> None:
    with ModelServer("One.", "Two.") as server:
        ended = typed(garden, server, "--json", stdin="first\n\nsecond\n")
    assert [json.loads(line)["text"] for line in ended.out.splitlines()] == ["One.", "Two."]
    assert [m["content"] for m in server.heard[1]["messages"]] == ["first", "One.", "second"]


def test_words_may_be_streamed(garden) -> None:
    with ModelServer({**WATER, "content": "At once."}, "The fern is happy.") as server:
        ended = typed(garden, server, "--stream", "Water the fern")
    assert server.heard[0]["stream"] is True
    assert ended.out == "At once.\nThe fern is happy.\n"


def test_another_dialect_may_be_spoken(garden) -> None:
    call = '[TOOL_CALL:{"id":"1","tool":"water","parameters":{"plant":"fern","litres":1},"confidence":0.9}]'  # noqa: E501
    with ModelServer(f"At once. {call}", "Done.") as server:
        ended = typed(garden, server, "--dialect", "inline", "--system", "Be brief.", "Water")
    assert ended.out == "At once.\nDone.\n"
    assert done(garden) == ["water fern 1"]


def test_a_call_that_nobody_can_confirm_waits(garden) -> None:
    with ModelServer(PLANT, "Please confirm.") as server:
        ended = typed(garden, server, "Plant oaks")
    assert ended.code == 4
    assert QUESTION in ended.err
    assert "toolmd confirm" in ended.err
    assert done(garden) == []


def test_calls_that_can_not_be_read_are_shown_in_one_line(garden) -> None:
    broken = asking(("water", '{"plant": "fern", '))
    with ModelServer(broken, "Sorry.") as server:
        ended = typed(garden, server, "Water the fern", OPENAI_API_KEY="k")
    (line,) = ended.err.splitlines()
    assert line.startswith("denied[malformed_call] the model's calls: ")
    assert (ended.out, ended.code, done(garden)) == ("Sorry.\n", 0, [])


def test_a_crisis_is_shown(garden) -> None:
    (garden / "toolmd.toml").write_text('[chat]\nmodel = "m"\n[safety]\ncrisis_words = ["dying"]\n')
    with ModelServer("Call a doctor.") as server:
        ended = typed(garden, server, "I am dying")
    assert "crisis" in ended.err
    assert "a person should read it" in ended.err


@pytest.mark.parametrize(
    ("reply", "status", "says"),
    [
        (RawReply(401, '{"error": {"message": "who?"}}'), 1, "rejects the key"),
        (RawReply(404, '{"error": {"message": "no model"}}'), 5, "--model"),
        (RawReply(429, "", {"retry-after-ms": "1"}), 1, "asked too often"),
        (RawReply(503, "", {"retry-after-ms": "1"}), 5, "not available"),
        (RawReply(200, "<html>", {"content-type": "text/html"}), 1, "not JSON"),
    ],
)
def test_a_failing_endpoint_is_reported(garden, reply: RawReply, status: int, says: str) -> None:
    with ModelServer(*[reply] * 3) as server:
        ended = typed(garden, server, "Hello")
    assert ended.code == status
    assert says in ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err


def test_a_model_that_never_answers_in_words_is_reported(garden) -> None:
    broken = asking(("water", "{"))
    with ModelServer(broken, broken, broken) as server:
        ended = typed(garden, server, "Water")
    assert ended.code == 1
    assert "could not be read" in ended.err


def test_without_a_key_the_variable_is_named(garden) -> None:
    ended = typed(garden, None, "Hello")
    assert ended.code == 2
    assert "OPENROUTER_API_KEY" in ended.err


def test_without_a_model_the_error_names_the_ways_to_set_one(garden) -> None:
    (garden / "toolmd.toml").write_text("")
    with ModelServer() as server:
        ended = typed(garden, server, "Hello")
    assert ended.code == 2
    assert "--model" in ended.err


def test_no_other_verb_imports_the_sdk(garden) -> None:
    code = (
        "import sys\nfrom toolmd._cli.main import main\n"
        'main(["call", "water", "plant=fern", "litres=1"])\n'
        'main(["chat", "--help"])\n'
        'print(any(name.split(".")[0] == "openai" for name in sys.modules))'
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=garden, capture_output=True, text=True, check=True
    )
    assert ended.stdout.endswith("False\n")


ANSWERS = [
    (["y"], ["plant_tree oak 3"]),
    (["n"], []),
    ([""], []),
    (["number=5"], ["plant_tree oak 5"]),
    (["edit kind='sweet chestnut' number=1"], ["plant_tree sweet chestnut 1"]),
    (["respond The ground is frozen"], []),
    (["Yes, that\N{RIGHT SINGLE QUOTATION MARK}s correct."], ["plant_tree oak 3"]),
    (["sure, go ahead!"], ["plant_tree oak 3"]),
    (["No, leave it"], []),
    (["no, thanks"], []),
    (["number=many", "number=4"], ["plant_tree oak 4"]),
]


def test_a_person_is_asked_on_the_terminal(garden) -> None:
    with ModelServer(*[PLANT, "So it is."] * len(ANSWERS)) as server:
        terminal = on_terminal(garden, server)
        for answers, happened in ANSWERS:
            before = len(done(garden))
            terminal.wait("> ")
            terminal.type("Plant oaks")
            terminal.wait(QUESTION)
            for answer in answers:
                terminal.wait("[y/N]")
                terminal.type(answer)
            terminal.wait("So it is.")
            assert done(garden)[before:] == happened, answers
        terminal.wait("> ")
        terminal.press("D")
        assert terminal.end() == 0


def test_words_that_are_no_decision_are_the_next_message(garden) -> None:
    messages = ["perhaps", "yes, but only two", "no, plant them tomorrow"]
    with ModelServer(*[PLANT, "As you like.", "Understood."] * len(messages)) as server:
        terminal = on_terminal(garden, server)
        for words in messages:
            terminal.wait("> ")
            terminal.type("Plant oaks")
            terminal.wait("[y/N]")
            terminal.type(words)
            terminal.wait("Understood.")
            assert server.heard[-1]["messages"][-1] == {"role": "user", "content": words}
        terminal.wait("> ")
        terminal.press("D")
        assert terminal.end() == 0
    assert done(garden) == []


def test_a_single_message_is_followed_by_such_words_too(garden) -> None:
    with ModelServer(PLANT, "As you like.", "Understood.") as server:
        terminal = on_terminal(garden, server, "Plant oaks")
        terminal.wait("[y/N]")
        terminal.type("perhaps")
        assert terminal.end() == 0
    assert "Understood." in terminal.shown
    assert done(garden) == []


def test_a_critical_call_that_was_edited_is_asked_again(garden) -> None:
    with ModelServer(asking(("fell_tree", {"number": 9})), "Felled.") as server:
        terminal = on_terminal(garden, server, "Fell trees")
        terminal.wait("number: 9")
        terminal.type("number=1")
        terminal.wait("number: 1")
        terminal.type("y")
        assert terminal.end() == 0
    assert done(garden) == ["fell_tree 1"]


def test_a_conversation_goes_on_until_ctrl_d(garden) -> None:
    with ModelServer("Hello.", WATER, "Done.") as server:
        terminal = on_terminal(garden, server)
        terminal.wait("> ")
        terminal.type("Hi")
        terminal.wait("Hello.")
        terminal.wait("> ")
        terminal.type("Water the fern")
        terminal.wait("Done.")
        terminal.wait("> ")
        terminal.press("D")
        assert terminal.end() == 0
    assert [m["content"] for m in server.heard[1]["messages"]] == ["Hi", "Hello.", "Water the fern"]


def test_ctrl_c_stops_an_answer_and_the_conversation_goes_on(garden) -> None:
    with ModelServer(RawReply(0), "Back again.") as server:
        terminal = on_terminal(garden, server)
        terminal.wait("> ")
        terminal.type("Hello?")
        wait_for(lambda: server.heard)
        terminal.press_until("C", "stopped")
        terminal.wait("> ")
        terminal.type("Hello again")
        terminal.wait("Back again.")
        terminal.wait("> ")
        assert terminal.press_until_end("C") == 0
    assert "Traceback" not in terminal.shown
    assert [m["content"] for m in server.heard[1]["messages"]] == ["Hello again"]


def test_ctrl_c_ends_a_single_answer(garden) -> None:
    with ModelServer(RawReply(0)) as server:
        terminal = on_terminal(garden, server, "Hello?")
        wait_for(lambda: server.heard)
        assert terminal.press_until_end("C") == 130
    assert "Traceback" not in terminal.shown


def test_ctrl_c_at_a_confirmation_runs_nothing(garden) -> None:
    with ModelServer(PLANT) as server:
        terminal = on_terminal(garden, server, "Plant oaks")
        terminal.wait("[y/N]")
        assert terminal.press_until_end("C") == 130
    assert done(garden) == []
    assert "Traceback" not in terminal.shown


def test_a_models_words_do_not_steer_the_terminal(garden) -> None:
    with ModelServer({**PLANT, "content": "\x1b[2Jhi"}, "\x1b]0;owned\x07") as server:
        terminal = on_terminal(garden, server, "Hello")
        terminal.wait("[y/N]")
        terminal.type("n")
        terminal.end()
    assert "\x1b[2J" not in terminal.shown
    assert "\x1b]0" not in terminal.shown
    assert "<U+001B>" in terminal.shown
