"""Heartbeats on Postgres: an odd clock or a stopped machine makes no live process dead."""

import time
from collections.abc import Iterator

import pytest

from toolmd._fleet import PostgresDatabase
from toolmd._fleet.heartbeat import Heartbeat

LONG_S = 100.0


@pytest.fixture
def database(postgres: str) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase(postgres)
    yield database
    database.close()


def heartbeats(database: PostgresDatabase) -> tuple[Heartbeat, Heartbeat]:
    """Return those of two processes."""
    return Heartbeat(database, database.connect), Heartbeat(database, database.connect)


@pytest.mark.parametrize("jump_s", [-LONG_S, LONG_S])
def test_a_jump_of_the_servers_clock_makes_no_live_process_dead(
    database: PostgresDatabase, jump_s: float
) -> None:
    one, other = heartbeats(database)
    one.live()
    other.live()
    try:
        while True:
            with database.write() as tx:
                jumped = tx.execute("UPDATE worker SET beat = beat + ? RETURNING beat", jump_s)
            dead = one.dead()
            with database.read() as tx:
                if tx.execute("SELECT beat FROM worker WHERE id = ?", one.own)[0] in jumped:
                    break  # Otherwise it wrote a heartbeat in between.
        assert dead == []
    finally:
        one.end()
        other.end()


def test_a_process_that_ended_in_order_is_dead_at_once(database: PostgresDatabase) -> None:
    one, other = heartbeats(database)
    one.live()
    other.live()
    other.end()

    dead = one.dead()

    assert dead == [other.own]
    one.evict(other.own)
    assert one.dead() == []
    one.end()


@pytest.mark.parametrize("apart_s", [-LONG_S, 0.5, LONG_S])
def test_the_clock_of_the_server_counts_where_a_machine_has_another(
    database: PostgresDatabase, apart_s: float
) -> None:
    one = Heartbeat(database, database.connect, epoch=lambda: time.time() + apart_s)
    one.live()
    one.end()

    expected = -apart_s if apart_s != 0.5 else 0.0
    assert abs(one.ahead.total_seconds() - expected) < 1


def test_a_process_that_lost_its_session_declares_no_other_dead(
    database: PostgresDatabase,
) -> None:
    one, other = heartbeats(database)
    one.live()
    other.live()
    other.end()
    assert one.dead() == [other.own]
    # As when the server restarts, which frees the locks of all processes.
    with database.write() as tx:
        tx.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )

    assert one.dead() == []
    one.end()
