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


def test_the_calls_of_a_plan_share_its_rows_and_the_rest_is_denied(
    workspace_records, make, workspace
):
    workspace_records.load(*[make.lab(n, day=f"2025-01-{n + 1:02}") for n in range(3)])
    call = {"tool": "get_labs", "params": {"patient_id": "123"}}
    plan = {"calls": [call] * 4, "budget": {"rows": 4, "bytes": 100_000, "timeout_ms": 5000}}
    turn = workspace.handle_sync(json.dumps(plan), dialect="plan", context={"patient": "123"})
    first, second, *others = turn.results
    assert (len(first.data), first.truncated) == (3, None)
    assert (len(second.data), second.truncated["rows"]) == (1, True)
    for other in others:
        assert (other.outcome, other.error.code) == ("denied", "budget_exhausted")
        assert other.error.message == "The plan's budget has no rows left for get_labs."


def test_the_calls_of_a_plan_share_its_bytes(workspace_records, make, workspace):
    workspace_records.load(*[make.lab(n, day=f"2025-01-{n + 1:02}") for n in range(30)])
    call = {"tool": "get_labs", "params": {"patient_id": "123"}}
    plan = {"calls": [call] * 3, "budget": {"rows": 1000, "bytes": 700, "timeout_ms": 5000}}
    turn = workspace.handle_sync(json.dumps(plan), dialect="plan", context={"patient": "123"})
    given = [json.dumps(r.data, separators=(",", ":")) for r in turn.results if r.data]
    assert 0 < sum(map(len, given)) <= 700


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
