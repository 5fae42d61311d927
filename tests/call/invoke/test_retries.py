"""A call without a connection is retried if a retry is safe."""

import asyncio
import time
from email.utils import formatdate
from pathlib import Path

import httpx
import pytest
from virtual_time import VirtualTime, run

from toolmd._egress import DomainNotApprovedError
from toolmd._types.call_spec import Limits, Rate
from toolmd._types.settings import AuditSettings, Settings
from toolmd.errors import ToolError

MEMORY = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False), store="memory")
THREE = Limits(retries=3)
REQUEST = httpx.Request("GET", "http://a.example/")


def status(code, **headers):
    answer = httpx.Response(code, headers={k.replace("_", "-"): v for k, v in headers.items()})
    return httpx.HTTPStatusError(str(code), request=REQUEST, response=answer)


def wrapped(cause, **options):
    error = ToolError("The desk is closed.", **options)
    error.__cause__ = cause
    return error


OFFLINE = {
    "refused": ConnectionRefusedError(),
    "reset": ConnectionResetError(),
    "late": TimeoutError(),
    "httpx connect": httpx.ConnectError("x"),
    "httpx read": httpx.ReadTimeout("x"),
    "httpx protocol": httpx.RemoteProtocolError("x"),
    "429": status(429),
    "502": status(502),
    "503": status(503),
    "504": status(504),
    "behind words": wrapped(httpx.ConnectError("x")),
    "behind words with a status": wrapped(status(503)),
}
OTHER = {
    "500": status(500),
    "404": status(404),
    "a crash": ValueError("x"),
    "words": ToolError("No such thing.", code="absent"),
    "words after a crash": wrapped(KeyError("x")),
    "no scheme": httpx.UnsupportedProtocol("x"),
    "a host that nobody approved": DomainNotApprovedError("x"),
    "offline by a nested call": ToolError("x", code="api_offline"),
}


