"""Threads, streams, crashes, and the context of a running function."""

import asyncio
import contextvars
import dataclasses
import datetime as dt
import logging
import threading

import pytest

from toolmd._call.threads import run_on
from toolmd._types.schema import Parameter, Schema
from toolmd.errors import ToolError

TEXT = Schema(types=("string",))


def test_a_sync_function_runs_in_a_thread_and_sees_context_variables(harness, tool):
    where = contextvars.ContextVar("where", default="nowhere")

    def look():
        return {"thread": threading.current_thread().name, "where": where.get()}

    async def main():
        where.set("here")
        return await harness(tool("look", look)).dispatcher.call("look", "{}")

    assert asyncio.run(main()).data == {"thread": "toolmd-call", "where": "here"}


def test_an_inline_function_runs_in_the_loop(harness, tool):
    def look():
        return threading.current_thread() is threading.main_thread()

    assert harness(tool("look", look, mode="inline")).call("look").data is True


def test_a_stream_reports_each_item_and_returns_the_last(harness, tool):
    async def count():
        for number in range(3):
            yield {"number": number}

    heard = []
    result = harness(tool("count", count)).call("count", on_event=heard.append, call_id="c")
    assert [(e.kind, e.tool, e.call_id, e.data) for e in heard] == [
        ("item", "count", "c", {"number": n}) for n in range(3)
    ]
    assert result.data == {"number": 2}


def test_a_stream_without_items_returns_null(harness, tool):
    async def none():
        return
        yield

    result = harness(tool("none", none)).call("none")
    assert (result.success, result.data) == (True, None)


def test_progress_is_reported_while_the_tool_runs(harness, tool):
    async def work(*, context):
        await context.progress("half", 0.5)
        return {}

    heard = []

    async def listen(event):
        heard.append(event.data)

    assert harness(tool("work", work, context="context")).call("work", on_event=listen).success
    assert heard == [{"text": "half", "fraction": 0.5}]


def test_a_listener_that_fails_stops_no_call(harness, tool, caplog):
    async def work(*, context):
        await context.progress("half", 0.5)
        return {"done": True}

    async def listen(event):
        raise OSError(f"no room for {event.kind}")

    made = harness(tool("work", work, context="context"))
    with caplog.at_level(logging.ERROR, logger="toolmd.crash"):
        assert made.call("work", on_event=listen).data == {"done": True}
    assert "no room for progress" in caplog.text


@pytest.mark.parametrize("error", [RuntimeError, SystemExit, StopIteration, RecursionError])
@pytest.mark.parametrize("mode", ["async", "sync", "inline", "stream"])
def test_a_crash_goes_to_the_log_under_a_reference_and_not_to_the_model(
    harness, tool, error, mode, caplog
):
    def crash():
        raise error("hunter2")

    async def crash_async():
        raise error("hunter2")

    async def crash_stream():
        yield 1
        raise error("hunter2")

    function = {"async": crash_async, "stream": crash_stream}.get(mode, crash)
    with caplog.at_level(logging.ERROR, logger="toolmd.crash"):
        result = harness(tool("crash", function, mode=mode)).call("crash")
    assert (result.outcome, result.error.code) == ("failed", "tool_error")
    reference = result.error.message.split()[-1].rstrip(".")
    assert any(reference in record.getMessage() for record in caplog.records)
    assert "hunter2" in caplog.text
    assert "hunter2" not in str(result.to_dict())
    assert "Traceback" not in str(result.to_dict())


@pytest.mark.parametrize("code", [None, "", 5, object()])
def test_a_code_that_is_no_word_is_the_default_one(harness, tool, code):
    def book():
        raise ToolError("That slot is taken.", code=code)

    result = harness(tool("book", book, mode="sync")).call("book")
    assert (result.error.code, result.error.message) == ("tool_error", "That slot is taken.")


def test_a_note_that_is_no_text_becomes_one(harness, tool):
    async def count(*, context):
        context.note(5)
        return {}

    assert harness(tool("count", count, context="context")).call("count").notes == ("5",)


class OwnError(BaseException):
    pass


async def wait() -> None:
    await asyncio.sleep(0)


async def go_on() -> None:
    pass


ENDING = [
    KeyboardInterrupt(),
    SystemExit(),
    OwnError("secret"),
    asyncio.CancelledError(),
    BaseExceptionGroup("several", [KeyboardInterrupt()]),
]


@pytest.mark.parametrize("error", ENDING)
@pytest.mark.parametrize("first", [None, wait, go_on])
def test_what_a_tool_raises_to_end_the_program_is_a_crash_of_the_tool(harness, tool, error, first):
    def end():
        raise error

    async def end_later():
        await first()
        raise error

    if isinstance(error, KeyboardInterrupt) and first is not None:
        pytest.skip("in the main thread it is the user's own")
    result = harness(tool("end", end if first is None else end_later)).call("end")
    assert (result.outcome, result.error.code) == ("failed", "tool_error")
    assert "secret" not in str(result.to_dict())


