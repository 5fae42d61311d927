"""Store every text message of the clinic, and send it through the gateway if one is set."""

import sqlite3
from typing import Final
from urllib.parse import quote

from toolmd import ToolError
from toolmd.database import Database

from .clock import Clock, Data

CLINIC_NAME: Final = "Jefferson Dental"
CLINIC_PHONE: Final = "+1 214 555 0100"
SMS_URL: Final = "CLINIC_SMS_URL"
"""The SMS gateway, any URL of Apprise; unset keeps messages in the outbox."""
_US_NUMBER: Final = 10


class Outbox:
    """The messages in the order of writing; the key `None` makes each a new one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def put(self, phone_number: str, body: str, key: str | None) -> Data:
        """Store a message as queued; the same key again returns the stored message."""
        with self._database.writing() as db:
            row = db.execute("SELECT * FROM message WHERE idempotency_key = ?", (key,)).fetchone()
            if row is None:
                query = (
                    "INSERT INTO message (phone_number, body, status, written_at, "
                    "idempotency_key) VALUES (?, ?, 'queued', ?, ?) RETURNING *"
                )
                values = (phone_number, body, self._clock.now().isoformat(), key)
                row = db.execute(query, values).fetchone()
            return _message(row)

    def mark(self, message_id: str, status: str) -> None:
        """Set the status of a message."""
        with self._database.writing() as db:
            query = "UPDATE message SET status = ? WHERE id = ?"
            db.execute(query, (status, int(message_id.removeprefix("M-"))))

    def messages(self) -> list[Data]:
        """Return all messages, the oldest first."""
        with self._database.reading() as db:
            return [_message(row) for row in db.execute("SELECT * FROM message ORDER BY id")]


class Notifier:
    """Sends text messages to parents; without a gateway, they stay in the outbox for the staff.

    The gateway is any URL that Apprise supports, with `{phone}` in the place of the number
    (`twilio://SID:TOKEN@FROM/{phone}`); a URL without it is a channel that staff reads.
    """

    def __init__(self, outbox: Outbox, gateway: str = "") -> None:
        self._outbox = outbox
        self._gateway = gateway

    def text(self, phone_number: str, body: str, *, key: str | None) -> Data:
        """Send a message once per key.

        A process that dies after the gateway's acceptance and before our record sends it again
        under the same key: a parent may get a text twice, but never none.
        """
        number = _dialled(phone_number)
        message = self._outbox.put(number, body, key)
        id_, status = message["message_id"], message["status"]
        if status not in ("kept", "sent"):
            status = "kept"
            if self._gateway:
                status = "sent" if self._send(number, body) else "failed"
            self._outbox.mark(id_, status)
        if status == "failed":
            msg = (
                f"The SMS gateway did not accept message {id_}. It stays in the outbox; tell the "
                "parent by phone."
            )
            raise ToolError(msg, code="sms_not_sent")
        where = "sent" if status == "sent" else "kept in the outbox"
        return {"message_id": id_, "status": status, "message": f"Message {id_} is {where}."}

    def _send(self, number: str, body: str) -> bool:
        try:
            # Apprise takes a quarter of a second to import, and is an optional extra.
            import apprise
        except ImportError as error:
            raise ToolError(
                "A gateway is set and Apprise is not installed: pip install 'toolmd[clinic]'.",
                code="sms_not_sent",
            ) from error
        gateway = apprise.Apprise()
        url = self._gateway.replace("{phone}", quote(number, safe=""))
        return bool(gateway.add(url) and gateway.notify(title=f"SMS to {number}", body=body))


def _dialled(phone_number: str) -> str:
    """Return `+` and digits; a ten-digit number is a North American one."""
    digits = "".join(c for c in phone_number if c in "0123456789")
    if phone_number.strip().startswith("+"):
        return f"+{digits}"
    return f"+1{digits}" if len(digits) == _US_NUMBER else digits


def _message(row: sqlite3.Row) -> Data:
    shown = {name: row[name] for name in ("status", "phone_number", "body", "written_at")}
    return {"message_id": f"M-{row['id']}", **shown}
