"""A tool's rate limit applies across the processes of a machine, and of several on Postgres."""

import asyncio
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from toolmd._call.denial import CallDenied
from toolmd._call.limits.postgres_rates import PostgresRates

STARTER = Path(__file__).with_name("starter.py")


def starts_of_three(state, place, calls, seconds):
    """Return the times at which three processes started the tool, in order."""
    words = [sys.executable, str(STARTER), str(state), place, str(calls), str(seconds)]
    starters = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(3)]
    said = b"".join(starter.communicate(timeout=seconds + 50)[0] for starter in starters)
    return sorted(float(line) for line in said.split())


def most_in_a_second(starts, second=1.0):
    return max(sum(1 for later in starts if start <= later < start + second) for start in starts)


def test_three_processes_keep_one_rate(tmp_path, place):
    starts = starts_of_three(tmp_path, place, 10, 2)

    # Fewer where the machine is busy: a turn that was heard of late is not used.
    assert len(starts) >= 4
    # What is printed comes some moments after the start.
    assert most_in_a_second(starts, 0.95) <= 10


@pytest.fixture
def starts(postgres):
    starts = PostgresRates(postgres)
    yield starts
    starts.close()


def taken(starts, apart=1.0, tool="act"):
    async def take():
        await starts.ready(tool)
        return await starts.take(tool, apart)

    return asyncio.run(take())


def test_a_start_is_used_once_and_each_tool_has_its_own(starts):
    assert taken(starts, 3600.0) == 0.0
    assert 3500 < taken(starts, 3600.0) <= 3600
    assert taken(starts, 3600.0, "other") == 0.0


def test_starts_are_stored_in_an_empty_database(starts, postgres):
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute("DROP SCHEMA IF EXISTS toolmd CASCADE")
    asyncio.run(starts.ready("act"))
    assert starts._connection is not None
    assert taken(starts, 3600.0) == 0.0
    starts.close()
    assert starts._connection is None
    assert 3500 < taken(starts, 3600.0) <= 3600


def test_starts_continue_after_the_server_closed_the_connection(starts, postgres):
    assert taken(starts, 3600.0) == 0.0
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert 3500 < taken(starts, 3600.0) <= 3600


def test_a_server_clock_that_was_set_back_denies_no_call(starts, postgres):
    assert taken(starts) == 0.0
    connection = starts._connection
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute("UPDATE toolmd.toolmd_turn SET last_start = last_start + 5000")
    assert 0 < taken(starts, 0.05) <= 0.05
    assert starts._connection is connection
    assert 0 <= taken(starts, 0.05) <= 0.05


def test_a_failing_counter_denies_the_call(tmp_path):
    nowhere = PostgresRates("postgresql://me:secret@127.0.0.1:1/runs")
    with pytest.raises(CallDenied) as refused:
        taken(nowhere)
    assert refused.value.failure.code == "internal_guard_error"
    assert "its rate could not be decided" in refused.value.failure.message
    assert "secret" not in str(refused.value.failure)


def test_projects_on_one_postgres_share_its_starts(starts, postgres):
    other = PostgresRates(postgres)
    assert taken(starts, 3600.0) == 0.0
    assert 3500 < taken(other, 3600.0) <= 3600
    other.close()


def test_a_server_that_goes_silent_is_waited_for_in_bounded_time(starts):
    asyncio.run(starts.ready("act"))
    asked = starts._connection.info.get_parameters()
    assert (asked["connect_timeout"], asked["tcp_user_timeout"]) == ("5", "5000")
    assert starts._connection.execute("SHOW lock_timeout").fetchone() == ("2s",)
    assert starts._connection.execute("SHOW synchronous_commit").fetchone() == ("off",)


def test_a_process_waits_while_another_creates_the_table(postgres):
    hasty = PostgresRates(make_conninfo(postgres, options="-c lock_timeout=50"))
    with psycopg.connect(postgres) as other:
        other.execute("SELECT pg_advisory_xact_lock(7461706)")
        with pytest.raises(CallDenied):
            taken(hasty)
        assert hasty._connection is None
    assert taken(hasty) == 0.0
    hasty.close()
