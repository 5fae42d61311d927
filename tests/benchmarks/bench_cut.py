"""Measure what it costs to cut a result of 1,000 items: `bench.py cut`."""

import asyncio
import gc
import json
import time

from toolmd.testing import memory_workspace

TOOL = """\
# List Labs

List laboratory results.

## Metadata

- **Name**: list_labs
- **Version**: 1.0.0
- **Category**: labs

## Parameters

None

## Returns

- **Type**: object
- **Description**: The results
"""
ITEMS = 1000
LABS = [
    {
        "code": "4548-4",
        "display": "Hemoglobin A1c/Hemoglobin.total in Blood",
        "value": 5 + number / 1000,
        "unit": "%",
        "referenceRange": "4.0-5.6",
        "effectiveDateTime": "2025-03-04T10:00:00Z",
        "source": {"system": "Epic", "updated": "2025-03-04T12:00:00Z"},
    }
    for number in range(ITEMS)
]
SIZE = len(json.dumps({"labs": LABS}, separators=(",", ":")))
ROUNDS = 60


async def list_labs():
    """Give the same rows each time."""
    return {"labs": LABS}


def cut():
    """Measure a cut call against one of the same tool without limits, at each budget."""
    limits = {f"{rows} rows": f"Max Rows**: {rows}" for rows in (ITEMS, ITEMS - 1, ITEMS // 2, 1)}
    budgets = {0, 1, SIZE // 4, SIZE // 2, SIZE * 3 // 4, SIZE - 300}
    limits |= {f"{less} bytes less": f"Max Bytes**: {SIZE - less}" for less in sorted(budgets)}
    texts = {"": TOOL}
    texts |= {name: f"{TOOL}\n## Limits\n\n- **{limit}\n" for name, limit in limits.items()}
    opened = {name: _open(text) for name, text in texts.items()}
    try:
        times = asyncio.run(_times(opened))
    finally:
        for workspace in opened.values():
            workspace.close()
    plain = times.pop("")
    worst = max(times, key=times.__getitem__)
    over = (times[worst] - plain) * 1e3
    note = f"{worst}; the plain call takes {plain * 1e3:.2f} ms for {SIZE // 1000} kB"
    yield f"{ITEMS} items, cut / over the plain call (ms)", over, 1, note


def _open(text):
    return memory_workspace({"list-labs.tool.md": text}, [list_labs])


async def _times(opened):
    times = dict.fromkeys(opened, 9.0)
    gc.disable()
    for _ in range(ROUNDS):
        for name, workspace in opened.items():
            began = time.perf_counter()
            result = await workspace.call("list_labs", "{}")
            times[name] = min(times[name], time.perf_counter() - began)
            assert result.success
    gc.enable()
    return times
