"""A query's cost grows with its result, not with the store."""

import pytest

from toolmd_simplescribe.fhir.observations import NAMES
from toolmd_simplescribe.moments import Span
from toolmd_simplescribe.store import look_up, newest

DAY_US = 86_400_000_000


@pytest.mark.parametrize("ranged", [False, True])
def test_a_look_up_runs_along_one_index_without_a_scan_or_a_sort(ranged, records):
    asked = {"patient": 1, "kind": "labs", "key": "x", "start": 0, "end": 1, "most": 10}
    with records.store.database.reading() as db:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {look_up(ranged=ranged)}", asked)]
    (step,) = plan
    assert step.startswith("SEARCH item USING INDEX newest_item (patient=?")
    assert ("at>? AND at<?" in step) == ranged


def test_a_hundred_thousand_results_cost_no_more_than_a_thousand(records, make):
    records.load(make.lab())

    def fill(count):
        rows = ((1, 1, "labs", code, n * DAY_US, "{}", "") for n in range(count)
                for code in list(NAMES)[:10])  # fmt: skip
        with records.store.database.writing() as db:
            db.executemany(
                "INSERT INTO item (resource, patient, kind, key, at, body, text) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def cost(span):
        """Count the steps of SQLite's machine, which no other program makes slower."""
        steps = 0

        def step():
            nonlocal steps
            steps += 1

        with records.store.database.reading() as db:
            db.set_progress_handler(step, 1)
            found = newest(db, 1, "labs", NAMES, span, 50)
        assert len(found) == 50
        return steps

    middle = Span(20 * DAY_US, 80 * DAY_US)
    fill(100)
    few = cost(None), cost(middle)
    fill(10_000)
    many = cost(None), cost(middle)
    assert many[0] <= few[0] * 1.1
    assert many[1] <= few[1] * 1.1
