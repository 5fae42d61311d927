"""search_pubmed where PubMed fails, is slow or busy, or must not be asked too often."""

import asyncio
import threading
from itertools import pairwise

import pytest
from ncbi_server import PAGE, Fault, page
from stored_papers import stored

from toolmd import Budget
from toolmd.testing import FakeClock, memory_workspace
from toolmd_litreview.plugin import Litreview
from toolmd_litreview.pubmed import RateLimiter


@pytest.fixture
def environ(environ):
    """Nothing makes vectors unless a test asks for it."""
    return {key: value for key, value in environ.items() if "MODEL" not in key}


SHORT = Budget(10, 10_000, 400)
"""Leaves no time to try often."""
OFFLINE = {
    "502": lambda: Fault(502, b"<html>Bad Gateway</html>"),
    "503": lambda: Fault(503),
    "504": lambda: Fault(504),
    "a page with status 200": lambda: Fault(200, PAGE),
    "a body that is cut": lambda: Fault(200, page().encode()[:50], cut=500),
    "a document that is cut": lambda: Fault(200, page().encode()[:-5]),
    "a body that does not unpack": lambda: Fault(200, b"x", headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("fault", OFFLINE.values(), ids=OFFLINE)
@pytest.mark.parametrize("before", [0, 1])
def test_a_server_that_stays_offline_fails_the_call_and_saves_nothing(
    call, ncbi, workspace, fault, before
):
    ncbi.add(11)
    ncbi.faults += [None] * before + [fault() for _ in range(40)]
    result = call("search_pubmed", {"query": "x"}, budget=SHORT)
    assert (result.success, result.outcome) == (False, "failed")
    assert not (workspace.settings.state / "litreview.sqlite3").exists() or not stored(workspace)
    assert "secret" not in str(result.to_dict())


def test_a_busy_server_is_asked_again_when_it_says(call, ncbi):
    ncbi.add(11)
    ncbi.faults.append(Fault(429, b"{}", headers={"Retry-After": "1"}))
    result = call("search_pubmed", {"query": "x"})
    assert (result.success, result.attempts) == (True, 2)
    assert ncbi.asked[1][2] - ncbi.asked[0][2] >= 1


def test_a_redirect_is_not_followed(call, ncbi):
    ncbi.faults.append(Fault(302, headers={"Location": "http://169.254.169.254/latest"}))
    assert call("search_pubmed", {"query": "x"}).error.code == "pubmed_refused"


def test_a_slow_server_is_left_at_the_deadline(call, ncbi):
    ncbi.faults += [Fault(200, page().encode(), wait=ncbi.closing) for _ in range(40)]
    result = call("search_pubmed", {"query": "x"}, budget=SHORT)
    assert not result.success
    # Idempotent: it may be called again.
    assert result.outcome == "failed"


class Wall:
    """A clock that moves when somebody sleeps by it."""

    def __init__(self):
        self.now = 0.0
        self.lock = threading.Lock()

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        with self.lock:
            self.now += seconds
        await asyncio.sleep(0)


def test_requests_are_spaced_one_by_one():
    wall = Wall()
    pace = RateLimiter(wall, wall.sleep)
    starts = []

    async def ask():
        for _ in range(10):
            await pace.wait(0.34)
            starts.append(wall.now)

    asyncio.run(ask())
    assert starts[0] == 0
    assert all(later - sooner >= 0.34 - 1e-9 for sooner, later in pairwise(starts))
    assert all(sum(start <= other <= start + 1 for other in starts) <= 3 for start in starts)


def test_ncbi_is_asked_three_times_a_second_and_with_a_key_ten_times(ncbi, environ):
    for key, apart in (("", 0.34), ("secret-of-ncbi", 0.101)):
        ncbi.asked.clear()
        ncbi.add(1)
        wall = Wall()
        pace = RateLimiter(wall, wall.sleep)
        plugin = Litreview({**environ, "NCBI_API_KEY": key}, FakeClock(), pace=pace)
        with memory_workspace({"none.txt": ""}, plugins={"litreview": plugin}) as workspace:
            asyncio.run(workspace.call("search_pubmed", {"query": "x", "expand_mode": "ripple"}))
        assert len(ncbi.asked) == 3
        assert wall.now == pytest.approx(2 * apart)
