"""What people decide on held calls: the half of a workspace that a person stands behind."""

from collections.abc import Mapping
from typing import Any

from toolmark._model.held import HeldCall
from toolmark._model.result import Result
from toolmark._workspace.background_loop import BackgroundLoop


class Decisions:
    """Held calls and their decisions; a decision never comes from a model's text."""

    _loop: BackgroundLoop

    def _door(self) -> Any:
        raise NotImplementedError

    async def confirm(
        self, held_id: str, *, edit: Mapping[str, Any] | None = None, user: str | None = None
    ) -> Result:
        """Approve a held call and run it; `edit` replaces some of its arguments.

        An edit is validated and judged again, and counts as approval but for critical tools,
        which ask once more. A host that names no user decides for its operator.
        """
        result: Result = await self._door().decisions.confirm(held_id, edit=edit, user=user)
        return result

    async def reject(self, held_id: str, *, user: str | None = None) -> Result:
        """Refuse a held call: it never runs."""
        result: Result = self._door().decisions.reject(held_id, user=user)
        return result

    async def respond(self, held_id: str, text: str, *, user: str | None = None) -> Result:
        """Answer a held call in the tool's stead: it never runs, and `text` is its result."""
        result: Result = self._door().decisions.respond(held_id, text, user=user)
        return result

    def pending(self, user: str | None = None) -> tuple[HeldCall, ...]:
        """Give the held calls that wait, the oldest first; of one user, or of all."""
        waiting: tuple[HeldCall, ...] = self._door().decisions.pending(user)
        return waiting

    def confirm_sync(self, held_id: str, **options: Any) -> Result:
        """Do as `confirm`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.confirm(held_id, **options))

    def reject_sync(self, held_id: str, **options: Any) -> Result:
        """Do as `reject`, for those who can't await."""
        return self._loop.run(self.reject(held_id, **options))

    def respond_sync(self, held_id: str, text: str, **options: Any) -> Result:
        """Do as `respond`, for those who can't await."""
        return self._loop.run(self.respond(held_id, text, **options))
