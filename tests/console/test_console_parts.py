"""The parts of the console's pages, without a browser."""

import datetime as dt

import pytest
from projects import ORDER, PAY

from toolmd._http.console.checks import checks_of
from toolmd._http.console.findings import FileLines, by_file
from toolmd._http.console.form import DEEPEST, fields_of
from toolmd._http.console.layout import clock
from toolmd._http.console.policy import chips
from toolmd._http.console.timeline import Bar, timeline
from toolmd._parse import parse_skill, parse_tool
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.run import JournalEntry, RunEvent, RunTrace, RunView
from toolmd._types.schema import Parameter, Schema
from toolmd._types.source import Span


@pytest.fixture
def spec():
    return parse_tool(ORDER, "order-supplies.tool.md")[0]


def test_each_type_has_its_control(spec):
    controls = {field.key: field.control for field in fields_of(spec.parameters)}
    assert controls == {
        "item": "enum",
        "amount": "number",
        "day": "date",
        "urgent": "boolean",
        "note": "text",
        "rooms": "array",
        "address": "object",
    }


def test_a_field_shows_the_allowed_values(spec):
    amount = fields_of(spec.parameters)[1]
    assert (amount.words, amount.required, amount.hint) == ("integer", True, "1 to 20")


@pytest.mark.parametrize(
    ("shape", "control"),
    [
        (Schema(types=("string", "array")), "json"),
        (Schema(), "json"),
        (Schema(types=("object",)), "json"),
        (Schema(types=("null",)), "json"),
        (Schema(types=("string",), max_length=2000), "long"),
        (Schema(types=("string",), format="date-time"), "date-time"),
        (Schema(types=("integer",), enum=(1, 2)), "enum"),
    ],
)
def test_a_value_without_a_control_is_written_as_json(shape, control):
    assert fields_of((Parameter(name="x", shape=shape),))[0].control == control


def test_a_form_has_a_deepest_level():
    shape = Schema(types=("string",))
    for _ in range(DEEPEST + 3):
        shape = Schema(types=("array",), items=shape)
    field = fields_of((Parameter(name="x", shape=shape),))[0]
    depth = 0
    while field.item is not None:
        field, depth = field.item, depth + 1
    assert (depth, field.control) == (DEEPEST, "json")


def states(checks):
    return {check.name: check.state for check in checks if check.state != "passed"}


@pytest.fixture
def workspace(tmp_path):
    from toolmd import Workspace

    (tmp_path / "tools_md").mkdir()
    (tmp_path / "tools_md/pay-invoice.tool.md").write_text(PAY)
    (tmp_path / "toolmd.toml").write_text("plugins = []\n")
    with Workspace.open(tmp_path) as opened:
        yield opened


GOOD = {"invoice": "A-1", "euros": 1}


@pytest.mark.parametrize(
    ("arguments", "confidence", "stands"),
    [
        ("{", 1.0, {"syntax": "stopped", "run": "unreached"}),
        ({}, 1.0, {"arguments": "stopped", "run": "unreached"}),
        (GOOD, None, {"confidence": "stopped", "run": "unreached"}),
        (GOOD, 0.5, {"confidence": "stopped", "run": "unreached"}),
        (GOOD, 0.9, {"confirmation": "pending", "run": "unreached"}),
    ],
)
def test_the_checks_show_where_a_call_stopped(workspace, arguments, confidence, stands):
    result = workspace.call_sync("pay_invoice", arguments, confidence=confidence, dry_run=True)
    checks = checks_of(workspace.tools["pay_invoice"], workspace.settings, result, confidence)
    shown = states(checks)
    assert stands.items() <= shown.items()
    stop = next(iter(stands))
    assert next(check.reason for check in checks if check.name == stop)
    assert next(iter(shown)) == stop
    assert all(state == "unreached" for state in list(shown.values())[1:])


def test_a_call_that_ran_has_passed_every_check(workspace):
    pending = workspace.call_sync("pay_invoice", GOOD, confidence=1.0)
    result = workspace.confirmations.respond_sync(pending.confirmation.id, "done")
    checks = checks_of(workspace.tools["pay_invoice"], workspace.settings, result)
    assert states(checks) == {}


