"""Lines reach a process whole and in order, from any thread, and nobody waits for its reader."""

import asyncio
import os
from collections.abc import Iterator
from threading import Thread

import pytest

from toolmd._remote.mcp.error import NotReadError
from toolmd._remote.mcp.writer import LineWriter

LINES = 100
THREADS = 4


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe; the writer closes the second one."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


def _line(thread: int, number: int) -> bytes:
    # Some lines are longer than a pipe takes at once.
    return f"{thread} {number} ".encode() + b"x" * (number % 7 * 10_000)


def test_lines_of_many_threads_arrive_whole_and_in_the_order_of_each(pipe: tuple[int, int]) -> None:
    reading, writing = pipe

    async def written() -> list[bytes]:
        writer = LineWriter(writing, lambda: None)

        def write(thread: int) -> None:
            for number in range(LINES):
                writer.write(_line(thread, number))

        threads = [Thread(target=write, args=(one,)) for one in range(THREADS)]
        for one in threads:
            one.start()
        with os.fdopen(reading, "rb", closefd=False) as lines:
            found = await asyncio.to_thread(
                lambda: [lines.readline().rstrip(b"\n") for _ in range(LINES * THREADS)]
            )
        writer.close()
        return found

    found = asyncio.run(written())

    for thread in range(THREADS):
        own = [line for line in found if line.startswith(b"%d " % thread)]
        assert own == [_line(thread, number) for number in range(LINES)]


def test_the_writer_learns_that_the_other_end_is_closed(pipe: tuple[int, int]) -> None:
    reading, writing = pipe

    async def gone() -> None:
        noticed = asyncio.Event()
        writer = LineWriter(writing, noticed.set)
        assert writer.write(b"x" * 1_000_000)
        os.dup2(os.open(os.devnull, os.O_RDONLY), reading)
        async with asyncio.timeout(10):
            await noticed.wait()
        assert not writer.write(b"more")
        writer.close()
        assert not writer.write(b"more")

    asyncio.run(gone())


def test_a_reader_that_reads_nothing_gets_no_more_lines(pipe: tuple[int, int]) -> None:
    async def refused() -> str:
        writer = LineWriter(pipe[1], lambda: None)
        writer.write(b"x" * (30 << 20))
        with pytest.raises(NotReadError) as raised:
            writer.write(b"more")
        writer.close()
        return str(raised.value)

    assert asyncio.run(refused()).endswith("bytes wait for it")
