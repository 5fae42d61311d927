"""The conversations with a crisis flag."""

from toolmd._types.call import Caller
from toolmd._types.crisis import Crisis
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.method_parameters import checked
from toolmd._workspace.opened import OpenProject
from toolmd.errors import NotFoundError


@checked
class Crises:
    """The crisis flags of conversations: calls that are not Read Only wait for an operator."""

    def __init__(self, project: OpenProject) -> None:
        self._project = project

    async def list(self) -> tuple[Crisis, ...]:
        """Return the flagged conversations, oldest first."""
        return await off_loop(self.list_sync)

    def list_sync(self) -> tuple[Crisis, ...]:
        """Same as `list`, for callers that can't await; the calling thread waits."""
        return self._project.store.crises.flagged()

    async def heard(
        self, message: str, *, conversation: str | None = None, user: str | None = None
    ) -> bool:
        """Return whether a user's message contains a crisis word, and flag the conversation then.

        `call` and `handle` search their message without this; it is for messages without either.

        Args:
            message: The user's own words.
            conversation: The host's name for the conversation; None flags none.
            user: The signed-in user.

        Raises:
            UnreachableError: The store can't be used.
        """
        caller = Caller(user, message=message, conversation=conversation)
        return await (await self._project.dispatcher()).crisis.heard(caller)

    heard_sync = sync_of(heard)

    async def clear(self, conversation: str, *, user: str | None = None) -> None:
        """Clear the flag of a conversation, after a person has looked after it.

        Args:
            conversation: The host's name for the conversation.
            user: Its user; None if nobody was signed in.

        Raises:
            NotFoundError: The user's conversation has no flag.
        """
        await off_loop(lambda: self.clear_sync(conversation, user=user))

    def clear_sync(self, conversation: str, *, user: str | None = None) -> None:
        """Same as `clear`, for callers that can't await; the calling thread waits."""
        if not self._project.store.crises.clear(conversation, user):
            whose = "" if user is None else f" of user {user!r}"
            raise NotFoundError(
                f"conversation {conversation!r}{whose} has no crisis flag;"
                " `toolmd crises` lists those that have"
            )
