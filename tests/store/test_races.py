"""Of callers that race, exactly as many are admitted as may be: in threads and processes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from racer import race
from sample import confirmation, counted
from tests import warm_python

from toolmd._store.store import Store

RACER = Path(__file__).with_name("racer.py")
Ask = Callable[..., list[Any]]


@pytest.fixture
def ask(store: Store, place: str, tmp_path: Path) -> Ask:
    """Ask a question many times at once: in two processes, or in threads for the memory."""

    def asked(question: str, *words: Any, times: int = 1000) -> list[Any]:
        if place == "memory":
            return race(store, question, [*words], times)
        given = [str(tmp_path), place, question, json.dumps(words), str(times // 2)]
        racers = [
            warm_python.Popen([sys.executable, RACER, *given], stdin=-1, stdout=-1, text=True)
            for _ in range(2)
        ]
        for one in racers:
            assert one.stdout.readline() == "ready\n"
        for one in racers:
            one.stdin.write("\n")
            one.stdin.flush()
        return [one for racer in racers for one in json.loads(racer.communicate(timeout=200)[0])]

    return asked


def test_of_a_thousand_racing_calls_as_many_are_counted_as_allowed(ask: Ask, store: Store) -> None:
    assert ask("count", "act", "ana", 137).count(True) == 137
    assert counted(store, "act", "ana") == 137


def test_of_racing_calls_one_starts(ask: Ask) -> None:
    waits = ask("limits.take", "act", 3600.0, times=200)

    assert waits.count(0.0) == 1
    assert all(wait > 3500 for wait in waits if wait)


def test_racing_calls_get_no_more_places_than_there_are(ask: Ask, store: Store) -> None:
    places = [one for one in ask("limits.enter", "act", 3, times=200) if one is not None]

    assert len(set(places)) == len(places) == 3
    assert store.limits.enter("act", 3) is None


def test_of_those_who_decide_one_claims_the_confirmation(ask: Ask, store: Store) -> None:
    one = confirmation("c-1")
    store.confirmations.add(one)

    assert ask("confirmations.claim", "c-1", "rejected", one.created, times=100).count(True) == 1


def test_of_equal_calls_one_begins_under_the_key(ask: Ask) -> None:
    assert ask("keyed_calls.begin", "order-1", 60.0, times=100).count(None) == 1


def test_of_writers_one_notes_the_first_record_of_a_file(ask: Ask) -> None:
    assert ask("audit_heads.put", "file", [0, "hash"], None, times=100).count(True) == 1
