"""The process of a server leaves nothing open behind."""

import asyncio
import gc
import sys
import warnings
from pathlib import Path

from toolmd._gateway.stdio import run_server

TALKATIVE = "import sys\nwhile True: sys.stdout.write('x' * 300_000)\n"


def test_a_server_whose_output_nobody_reads_leaves_no_pipe_open(tmp_path: Path) -> None:
    async def run() -> int | None:
        async with run_server([sys.executable, "-c", TALKATIVE], {}, tmp_path) as server:
            pass
        return server.process.returncode

    gc.collect()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", ResourceWarning)
        assert asyncio.run(run()) is not None
        gc.collect()

    assert [str(one.message) for one in found] == []
