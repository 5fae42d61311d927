"""The policy changes of a workspace that wait for acceptance."""

from toolmd._types.pending_change import PendingChange
from toolmd._workspace.background_loop import off_loop
from toolmd._workspace.method_parameters import checked
from toolmd._workspace.opened import OpenProject
from toolmd._workspace.reloading import Reloader


@checked
class Changes:
    """Edits that weaken a policy: the stricter policy stays in force until the edit is accepted."""

    def __init__(self, project: OpenProject, reloader: Reloader) -> None:
        self._project = project
        self._reloader = reloader

    async def list(self) -> tuple[PendingChange, ...]:
        """Return the pending changes of tools and skills."""
        return self._project.live.registry.pending_changes

    def list_sync(self) -> tuple[PendingChange, ...]:
        """Same as `list`, for callers that can't await."""
        return self._project.live.registry.pending_changes

    async def accept(self, name: str) -> PendingChange:
        """Accept the pending change of a tool or skill: it becomes live.

        Returns:
            The change as `list` returned it, even if the file has changed since.

        Raises:
            NotFoundError: No pending change has this name.
            UnreachableError: The store can't be reached; the change stays pending.
        """
        return await off_loop(self._reloader.accept, name)

    def accept_sync(self, name: str) -> PendingChange:
        """Same as `accept`, for callers that can't await; the calling thread waits."""
        return self._reloader.accept(name)
