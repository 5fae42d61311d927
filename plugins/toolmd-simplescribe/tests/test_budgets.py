"""Results are cut at a whole item, by the stricter limit of the tool's file and the plan."""

import json


def test_more_results_than_the_file_allows_are_cut_and_said_to_be(workspace_records, make, call):
    workspace_records.load(
        *[make.lab(n, day=f"20{n // 12:02}-{n % 12 + 1:02}-01") for n in range(700)]
    )
    for arguments in ({}, {"limit": 1000}):
        cut = call("get_labs", arguments)
        assert (len(cut.data), cut.truncated["rows"]) == (500, True)
    few = call("get_labs", {"limit": 20})
    assert len(few.data) == 20
    assert not any((few.truncated or {}).values())


def test_a_plans_budget_cuts_further(workspace_records, make, workspace):
    workspace_records.load(*[make.lab(n, day=f"2025-01-{n + 1:02}") for n in range(30)])

    def planned(rows, size):
        reply = {
            "calls": [{"tool": "get_labs", "params": {"patient_id": "123"}}],
            "budget": {"rows": rows, "bytes": size, "timeout_ms": 5000},
        }
        turn = workspace.handle_sync(json.dumps(reply), dialect="plan", context={"patient": "123"})
        return turn.results[0]

    few = planned(5, 100_000)
    assert (len(few.data), few.truncated["rows"]) == (5, True)
    small = planned(30, 700)
    assert small.truncated["bytes"]
    assert 0 < len(json.dumps(small.data, separators=(",", ":"))) <= 700
