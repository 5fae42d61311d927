"""The server denies calls, and says why, once a state file was emptied."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from kiosk import Kiosk

ORDER = {"arguments": {"dish": "soup"}}


@pytest.fixture
def kiosk(project: Path) -> Iterator[Kiosk]:
    """Serve a project whose confirmations are in a file."""
    with Kiosk(project, "sqlite") as open_:
        yield open_


def test_a_call_behind_an_emptied_file_is_denied_with_the_file_and_a_remedy(
    api: httpx.Client, project: Path
) -> None:
    assert api.post("/api/tools/order/call", json=ORDER).json()["outcome"] == "confirm"
    file = project / ".toolmd" / "store.sqlite3"
    os.truncate(file, 0)

    result = api.post("/api/tools/order/call", json=ORDER).json()
    pending = api.get("/api/pending")

    assert (result["outcome"], result["error"]["code"]) == ("denied", "internal_guard_error")
    assert f"{file} was emptied (0 bytes)" in result["error"]["message"]
    assert pending.status_code == 503
    assert f"{file} was emptied (0 bytes)" in pending.json()["detail"]


@pytest.mark.parametrize("path", ["/api/audit", "/api/audit/verify"])
def test_an_emptied_audit_is_not_sound(api: httpx.Client, project: Path, path: str) -> None:
    assert api.post("/api/tools/order/call", json=ORDER).json()["outcome"] == "confirm"
    (file,) = (project / ".toolmd" / "audit").glob("*.jsonl")
    os.truncate(file, 0)

    answer = api.get(path)

    assert answer.status_code == 503
    assert f"{file} was emptied" in answer.json()["detail"]
