"""The operations on decision records: pages of them, and their verification."""

import asyncio
from typing import Any

from toolmd._call.audit.chain import AUDIT_FILE, Audit
from toolmd._http.api.operation import ApiRequest, Number, Operation
from toolmd._workspace import Workspace

PAGE = 100
MOST = 1000


class Records:
    """The operations on the audit; each reads the file, because other processes write it too."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        before = Number("before", "Only records before this number.", 2**52, 1, 2**52)
        limit = Number("limit", "The most records to list.", PAGE, 1, MOST)
        return (
            Operation("GET", "/api/audit", "listDecisions",
                      "List the decision records, the latest first.", self._list, "Decisions",
                      problems=(400,), query=(before, limit)),
            Operation("GET", "/api/audit/verify", "verifyDecisions",
                      "Verify the chain of the decision records.", self._verify, "Verified",
                      ),
        )  # fmt: skip

    async def _list(self, asked: ApiRequest) -> Any:
        before, limit = asked.numbers["before"], asked.numbers["limit"]
        return await asyncio.to_thread(self._page, before, limit)

    def _page(self, before: int, limit: int) -> list[dict[str, Any]]:
        kept = self._kept()
        if kept is None:
            return []
        try:
            found = kept.latest(before, limit)
        finally:
            kept.close()
        return [{"number": one.number, **one.record, "hash": one.hash} for one in found]

    async def _verify(self, asked: ApiRequest) -> Any:
        del asked
        return await asyncio.to_thread(self._verified)

    def _verified(self) -> dict[str, Any]:
        kept = self._kept()
        if kept is None:
            return {"sound": True, "records": 0, "first_bad": None}
        try:
            bad, number = kept.verify(), kept.count()
        finally:
            kept.close()
        return {"sound": bad is None, "records": number, "first_bad": bad}

    def _kept(self) -> Audit | None:
        file = self._workspace.settings.state / AUDIT_FILE
        return Audit(file) if Audit.is_kept(file) else None