class Flaky:
    """Raises these errors, one a start, and then gives its arguments."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.starts = 0
        self.keys = []

    async def __call__(self, *, context=None):
        self.starts += 1
        if context is not None:
            self.keys.append(context.idempotency_key)
        if self.errors:
            raise self.errors.pop(0)
        return "here"


def called(harness, tool, flaky, world=None, **fields):
    world = world or VirtualTime()
    fields = {"read_only": True, "limits": THREE, **fields}
    bound = tool("act", flaky, context="context", mode="async", **fields)
    dispatcher = harness(bound, settings=MEMORY, timing=world.timing).dispatcher
    return run(world, lambda: dispatcher.call("act", "{}"))


@pytest.mark.parametrize("error", OFFLINE.values(), ids=OFFLINE)
def test_a_connection_that_comes_back_is_retried(harness, tool, error):
    flaky = Flaky(error, error)
    result = called(harness, tool, flaky)
    assert (result.success, result.data, result.attempts) == (True, "here", 3)
    assert not result.api_offline


@pytest.mark.parametrize("error", OFFLINE.values(), ids=OFFLINE)
def test_a_connection_that_stays_down_is_reported_as_offline(harness, tool, error):
    flaky = Flaky(*[error] * 9)
    result = called(harness, tool, flaky)
    assert (result.outcome, result.attempts, flaky.starts) == ("failed", 4, 4)
    assert (result.error.code, result.api_offline) == ("api_offline", True)
    assert result.to_dict()["api_offline"] is True


@pytest.mark.parametrize("error", OTHER.values(), ids=OTHER)
def test_any_other_failure_is_final(harness, tool, error):
    flaky = Flaky(*[error] * 9)
    result = called(harness, tool, flaky)
    assert (result.success, result.attempts, flaky.starts) == (False, 1, 1)


def test_waits_double_from_the_backoff_with_jitter(harness, tool):
    for backoff, expected in ((None, [0.5, 1, 2, 4]), (0.1, [0.1, 0.2, 0.4, 0.8])):
        world = VirtualTime()
        limits = Limits(retries=4, backoff_s=backoff)
        called(harness, tool, Flaky(*[TimeoutError()] * 9), world, limits=limits)
        assert world.slept == pytest.approx([wait * 1.125 for wait in expected])


@pytest.mark.parametrize(("asked", "waits"), [("7", 7), ("0", 0.5625), ("soon", 0.5625)])
def test_a_service_that_asks_for_a_wait_gets_it(harness, tool, asked, waits):
    world = VirtualTime()
    result = called(harness, tool, Flaky(status(429, retry_after=asked)), world)
    assert (result.success, result.attempts) == (True, 2)
    assert world.slept == pytest.approx([waits])


def test_a_service_may_name_the_time_of_the_next_try(harness, tool):
    world = VirtualTime()
    then = formatdate(time.time() + 9, usegmt=True)
    assert called(harness, tool, Flaky(status(503, retry_after=then)), world).success
    assert world.slept == pytest.approx([9], abs=3)


def test_a_wait_beyond_the_deadline_is_told_and_not_waited_for(harness, tool):
    world = VirtualTime()
    result = called(harness, tool, Flaky(*[status(429, retry_after="3600")] * 9), world)
    assert (result.attempts, world.slept) == (1, [])
    assert result.error.retry_after_ms == 3_600_000


def test_a_call_that_was_turned_away_is_failed_and_had_no_effect(harness, tool):
    result = called(harness, tool, Flaky(status(429)), read_only=False)
    assert (result.outcome, result.error.code) == ("failed", "api_offline")
    assert "may be called again" in result.error.message


def test_no_wait_goes_beyond_the_deadline(harness, tool):
    world = VirtualTime()
    limits = Limits(retries=50, timeout_s=10)
    result = called(harness, tool, Flaky(*[TimeoutError()] * 99), world, limits=limits)
    assert result.attempts == 5
    assert sum(world.slept) < 10


@pytest.mark.parametrize("error", OFFLINE.values(), ids=OFFLINE)
def test_a_call_with_a_possible_effect_is_never_retried(harness, tool, error):
    flaky = Flaky(*[error] * 9)
    result = called(harness, tool, flaky, read_only=False)
    assert (flaky.starts, result.attempts, result.api_offline) == (1, 1, True)


def test_a_timeout_with_a_possible_effect_is_unknown(harness, tool):
    for error in (TimeoutError(), httpx.ReadTimeout("x")):
        result = called(harness, tool, Flaky(error), read_only=False)
        assert (result.outcome, result.error.code) == ("unknown", "outcome_unknown")
    result = called(harness, tool, Flaky(httpx.ConnectTimeout("x")), read_only=False)
    assert (result.outcome, result.error.code) == ("failed", "api_offline")
    assert "may have taken effect" not in result.error.message


@pytest.mark.parametrize("fields", [{"idempotent": "yes"}, {"idempotent": "keyed"}])
def test_idempotent_tools_are_retried_with_one_key(harness, tool, fields):
    flaky = Flaky(TimeoutError(), TimeoutError())
    result = called(harness, tool, flaky, read_only=False, **fields)
    assert (result.success, result.attempts) == (True, 3)
    assert len(set(flaky.keys)) == 1


def test_without_retries_one_attempt_is_made(harness, tool):
    flaky = Flaky(*[TimeoutError()] * 9)
    result = called(harness, tool, flaky, limits=Limits())
    assert (flaky.starts, result.attempts, result.error.code) == (1, 1, "api_offline")


def test_a_tools_own_code_is_kept_next_to_the_flag(harness, tool):
    error = wrapped(httpx.ConnectError("x"), code="insurer_unreachable")
    result = called(harness, tool, Flaky(*[error] * 9))
    assert (result.error.code, result.error.message) == (
        "insurer_unreachable",
        "The desk is closed.",
    )
    assert (result.api_offline, result.attempts) == (True, 4)


def test_a_nested_connection_failure_sets_the_flag_once(harness, tool):
    inner = Flaky(*[TimeoutError()] * 99)

    async def outer(*, context):
        result = await context.call("act", {})
        raise ToolError(result.error.message, code=result.error.code)

    world = VirtualTime()
    dispatcher = harness(
        tool("act", inner, context="context", mode="async", read_only=True, limits=THREE),
        tool("outer", outer, context="context", read_only=True, limits=THREE),
        settings=MEMORY, timing=world.timing,
    ).dispatcher  # fmt: skip
    result = run(world, lambda: dispatcher.call("outer", "{}"))
    assert (result.error.code, result.api_offline, result.attempts) == ("api_offline", True, 1)
    assert inner.starts == 4


def test_each_attempt_counts_for_the_rate_limit(harness, tool):
    world = VirtualTime()
    limits = Limits(retries=3, backoff_s=0.001, rate=Rate(calls=1, per_s=2))
    result = called(harness, tool, Flaky(*[TimeoutError()] * 9), world, limits=limits)
    assert result.attempts == 4
    assert world.moment - 1000 >= 6


def test_an_attempt_that_would_start_too_late_is_not_made(harness, tool):
    world = VirtualTime()
    limits = Limits(retries=3, backoff_s=0.001, rate=Rate(calls=1, per_s=60))
    result = called(harness, tool, Flaky(*[TimeoutError()] * 9), world, limits=limits)
    assert (result.attempts, result.error.code) == (1, "api_offline")


def test_calls_of_an_attempt_have_the_keys_of_the_previous_attempt(harness, tool):
    keys = []

    async def inner(*, context):
        keys.append(context.idempotency_key)

    async def outer(*, context):
        await context.call("inner", {})
        if len(keys) < 3:
            raise TimeoutError

    world = VirtualTime()
    dispatcher = harness(
        tool("inner", inner, context="context"),
        tool("outer", outer, context="context", idempotent="keyed", limits=THREE),
        settings=MEMORY, timing=world.timing,
    ).dispatcher  # fmt: skip
    assert run(world, lambda: dispatcher.call("outer", "{}")).success
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_cancelling_ends_the_attempts(harness, tool):
    flaky = Flaky(*[TimeoutError()] * 9)
    bound = tool("act", flaky, context="context", mode="async", read_only=True, limits=THREE)
    dispatcher = harness(bound, settings=MEMORY).dispatcher

    async def main():
        task = asyncio.create_task(dispatcher.call("act", "{}"))
        for _ in range(10_000):
            if flaky.starts:
                break
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert flaky.starts == 1
