"""Report to balancers whether this server serves calls now."""

import asyncio
import contextlib
import time

from toolmd._auth.warnings import Warnings
from toolmd._workspace import Workspace
from toolmd.errors import NotFoundError

KEPT_S = 1.0
"""The time that a finding about the store stays valid, so that strangers can't load the store."""
LOOK_S = 2.0
"""The time that the store has to answer, in seconds."""
ENDING = ("ending", "The server is shutting down.")
UNREACHABLE = ("store_unreachable", "The server can't reach its store.")


class Readiness:
    """Whether calls are served: the server is not ending, and its store answers."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._warnings = Warnings()
        self._look: asyncio.Task[bool] | None = None
        self._until = 0.0
        self.ending = False
        """Whether the server got the signal to end."""

    async def denial(self) -> tuple[str, str] | None:
        """Return the code and the text of the reason why no calls are served; None if they are."""
        if self._look is None or (self._look.done() and time.monotonic() >= self._until):
            self._look = asyncio.get_running_loop().create_task(self._answers())
        # All that ask at the same time wait for one look, which none of them cancels.
        await asyncio.wait((self._look,), timeout=LOOK_S)
        if self.ending:
            return ENDING
        return None if self._look.done() and self._look.result() else UNREACHABLE

    async def _answers(self) -> bool:
        """Return whether the store answers, by the look-up of a run that does not exist."""
        try:
            with contextlib.suppress(NotFoundError):
                await self._workspace.runs.get("-")
        except Exception as error:  # noqa: BLE001 - whatever fails here fails calls too
            self._warnings.warn("not ready: %s", error)
            return False
        else:
            return True
        finally:
            self._until = time.monotonic() + KEPT_S
