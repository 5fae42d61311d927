"""A query's cost grows with its result, not with the store."""

import pytest

from toolmd_simplescribe import views
from toolmd_simplescribe.codes import NAMES
from toolmd_simplescribe.moments import Span

VIEWS = {
    "newest_lab": views.LABS,
    "newest_vital": views.VITALS,
    "newest_medication": views.MEDICATIONS,
    "newest_problem": views.PROBLEMS,
    "newest_note": views.NOTES,
}
DAY_US = 86_400_000_000


@pytest.mark.parametrize("ranged", [False, True])
@pytest.mark.parametrize("index", VIEWS)
def test_each_look_up_runs_along_one_index_without_a_scan_or_a_sort(index, ranged, records):
    asked = {"patient": 1, "key": "x", "start": 0, "end": 1, "most": 10}
    with records.store.database.reading() as db:
        query = f"EXPLAIN QUERY PLAN {VIEWS[index].query(ranged=ranged)}"
        plan = [row[3] for row in db.execute(query, asked)]
    (step,) = plan
    assert step.startswith(f"SEARCH {VIEWS[index].table} USING INDEX {index} (patient=?")
    assert ("at>? AND at<?" in step) == ranged


def test_a_hundred_thousand_results_cost_no_more_than_a_thousand(records, make):
    records.load(make.lab())

    def fill(count):
        rows = (
            (1, 1, code, "A", n, "%", n * DAY_US, "2020", "s", "u")
            for n in range(count)
            for code in list(NAMES)[:10]
        )
        with records.store.database.writing() as db:
            db.executemany(
                "INSERT INTO lab (resource, patient, code, display, value, unit, at, effective, "
                "system, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            found = views.newest(db, views.LABS, 1, NAMES, span, 50)
        assert len(found) == 50
        return steps

    middle = Span(20 * DAY_US, 80 * DAY_US)
    fill(100)
    few = cost(None), cost(middle)
    fill(10_000)
    many = cost(None), cost(middle)
    assert many[0] <= few[0] * 1.1
    assert many[1] <= few[1] * 1.1