def test_foreign_code_that_is_closed_from_outside_ends():
    ended = []

    async def wait_long():
        try:
            await asyncio.sleep(0)
        finally:
            ended.append(True)

    waiting = wait_long()
    running = run_on(waiting, waiting.send(None))
    running.send(None)
    running.close()
    assert ended == [True]


def test_a_tool_error_keeps_its_code_and_message(harness, tool):
    async def book():
        raise ToolError("That slot is taken.", code="slot_taken")

    error = harness(tool("book", book)).call("book").error
    assert (error.code, error.message) == ("slot_taken", "That slot is taken.")


@dataclasses.dataclass
class Slot:
    day: dt.date
    free: bool


def test_arguments_reach_python_by_its_names_and_types(harness, tool):
    async def book(start_time, *, clinic):
        return {"year": start_time.year, "clinic": clinic}

    class Resources:
        closed = 0

        async def scope(self):
            return self

        async def get(self, kind):
            return kind.__name__

        async def close(self):
            self.closed += 1

    resources = Resources()
    booking = harness(
        tool(
            "book",
            book,
            Parameter(name="startTime", shape=TEXT, required=True),
            names={"startTime": "start_time"},
            converters={"startTime": dt.datetime.fromisoformat},
            resources={"clinic": Slot},
        ),
        resources=resources,
    )
    assert booking.call("book", {"startTime": "2026-03-05T09:00"}).data == {
        "year": 2026,
        "clinic": "Slot",
    }
    refused = booking.call("book", {"startTime": "tomorrow"})
    assert (refused.outcome, refused.error.code) == ("denied", "invalid_arguments")
    assert refused.error.details[0][1:] == (
        "startTime",
        'startTime must be what the tool can take; got "tomorrow"',
        "",
        '"tomorrow"',
    )
    assert resources.closed == 1


def test_a_tool_calls_another_through_the_same_dispatcher(harness, tool):
    keys = []

    async def inner(*, context):
        keys.append(context.idempotency_key)
        return {"patient": context.facts.get("patient")}

    async def outer(*, context):
        results = [await context.call("inner", {}) for _ in range(2)]
        keys.append(context.idempotency_key)
        return [r.data for r in results]

    both = harness(
        tool("inner", inner, context="context", requires_context=("patient",)),
        tool("outer", outer, context="context"),
    )
    result = both.call("outer", context={"patient": "p1"}, idempotency_key="run-1/2")
    assert result.data == [{"patient": "p1"}] * 2
    assert keys == ["run-1/2/1", "run-1/2/2", "run-1/2"]


def test_tools_that_call_one_another_come_to_an_end(harness, tool):
    async def again(*, context):
        result = await context.call("again", {})
        return {"code": result.error.code} if result.error else result.data

    assert harness(tool("again", again, context="context")).call("again").data == {
        "code": "malformed_call"
    }


def test_an_idempotency_key_is_generated_if_none_is_given(harness, tool):
    async def key(*, context):
        return context.idempotency_key

    keys = harness(tool("key", key, context="context"))
    assert len({keys.call("key").data for _ in range(3)}) == 3


def test_a_call_that_its_host_named_has_the_same_key_when_it_is_made_again(harness, tool):
    async def key(n=0, *, context):
        return context.idempotency_key

    count = Parameter(name="n", shape=Schema(types=("integer",)))
    keys = harness(tool("key", key, count, context="context"))

    def made(arguments=None, **context):
        return keys.call("key", arguments or {}, **context).data

    first = made({"n": 1}, call_id="call-1", user="u1")
    assert made({"n": 1}, call_id="call-1", user="u1") == first
    assert "call-1" not in first
    others = {
        made({"n": 2}, call_id="call-1", user="u1"),
        made({"n": 1}, call_id="call-2", user="u1"),
        made({"n": 1}, call_id="call-1", user="u2"),
        made({"n": 1}, call_id="call-1", user="u1", context={"patient": "p1"}),
        made({"n": 1}, call_id="call-1", user="u1", conversation="c1"),
    }
    assert len(others | {first}) == 6
    unfit = {1: object(), "a": 2}
    assert keys.call("key", unfit, call_id="call-1").error.code == "malformed_call"


def test_the_http_client_is_created_on_request_and_closed_afterwards(harness, tool):
    seen = []

    async def fetch(*, context):
        seen.append(context.http)
        assert context.http is context.http
        return {"closed": context.http.is_closed}

    result = harness(tool("fetch", fetch, context="context")).call("fetch")
    assert result.data == {"closed": False}
    assert seen[0].is_closed


def test_an_implementation_that_cannot_be_loaded_fails_its_own_calls(harness, tool):
    bound = tool("broken", print, mode="sync")

    def load():
        raise ToolError("tools_md/broken.py:1: no function 'broken' here")

    broken = type(bound)(bound.name, bound.spec, type(bound.binding)("sibling", "x", load))
    result = harness(broken).call("broken")
    assert result.outcome == "failed"
    assert "no function 'broken'" in result.error.message
