"""Symptoms, an undone entry, the trend of weeks, the page for a doctor, delivered reminders."""

import json
from datetime import time, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from typer.testing import CliRunner

from toolmd_alara.commands import commands, deliver, send
from toolmd_alara.days import page, trends
from toolmd_alara.reminders import Agenda


@pytest.fixture
def do(call, workspace):
    """Call a tool, and confirm where it asks."""

    def go(tool, **arguments):
        result = call(tool, arguments, message="I have a headache, log it")
        if result.confirmation is not None:
            result = workspace.confirmations.approve_sync(result.confirmation.id, user="ana")
        return result

    return go


def test_a_symptom_is_noted_in_the_users_words(do, call):
    assert do("log_symptom", symptom_name="headache", severity="mild").message == (
        "Logged symptom: headache"
    )
    assert [one["title"] for one in do("get_today_summary").data["entries"]] == ["headache, mild"]
    other = call("log_symptom", {"symptom_name": "stroke"}, message="I have a headache")
    assert (other.outcome, other.error.code) == ("denied", "not_stated_by_user")


def test_a_mistyped_entry_is_undone_and_counts_no_more(do, call):
    for upper in (210, 120):
        entry = do("log_blood_pressure", systolic=upper, diastolic=80)
    wrong = {"kind": "blood_pressure", "entry_id": entry.data["entry_id"] - 1}
    asked = call("undo_entry", wrong)
    assert asked.confirmation.prompt.startswith("Undo 210/80 mmHg? ")
    assert do("undo_entry", **wrong).message == "Undone: 210/80 mmHg"
    assert do("undo_entry", **wrong).message == "Undone: 210/80 mmHg"
    assert do("get_today_summary").data["blood_pressure"]["average"]["systolic"] == 120
    assert do("undo_entry", kind="medication", entry_id=9).error.code == "no_such_entry"
    assert do("undo_entry", kind="care_log", entry_id=1).error.code == "invalid_arguments"


def fill(log, clock):
    ana = log.of("ana")
    for week, upper in enumerate((150, 140, 130)):
        ana.write("blood_pressure", f"p{week}", {"systolic": upper, "diastolic": 85})
        ana.write("hydration", f"h{week}", {"amount_ml": 500 + week * 100})
        ana.write("symptom", f"s{week}", {"name": "<Headache>", "severity": None})
        clock.advance(timedelta(weeks=1).total_seconds())
    return ana


def test_weeks_have_averages_and_counts(log, clock):
    weeks = trends(fill(log, clock), 4)
    assert [week.get("blood_pressure", {}).get("systolic") for week in weeks] == [
        150,
        140,
        130,
        None,
    ]
    assert weeks[0]["hydration"] == {"days": 1, "ml_a_day": 500}
    assert weeks[1]["symptom"] == [{"name": "<headache>", "times": 1}]
    assert weeks[-1]["last_day"] == "2026-03-23"
    assert "blood_pressure" not in weeks[-1]


def test_the_page_for_a_doctor_has_each_week_and_each_entry(log, clock):
    written = page(fill(log, clock), 4)
    assert "150/85 on average of 1" in written
    assert "600 ml a day on 1 day" in written
    assert "&lt;Headache&gt;" in written
    assert "<Headache>" not in written


def test_without_a_last_day_the_log_is_read_up_to_today(do, call, clock):
    do("log_hydration", amount=250)
    clock.advance(timedelta(days=2).total_seconds())
    do("log_hydration", amount=300)
    found = do("read_health_log", first_day="2026-03-01").data
    assert [one["title"] for one in found] == ["250 ml", "300 ml"]


@pytest.fixture
def pill(log, clock):
    """A reminder that became due a minute ago."""
    Agenda(log.of("ana b")).add(
        "k", title="Pill", at=time(9), days=range(1, 8), kind=None, description=None
    )
    assert deliver(log, "json://x/{user}", lambda url, title: True) == (0, 0)
    clock.advance(3660)


def test_what_is_due_is_delivered_once_and_not_hours_later(log, clock, pill):
    sent = []

    def send(url, title):
        sent.append((url, title))
        return len(sent) > 1

    assert deliver(log, "json://x/{user}", send) == (0, 1), "tried again"
    assert deliver(log, "json://x/{user}", send) == (1, 0)
    assert deliver(log, "json://x/{user}", send) == (0, 0)
    assert sent == [("json://x/ana%20b", "Pill")] * 2
    clock.advance(timedelta(days=1, hours=5).total_seconds())
    assert deliver(log, "json://x/{user}", send) == (0, 0)


# Apprise looks for a module that Python 3.13 no longer has.
@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
def test_a_reminder_is_delivered_by_apprise_itself(log, pill):
    pytest.importorskip("apprise")
    taken = []

    class Gateway(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            taken.append((self.path, body["title"], body["message"]))
            self.send_response(200 if len(taken) > 1 else 503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        url = f"json://127.0.0.1:{server.server_port}/{{user}}"
        assert [deliver(log, url, send) for _ in range(3)] == [(0, 1), (1, 0), (0, 0)]
        assert deliver(log, "nosuch://x", send) == (0, 0)
        server.shutdown()
    assert taken == [("/ana%20b", "Reminder", "Pill")] * 2


def test_the_commands_name_what_is_missing_and_write_the_page(clock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toolmd.toml").write_text("", encoding="utf-8")
    monkeypatch.delenv("ALARA_NOTIFY_URL", raising=False)
    app = commands(clock, None)
    assert "ALARA_NOTIFY_URL" in str(CliRunner().invoke(app, ["remind"]).exception)
    done = CliRunner().invoke(app, ["page", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.exception
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
