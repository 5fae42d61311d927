"""A module that several tools share reloads, breaks and recovers for all of them at once."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from watched_shop import Shop, skill, tool

from toolmd import Registry, Watcher, Workspace

PATIENCE = 20
"""Seconds until a snapshot is given up."""
NAMES = ("book", "cancel", "greet")


def clinic(word: str) -> str:
    return "SEEN = []\n" + "\n".join(
        f"def {name}():\n    SEEN.append({name!r})\n"
        f"    return {{'said': {word!r}, 'seen': len(SEEN)}}"
        for name in NAMES
    )


BROKEN = {
    "half written": clinic("new")[:60],
    "no Python": "def book(:\n",
    "empty": "",
    "without its functions": "def books(): ...\n",
    "raises": clinic("new") + "\nraise OSError('no disk')\n",
    "one parameter more": clinic("new").replace("def book()", "def book(more)"),
}


def named(name: str, place: str, parameters: str = "None") -> str:
    line = f"- **Category**: test\n- **Implemented By**: {place}\n"
    return tool(name, parameters).replace("- **Category**: test\n", line)


def shared(shop: Shop) -> None:
    """Write three tools and their module; the file of one names it."""
    shop.write("tools_md/clinic.py", clinic("old"))
    for name in NAMES[:2]:
        shop.tool(name)
    shop.write("tools_md/greet.tool.md", named("greet", "clinic:greet"))


def said(workspace: Workspace, name: str) -> Any:
    result = workspace.call_sync(name)
    assert result.success, result.to_dict()
    return result.data["said"]


def stale(registry: Registry) -> set[str]:
    return {name for name, one in registry.tools.items() if one.stale}


@contextmanager
def watched(shop: Shop) -> Iterator[tuple[Workspace, "queue.Queue[Registry]"]]:
    workspace = shop.open()
    heard: queue.Queue[Registry] = queue.Queue()
    workspace.on_change(lambda _old, new: heard.put(new))
    with Watcher(workspace):
        yield workspace, heard


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_module_fails_its_tools_and_no_other_until_it_is_saved_again(
    shop: Shop, broken: str
) -> None:
    shared(shop)
    shop.tool("other", "", "def other(): return {'said': 'old'}")
    with watched(shop) as (ws, heard):
        for name in (*NAMES, "other"):
            assert said(ws, name) == "old"

        shop.write("tools_md/clinic.py", BROKEN[broken])
        heard.get(timeout=PATIENCE)

        failed = {name for name in NAMES if not ws.call_sync(name).success}
        assert failed == ({"book"} if broken == "one parameter more" else {*NAMES})
        assert said(ws, "other") == "old"

        shop.write("tools_md/clinic.py", clinic("new"))
        heard.get(timeout=PATIENCE)

        assert ws.diagnostics == ()
        assert {said(ws, name) for name in NAMES} == {"new"}


def test_the_tools_of_a_module_share_its_state_until_it_is_edited(shop: Shop) -> None:
    shared(shop)
    ws = shop.open()

    assert [ws.call_sync(name).data["seen"] for name in NAMES] == [1, 2, 3]
    shop.write("tools_md/clinic.py", clinic("new"))
    ws.reload()
    assert [ws.call_sync(name).data["seen"] for name in NAMES] == [1, 2, 3]


def test_a_broken_helper_of_a_module_fails_all_tools_with_its_place(shop: Shop) -> None:
    shop.write("tools_md/_words.py", "WORD = 'old'\n")
    python = "from ._words import WORD\n" + clinic("old").replace("'old'", "WORD")
    shared(shop)
    shop.write("tools_md/clinic.py", python)
    ws = shop.open()
    assert {said(ws, name) for name in NAMES} == {"old"}

    shop.write("tools_md/_words.py", "WORD =\n")
    ws.reload()

    for name in NAMES:
        assert "tools_md/_words.py:1" in ws.call_sync(name).error.message


def test_a_function_that_moves_to_another_module_runs_from_there(shop: Shop) -> None:
    shared(shop)
    ws = shop.open()
    assert said(ws, "book") == "old"

    shop.write("tools_md/clinic.py", clinic("new").replace("def book", "def _book"))
    shop.write("tools_md/desk.py", "def book(): return {'said': 'desk'}\n")
    ws.reload()

    assert said(ws, "book") == "desk"
    assert said(ws, "cancel") == "new"
    assert stale(ws.registry) == set()


def test_a_slip_in_one_file_holds_back_no_other_tool_of_the_module(shop: Shop) -> None:
    shared(shop)
    ws = shop.open()
    assert {said(ws, name) for name in NAMES} == {"old"}

    shop.write("tools_md/greet.tool.md", named("greet", "clinic:greets"))
    shop.write("tools_md/clinic.py", clinic("new"))
    ws.reload()

    assert said(ws, "book") == "new"
    assert stale(ws.registry) == set()
    assert not ws.call_sync("greet").success
    assert "missing-function" in {str(found.code) for found in ws.diagnostics}


def test_a_second_module_with_the_function_ends_its_calls_until_one_is_named(shop: Shop) -> None:
    shared(shop)
    ws = shop.open()
    assert said(ws, "book") == "old"

    shop.write("tools_md/desk.py", "def book(): return {'said': 'desk'}\n")
    ws.reload()
    assert ws.call_sync("book").error.code == "not_implemented"

    shop.write("tools_md/book.tool.md", named("book", "desk:book"))
    ws.reload()
    assert said(ws, "book") == "desk"


def test_module_and_spec_are_swapped_together_while_calls_run(shop: Shop) -> None:
    one = "### one\n\n- **Type**: integer\n- **Required**: true\n- **Description**: One\n"
    two = one.replace("one", "two").replace("One", "Two")
    shop.write("tools_md/first.py", "def book(one: int): return {'said': 'first', 'n': one}\n")
    shop.write("tools_md/second.py", "def book(two: int): return {'said': 'second', 'n': two}\n")
    file = shop.write("tools_md/book.tool.md", named("book", "first:book", one))
    other = named("book", "second:book", two)
    seen: list[tuple[bool, str]] = []
    over = threading.Event()
    with watched(shop) as (ws, heard):

        def call() -> None:
            while not over.is_set():
                # Either version takes its own argument, and says so itself.
                for name, word in (("one", "first"), ("two", "second")):
                    result = ws.call_sync("book", {name: 1})
                    if result.success:
                        seen.append((result.data == {"said": word, "n": 1}, word))
                    else:
                        seen.append((result.error.code == "invalid_arguments", "denied"))

        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        for text in (other, file.read_text(), other):
            draft = shop.write("draft", text)
            draft.replace(file)
            heard.get(timeout=PATIENCE)
        assert ws.call_sync("book", {"two": 1}).data == {"said": "second", "n": 1}
        over.set()
        for thread in threads:
            thread.join()

    assert all(fits for fits, _ in seen)
    assert {"first", "second"} <= {word for _, word in seen}


def test_a_skill_uses_the_tools_of_a_shared_module(shop: Shop) -> None:
    shared(shop)
    shop.write("skills_md/hello.skill.md", skill("hello", "greet"))
    ws = shop.open()

    assert ws.run_sync("hello", {}).success
    shop.write("tools_md/clinic.py", "def (")
    ws.reload()
    assert not ws.run_sync("hello", {}).success
