"""A FastAPI application is imported from its own document, and its operations are called."""

from pathlib import Path

import pytest
from echo_service import EchoService
from tests.command import run_command

from toolmd import Workspace


def test_each_operation_of_a_fastapi_application_is_called_through_its_draft(
    tmp_path: Path, service: EchoService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "HTTP_BEARER": "secret-token", "HTTP_BASIC_USER": "ann", "API_KEY_HEADER": "secret-key",
        "HTTP_BASIC_PASSWORD": "secret-word",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"SHOP_{name}", value)
    done = run_command(tmp_path, "import", "openapi", f"{service.url}/shop/openapi.json")
    assert done.code == 0, done.err

    order = {"item": "tea", "pay": {"kind": "card", "number": "1234"}}
    with Workspace.open(tmp_path) as workspace:
        assert not workspace.diagnostics
        call = workspace.call_sync
        item = call("get_item", {"item_id": 3, "tags": ["a", "b&c"], "x-trace": "t", "visit": "v"})
        assert item.data == {"id": 3, "tags": ["a", "b&c"], "trace": "t", "visit": "v"}, item
        assert call("health", {}).data == "well"
        assert call("find_items", {"high": 9}).data == {"low": 0, "high": 9}
        assert call("add_order", order).data == {**order, "count": 1, "note": None}
        assert call("put_note", {"name": "a b", "body": ["x"]}).data == ["a b", "x"]
        assert call("login", {"user": "ann", "word": "x&y"}).data == ["ann", "x&y"]
        assert call("report", {}).data is True
        asked = call("drop_item", {"item_id": 7})
        assert asked.outcome == "confirm"
        dropped = workspace.confirmations.approve_sync(asked.confirmation.id)
        assert dropped.success, dropped
        for name, wrong in {
            "get_item": {"item_id": 0, "tags": []},
            "find_items": {"high": 101},
            "add_order": {**order, "pay": {"kind": "iban", "number": "1234"}},
            "put_note": {"name": "..", "body": []},
        }.items():
            assert call(name, wrong).outcome == "denied", name
    tables = (tmp_path / "toolmd.toml").read_text()
    assert tables.count("[services.") == 4
    assert "[services.shop]" in tables
    assert "secret" not in tables + done.out + done.err
