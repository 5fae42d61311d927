"""`toolmd dev` while the Python of a tool hangs: it follows, reports, heals and ends."""

import signal
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from test_dev_verb import Dev

PATIENCE = 60
"""Seconds until a state is given up."""
CONFIRMED = "\n## Safety\n\n- **Requires Confirmation**: true\n"


def until(read: Any, wanted: Any) -> Any:
    """Ask until the answer is the wanted one."""
    said = None
    for _ in range(PATIENCE * 10):
        if wanted(said := read()):
            return said
        Event().wait(0.1)
    raise AssertionError(said)


@pytest.fixture
def hanging(project: Path) -> Path:
    """A project of which one tool's Python never ends importing."""
    settings = project / "toolmd.toml"
    settings.write_text(f"import_timeout = 1.0\n{settings.read_text('utf-8')}")
    (project / "tools_md/two.py").write_text("import time\ntime.sleep(3600)\n")
    (project / "tools_md/two.tool.md").write_text(
        "# Two\n\nDoes two.\n\n## Metadata\n\n- **Name**: two\n- **Version**: 1.0.0\n"
        "- **Category**: test\n\n## Parameters\n\nNone\n\n## Returns\n\n- **Type**: object\n"
        "- **Description**: What came of it\n"
    )
    return project


def test_it_follows_reports_heals_and_ends_at_once(hanging: Path) -> None:
    dev = Dev(hanging)
    try:
        echo = hanging / "tools_md/echo.tool.md"
        echo.write_text(echo.read_text("utf-8") + CONFIRMED)

        def echoed() -> Any:
            body: dict[str, Any] = {"arguments": {}}
            return dev.client.post("/api/tools/echo/call", json=body).json()

        until(echoed, lambda said: said["outcome"] == "confirm")
        found = dev.client.get("/api/diagnostics").json()
        (late,) = [one for one in found if one["code"] == "import-timeout"]
        assert (late["path"], late["line"]) == ("tools_md/two.py", 2)

        (hanging / "tools_md/two.py").write_text("def two(): return {'said': 'mended'}\n")
        until(
            lambda: dev.client.post("/api/tools/two/call", json={"arguments": {}}).json(),
            lambda said: said.get("data") == {"said": "mended"},
        )
        dev.process.send_signal(signal.SIGTERM)
        assert dev.process.wait(20) == 0
    finally:
        dev.client.close()
        dev.process.kill()
        dev.process.communicate()
