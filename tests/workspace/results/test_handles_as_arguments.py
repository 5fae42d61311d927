"""A call may pass an earlier result by its handle, so that the model never carries it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workspace_shop import Shop

from toolmd import Workspace

FIND = """\
def find():
    return {"papers": [{"id": n, "text": "word " * 200} for n in range(100)] + [{"id": "x"}]}
"""
COUNT = """\
def count(texts):
    return {"count": len(texts), "characters": sum(map(len, texts))}
"""
TEXTS = """\
### texts

- **Type**: array
- **Items**: string
- **Max Items**: {most}
- **Required**: true
- **Accepts Handle**: {accepts}
- **Description**: The texts
"""


def make(root: Path, accepts: str = "true", most: int = 1000, extra: str = "") -> Shop:
    shop = Shop(root)
    shop.tool("find", FIND)
    shop.tool("count", COUNT, TEXTS.format(accepts=accepts, most=most), extra)
    return shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = make(tmp_path)
    yield made
    for workspace in made.opened:
        workspace.close()


def handle_of(workspace: Workspace, user: str | None = None) -> str:
    function = {"name": "find", "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": function}]
    turn = workspace.handle_sync({"role": "assistant", "tool_calls": calls}, user=user)
    assert turn.results[0].handle is not None
    return turn.results[0].handle


def passed(handle: Any, path: Any = "papers[*].text") -> dict[str, Any]:
    return {"texts": {"$result": handle, "path": path}}


@pytest.mark.parametrize("form", [dict, json.dumps, lambda a: json.dumps(a).encode()])
def test_a_handle_is_replaced_by_the_part_that_it_names(shop: Shop, form: Any) -> None:
    workspace = shop.open()
    given = passed(handle_of(workspace))

    result = workspace.call_sync("count", form(given))

    assert result.data == {"count": 100, "characters": 100_000}


def test_the_replaced_value_is_validated(tmp_path: Path) -> None:
    workspace = make(tmp_path, most=50).open()
    handle = handle_of(workspace)

    many = workspace.call_sync("count", passed(handle))
    numbers = workspace.call_sync("count", passed(handle, "papers[*].id"))

    assert many.error is not None
    assert many.error.code == "invalid_arguments"
    assert "50" in many.error.message
    assert numbers.outcome == "denied"
    workspace.close()


def test_a_parameter_that_takes_no_handles_denies_one(tmp_path: Path) -> None:
    workspace = make(tmp_path, accepts="false").open()

    result = workspace.call_sync("count", passed(handle_of(workspace)))

    assert result.error is not None
    assert result.error.code == "invalid_arguments"
    workspace.close()


@pytest.mark.parametrize(
    ("handle", "path", "code"),
    [
        ("r-0123", "", "unknown_handle"),
        ("", "", "unknown_handle"),
        (None, "papers[x].text", "unknown_path"),
        (None, "papers[0].title", "unknown_path"),
        (None, "x" * 1000, "unknown_path"),
        (5, "", "invalid_arguments"),
        (None, 5, "invalid_arguments"),
        (["r-1"], {}, "invalid_arguments"),
    ],
)
def test_an_odd_handle_denies_the_call(shop: Shop, handle: Any, path: Any, code: str) -> None:
    workspace = shop.open()
    kept = handle_of(workspace)

    result = workspace.call_sync("count", passed(kept if handle is None else handle, path))

    assert result.error is not None
    assert (result.outcome, result.error.code) == ("denied", code)


def test_the_handle_of_another_user_is_unknown(shop: Shop) -> None:
    workspace = shop.open()
    handle = handle_of(workspace, "ana")

    theirs = workspace.call_sync("count", passed(handle), user="bob")
    own = workspace.call_sync("count", passed(handle), user="ana")

    assert theirs.error is not None
    assert theirs.error.code == "unknown_handle"
    assert own.success


def test_a_pending_call_keeps_the_value_that_it_was_asked_with(tmp_path: Path) -> None:
    shop = make(tmp_path, extra="\n## Safety\n\n- **Requires Confirmation**: true\n")
    workspace = shop.open()

    asked = workspace.call_sync("count", passed(handle_of(workspace)))
    assert asked.confirmation is not None
    result = workspace.confirmations.approve_sync(asked.confirmation.id)

    assert result.data["count"] == 100
    workspace.close()


@pytest.mark.parametrize("target", ["openai", "anthropic", "mcp", "gemini"])
def test_a_model_is_told_that_a_parameter_takes_a_handle(shop: Shop, target: str) -> None:
    exported = json.dumps(shop.open().export(target, ["count"]))

    assert "$result" in exported
    assert "earlier result" in exported


@pytest.mark.parametrize(
    "path", ["papers[*].nothing", "papers[*].text[*]", "papers[*].id[*].x", "papers[0][*].x"]
)
def test_a_path_that_no_item_has_is_unknown(shop: Shop, path: str) -> None:
    workspace = shop.open()

    denied = workspace.call_sync("count", passed(handle_of(workspace), path))

    assert denied.error is not None
    assert denied.error.code == "unknown_path"
    assert path in denied.error.message
