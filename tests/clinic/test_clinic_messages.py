"""Texts to parents: the outbox, and a gateway on this machine."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from tools_md._clinic.outbox import Notifier

from toolmd.errors import ToolError

# Apprise looks for a module that Python 3.13 no longer has.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


class Gateway(ThreadingHTTPServer):
    """Takes what Apprise posts as JSON, and answers with `status`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Take)
        self.status = 200
        self.taken = []


class _Take(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.taken.append((self.path, body["title"], body["message"]))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


@contextmanager
def gateway():
    with Gateway() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server, f"json://127.0.0.1:{server.server_port}/sms/{{phone}}"
        finally:
            server.shutdown()
            thread.join()


def test_without_a_gateway_the_message_is_kept_in_the_outbox(clinic):
    sent = Notifier(clinic.outbox).text("(214) 555-0142", "See you.", key="k")
    assert (sent["message_id"], sent["status"]) == ("M-1", "kept")
    assert clinic.outbox.messages() == [
        {
            "message_id": "M-1",
            "status": "kept",
            "phone_number": "+12145550142",
            "body": "See you.",
            "written_at": "2026-03-02T08:00:00",
        }
    ]


def test_the_same_key_sends_once_and_no_key_sends_each_time(clinic):
    notifier = Notifier(clinic.outbox)
    assert notifier.text("555-0142", "One", key="k") == notifier.text("555-0142", "One", key="k")
    notifier.text("555-0142", "Two", key=None)
    notifier.text("555-0142", "Two", key=None)
    assert [m["body"] for m in clinic.outbox.messages()] == ["One", "Two", "Two"]


def test_a_message_that_was_cut_off_before_it_was_sent_goes_out_under_its_key(clinic):
    clinic.outbox.put("+12145550142", "See you.", "k")
    assert clinic.outbox.messages()[0]["status"] == "queued"
    assert Notifier(clinic.outbox).text("214 555 0142", "See you.", key="k")["status"] == "kept"
    assert len(clinic.outbox.messages()) == 1


@pytest.mark.parametrize(
    ("written", "dialled"),
    [
        ("+1 (214) 555-0142", "+12145550142"),
        ("214.555.0142", "+12145550142"),
        ("+49 30 1234567", "+49301234567"),
        ("555-0142", "5550142"),
    ],
)
def test_a_number_is_dialled_as_written(clinic, written, dialled):
    Notifier(clinic.outbox).text(written, "Hello", key=None)
    assert clinic.outbox.messages()[0]["phone_number"] == dialled


def test_a_gateway_gets_the_number_and_the_text_once_per_key(clinic):
    with gateway() as (server, url):
        notifier = Notifier(clinic.outbox, url)
        for _ in range(2):
            assert notifier.text("214 555 0142", "See you.", key="k")["status"] == "sent"
    assert server.taken == [("/sms/+12145550142", "SMS to +12145550142", "See you.")]
    assert clinic.outbox.messages()[0]["status"] == "sent"


def test_a_failing_gateway_is_reported_and_retried_under_the_same_key(clinic):
    with gateway() as (server, url):
        server.status = 500
        notifier = Notifier(clinic.outbox, url)
        with pytest.raises(ToolError, match="M-1") as caught:
            notifier.text("214 555 0142", "See you.", key="k")
        assert caught.value.code == "sms_not_sent"
        assert clinic.outbox.messages()[0]["status"] == "failed"
        server.status = 200
        assert notifier.text("214 555 0142", "See you.", key="k")["status"] == "sent"
    assert len(clinic.outbox.messages()) == 1


@pytest.mark.parametrize("url", ["nonsense", "nosuch://host/{phone}", "json://127.0.0.1:1/"])
def test_a_missing_or_unreachable_gateway_is_reported(clinic, url):
    with pytest.raises(ToolError) as caught:
        Notifier(clinic.outbox, url).text("214 555 0142", "See you.", key="k")
    assert caught.value.code == "sms_not_sent"
