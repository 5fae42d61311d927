"""Two servers of one store: each stream has the confirmations and runs of both."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kiosk import GUESTS, Kiosk
from test_api_decisions import decide, pending_by
from test_api_events import followed, until
from test_api_runs import run


@pytest.fixture
def kiosks(project: Path) -> Iterator[tuple[Kiosk, Kiosk]]:
    with Kiosk(project, "sqlite") as one, Kiosk(project, "sqlite") as other:
        yield one, other


def test_a_stream_has_the_confirmations_and_runs_of_other_servers(
    kiosks: tuple[Kiosk, Kiosk],
) -> None:
    one, other = kiosks
    with one.client() as here, other.client() as there:
        known = pending_by(here)
        with followed(here) as coming:
            held = pending_by(there, dish="stew")
            told = until(coming, "pending", state="pending")
            # What waited before the stream began is no event.
            assert told.data == {"id": held, "state": "pending", "tool": "order"}
            assert held != known
            decide(there, held, "reject")
            until(coming, "pending", id=held, state="closed", tool="order")

            run_id = run(there, "dine", {"dish": "soup"}).json()["run_id"]
            until(coming, "run", run_id=run_id, skill="dine", state="waiting")
            other.workspace.runs.cancel_sync(run_id)
            until(coming, "run", run_id=run_id, state="cancelled")


def test_a_stream_has_no_events_of_another_user_of_another_server(
    kiosks: tuple[Kiosk, Kiosk],
) -> None:
    one, other = kiosks
    ann, bob = [*GUESTS][:2]
    with (
        one.client(GUESTS[ann]) as hers,
        other.client(GUESTS[bob]) as his,
        other.client(GUESTS[ann]) as also_hers,
        followed(hers) as coming,
    ):
        pending_by(his)
        held = pending_by(also_hers)
        assert until(coming, "pending").data["id"] == held
