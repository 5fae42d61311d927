"""The operations on decision records: pages of them, and their verification."""

import asyncio
import datetime as dt
from typing import Any, cast, get_args

from toolmd._call.audit.reader import AuditReader, DecisionKind, Wanted
from toolmd._http.api.operation import ApiRequest, Number, Operation, Text
from toolmd._workspace import Workspace
from toolmd.errors import ArgumentError

PAGE = 100
MOST = 1000


class Records:
    """The operations on the audit; each reads the files, as other processes write them too."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        limit = Number("limit", "The most records to list.", PAGE, 1, MOST)
        texts = (
            Text("before", "Only records before the one with this id."),
            Text("tool", "Only records of this tool."),
            Text("user", "Only records of this user."),
            Text("outcome", "Only `run`, `deny`, `confirm`, `review` or `answered`."),
            Text("conversation", "Only records of this conversation."),
            Text("since", "Only records from this time on, ISO 8601 in UTC."),
            Text("until", "Only records before this time, ISO 8601 in UTC."),
        )
        return (
            Operation("GET", "/api/audit", "listDecisions",
                      "List the decision records, the latest first.", self._list, "Decisions",
                      problems=(400,), query=(limit, *texts)),
            Operation("GET", "/api/audit/verify", "verifyDecisions",
                      "Verify the chain of the decision records.", self._verify, "Verified",
                      ),
        )  # fmt: skip

    async def _list(self, asked: ApiRequest) -> Any:
        since, until = _utc(asked, "since"), _utc(asked, "until")
        tool, user, conversation = map(asked.text, ("tool", "user", "conversation"))
        wanted = Wanted(tool, user, _outcome(asked), conversation, since, until)
        reader, before = AuditReader(self._workspace.settings), asked.text("before")
        found = await asyncio.to_thread(reader.latest, asked.numbers["limit"], wanted, before)
        return [one.to_dict() for one in found]

    async def _verify(self, asked: ApiRequest) -> Any:
        del asked
        reader = AuditReader(self._workspace.settings)
        return (await asyncio.to_thread(reader.verify)).to_dict()


def _outcome(asked: ApiRequest) -> DecisionKind | None:
    """Return the decision that the query names. Raises ArgumentError."""
    text, known = asked.text("outcome"), get_args(DecisionKind)
    if text is not None and text not in known:
        raise ArgumentError("outcome", f"must be one of {', '.join(known)}")
    return cast("DecisionKind | None", text)


def _utc(asked: ApiRequest, parameter: str) -> str | None:
    """Return a time of the query as the records have it. Raises ArgumentError."""
    text = asked.text(parameter)
    try:
        at = None if text is None else dt.datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentError(parameter, "must be a time in ISO 8601") from None
    if at is None:
        return None
    return (at.astimezone(dt.UTC) if at.tzinfo else at.replace(tzinfo=dt.UTC)).isoformat()