def test_a_denial_with_an_unknown_code_is_from_a_guard(workspace):
    from toolmd._types.result import Failure, Result

    failure = Failure("too_late_today", "Nobody pays after six.")
    denied = Result(success=False, tool="pay_invoice", outcome="denied", error=failure)
    checks = checks_of(workspace.tools["pay_invoice"], workspace.settings, denied)
    assert next(check for check in checks if check.state == "stopped").name == "guards"


def test_a_policy_is_described_in_words_and_in_labels(workspace):
    bound = workspace.tools["pay_invoice"]
    asks = {check.name: check.asks for check in checks_of(bound, workspace.settings)}
    assert asks["confidence"] == ("a confidence of at least 0.8",)
    assert asks["confirmation"] == ("a person confirms every call",)
    assert asks["intent"] == ()
    words = [word for word, _ in chips(bound, workspace.settings)]
    assert words == ["confirmed", "confidence ≥ 0.8"]


def test_a_finding_shows_its_line_and_marks_its_place(tmp_path):
    (tmp_path / "a.tool.md").write_text("# A\n\t- **Type**: strng\n")
    found = Diagnostic(Span("a.tool.md", 2, 14, 2, 19), "unknown-type", Severity.ERROR, "m")
    file = by_file([found], FileLines(tmp_path))["a.tool.md"]
    finding = file.findings[0]
    assert (finding.before, finding.meant, finding.after) == ("\t- **Type**: ", "strng", "")
    assert finding.carets == "^^^^^"
    assert (file.worst, file.count("error")) == ("error", 1)


@pytest.mark.parametrize("span", [(9, 1, 9, 2), (0, 0, 0, 0), (2, 90, 2, 95), (1, 3, 2, 1)])
def test_a_finding_without_a_place_is_kept(tmp_path, span):
    (tmp_path / "a.tool.md").write_text("# A\nb\n")
    found = Diagnostic(Span("a.tool.md", *span), "c", Severity.HINT, "m")
    assert by_file([found], FileLines(tmp_path))["a.tool.md"].findings[0].diagnostic is found
    gone = Diagnostic(Span("gone.tool.md", 1, 1, 1, 2), "c", Severity.HINT, "m")
    assert not by_file([gone], FileLines(tmp_path))["gone.tool.md"].findings[0].has_line


def test_a_run_is_a_timeline_of_steps_with_their_records_and_waits():
    spec, _ = parse_skill("# A: b\n\nC.\n", "a.skill.md")
    began = dt.datetime(2026, 3, 5, 9, tzinfo=dt.UTC)
    at = [(began + dt.timedelta(seconds=s)).isoformat() for s in (0, 2, 7200, 7202.5)]
    view = RunView("r", "a", "running", {}, at[0], (
        JournalEntry("1:get", {"outcome": "ok"}, at[1]),
        JournalEntry("1:ask", {"approved": True}, at[2]),
        JournalEntry("B: c/1[0]:get", 1, at[3]),
        JournalEntry("other", 2, at[3]),
    ))  # fmt: skip
    events = (
        RunEvent("r", "started", "a", "1", "First"),
        RunEvent("r", "done", "a", "1", "First"),
        RunEvent("r", "started", "a", "B: c/1", "Loop"),
        RunEvent("r", "started", "a", "B: c/1[0]", "Loop"),
        RunEvent("r", "progress", "a", "B: c/1", "Loop", "half"),
    )
    told = timeline(RunTrace(view, spec, events, {}), began + dt.timedelta(hours=4))
    assert [
        (line.step, line.kind, [e.at for e in line.entries], line.took) for line in told.lines
    ] == [
        ("1", "done", at[1:3], "2.0 s, waited 1 h 59 min"),
        ("B: c/1", "started", [], ""),
        ("B: c/1[0]", "started", [at[3]], "2 h"),
        ("other", "done", [at[3]], "0.0 s"),
    ]
    assert told.lines[0].bars == (Bar(0, 6, waits=False), Bar(0, 500, waits=True))
    assert told.took == "2 h, waited 1 h 59 min"


@pytest.mark.parametrize("moment", [None, "", "not a time", 0.0, "2026-03-05T09:00:00+00:00"])
def test_an_invalid_moment_is_shown_unchanged(moment):
    assert isinstance(clock(moment), str)


def test_a_moment_is_shown_with_its_offset():
    shown = clock("2026-03-05T09:00:00Z")
    assert dt.datetime.fromisoformat(shown) == dt.datetime(2026, 3, 5, 9, tzinfo=dt.UTC)
