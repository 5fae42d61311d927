"""`/ready` is 200 only where calls are served; probes tell a stranger nothing else."""

from pathlib import Path

import httpx
import pytest
from kiosk import Kiosk

from toolmd._store import STORE_FILE


def test_probes_need_no_token_and_answer_to_any_host(kiosk: Kiosk) -> None:
    strange = {"host": "balancer.example:8787", "origin": "http://balancer.example"}
    with httpx.Client(base_url=kiosk.url, headers=strange) as balancer:
        assert balancer.get("/health").json() == {"status": "ok", "pending_changes": 0}
        ready = balancer.get("/ready").json()
        assert ready.pop("policy").startswith("sha256:")
        assert ready == {"status": "ready", "pending_changes": 0, "broken_files": 0}
        assert balancer.head("/ready").status_code == 200
        assert balancer.post("/ready", json={}).status_code == 421
        assert balancer.get("/openapi.json").status_code == 421


@pytest.mark.parametrize(
    "store", ["postgresql://ana:secret@127.0.0.1:1/runs", "postgresql://ana:secret@127.0.0.1/?x=y"]
)
def test_it_is_not_ready_while_its_store_cannot_be_reached(project: Path, store: str) -> None:
    with Kiosk(project, store) as kiosk, httpx.Client(base_url=kiosk.url) as balancer:
        ready = balancer.get("/ready", timeout=30)
        lives = balancer.get("/health")

    assert ready.status_code == 503
    assert ready.json()["code"] == "store_unreachable"
    assert "ana" not in ready.text
    assert "127.0.0.1" not in ready.text
    assert lives.status_code == 200


def test_it_is_ready_again_when_its_store_is(project: Path) -> None:
    store = project / ".toolmd" / STORE_FILE
    store.parent.mkdir()
    store.touch()  # emptied
    with Kiosk(project, "sqlite") as kiosk, httpx.Client(base_url=kiosk.url) as balancer:
        assert balancer.get("/ready").json()["code"] == "store_unreachable"
        store.unlink()
        while balancer.get("/ready").status_code == 503:
            pass


def test_a_weaker_policy_that_waits_is_counted_or_makes_it_fail(project: Path) -> None:
    file = next(iter(sorted(project.rglob("*.tool.md"))))
    text = file.read_text("utf-8")
    file.write_text(text + "\n## Approval\n\n- **When**: always\n- **By**: manager\n", "utf-8")
    with Kiosk(project, "sqlite"):
        pass
    file.write_text(text, "utf-8")
    with Kiosk(project, "sqlite") as kiosk, httpx.Client(base_url=kiosk.url) as balancer:
        assert balancer.get("/ready").json()["pending_changes"] == 1
        assert balancer.get("/health").json()["pending_changes"] == 1
        serve = kiosk.workspace.settings.serve._replace(require_accepted=True)
        live = kiosk.workspace._project.live
        live.settings = live.settings._replace(serve=serve)
        refused = balancer.get("/ready")
        assert (refused.status_code, refused.json()["code"]) == (503, "changes_pending")
