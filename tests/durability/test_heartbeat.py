"""Heartbeats on Postgres: an odd clock or a stopped machine makes no live process dead."""

import threading
import time
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from toolmd._skills.engine.durable.heartbeat import Heartbeat
from toolmd._skills.engine.durable.tables import Tables
from toolmd._store.database import Pace, open_database

LONG_S = 100.0


@pytest.fixture
def engine(postgres: str) -> Iterator[sa.Engine]:
    engine = open_database(postgres, Pace(busy_ms=1000, connections=4))
    yield engine
    engine.dispose()


@pytest.mark.parametrize("jump_s", [-LONG_S, LONG_S])
def test_a_jump_of_the_servers_clock_makes_no_live_process_dead(
    engine: sa.Engine, jump_s: float
) -> None:
    one, other = Heartbeat(engine), Heartbeat(engine)
    one.live()
    other.live()
    worker = Tables(engine).worker
    jump = sa.update(worker).values(beat=worker.c.beat + jump_s).returning(worker.c.beat)
    own = sa.select(worker.c.beat).where(worker.c.id == one.own)
    try:
        while True:
            with engine.begin() as connection:
                jumped = connection.execute(jump).scalars().all()
            dead = one.dead()
            with engine.begin() as connection:
                if connection.execute(own).scalar_one() in jumped:
                    break  # Otherwise it wrote a heartbeat in between.
        assert dead == []
    finally:
        one.end()
        other.end()


def test_a_process_that_ended_in_order_is_dead_at_once(engine: sa.Engine) -> None:
    one, other = Heartbeat(engine), Heartbeat(engine)
    one.live()
    other.live()
    other.end()

    dead = one.dead()

    assert dead == [other.own]
    assert one.workers() == {one.own: True, other.own: False}
    one.evict(other.own)
    assert one.known() == {one.own}
    one.end()


@pytest.mark.parametrize("apart_s", [-LONG_S, 0.5, LONG_S])
def test_the_clock_of_the_server_counts_where_a_machine_has_another(
    engine: sa.Engine, apart_s: float
) -> None:
    one = Heartbeat(engine, epoch=lambda: time.time() + apart_s)

    expected = -apart_s if apart_s != 0.5 else 0.0
    assert abs(one.ahead.total_seconds() - expected) < 1


def test_a_process_that_lost_its_session_declares_no_other_dead(engine: sa.Engine) -> None:
    one, other = Heartbeat(engine), Heartbeat(engine)
    one.live()
    other.live()
    other.end()
    assert one.dead() == [other.own]
    # As when the server restarts, which frees the locks of all processes.
    ended = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
    others = "pid <> pg_backend_pid() AND datname = current_database()"
    with engine.connect() as connection:
        connection.execute(sa.text(f"{ended} WHERE {others}"))

    assert one.dead() == []
    one.end()


def test_a_process_that_is_frozen_while_it_takes_over_lets_another_one(engine: sa.Engine) -> None:
    one, other = Heartbeat(engine), Heartbeat(engine)
    began, free, pause = time.monotonic(), False, threading.Event()

    with one.alone() as first:  # It does nothing more, as if it were stopped here.
        while not free and time.monotonic() - began < LONG_S:
            with other.alone() as free:
                pass
            pause.wait(0.5)

    assert first
    assert free
    with other.alone() as later:
        assert later
