"""Find crisis words in the user's message, and keep the flag for the conversation."""

from collections.abc import Callable

from toolmd._call.denial import guard_failed
from toolmd._call.threads import AROUND
from toolmd._call.words import UserWords, says_any
from toolmd._store.store import Store
from toolmd._types.call import Call, Caller
from toolmd._types.registry import Registry
from toolmd._types.stored import Crisis


class CrisisWatch:
    """The crisis flag of each call: from the user's words, an escalated call, or earlier ones."""

    def __init__(
        self,
        registry: Registry,
        words: tuple[str, ...],
        store: Store,
        clock: Callable[[], float],
        user_words: UserWords,
    ) -> None:
        """Search for the project's `words` and those of packages; `clock` is since the epoch.

        The hook of `user_words` may replace the words.
        """
        given = (word for tool in registry.tools.values() for word in tool.crisis_words)
        self.words = tuple(dict.fromkeys((*words, *given)))
        self._registry = registry
        self._store = store
        self._clock = clock
        self._user_words = user_words
        self._can_flag: bool | None = True if self.words else None
        """Whether a word or a tool can flag a conversation; None if not yet known."""

    async def hear(self, caller: Caller) -> bool:
        """Return whether a message may be about a crisis, and flag its conversation then."""
        if not (await self.flag_by_message(Call("", {}, caller=caller))).caller.crisis:
            return False
        if caller.conversation is not None:
            await self._flag(caller.conversation, caller.user)
        return True

    async def flag_by_message(self, call: Call) -> Call:
        """Return a call, with the crisis flag if its message may be about a crisis.

        The answer of the hook goes before the words. Raises CallDenied where the message can't be
        searched.
        """
        message = call.caller.message
        if not self.words or not message or call.caller.crisis:
            return call
        try:
            answer = await self._user_words.ask_hook("crisis", self.words, call)
            is_crisis = says_any(message, self.words) if answer is None else answer != "absent"
        except Exception as error:  # noqa: BLE001 - an exception in a check denies
            raise guard_failed(call.tool, "review", error) from None
        return with_flag(call) if is_crisis else call

    async def flag_by_conversation(self, call: Call) -> Call:
        """Return a call, with the flag of its conversation; a flagged call flags it.

        Raises CallDenied where the store can't be used.
        """
        caller = call.caller
        conversation, user = caller.conversation, caller.user
        if conversation is None:
            return call
        try:
            if caller.crisis:
                if not call.dry_run:
                    await self._flag(conversation, user)
                return call
            if self._can_flag is None:
                self._can_flag = await AROUND.run(self._escalates)
            # Only a question to the store needs a thread.
            if self._can_flag and await AROUND.run(
                lambda: self._store.crises.is_flagged(conversation, user)
            ):
                return with_flag(call)
        except Exception as error:  # noqa: BLE001 - a store that can't be used denies
            raise guard_failed(call.tool, "review", error) from None
        return call

    async def _flag(self, conversation: str, user: str | None) -> None:
        crisis = Crisis(conversation, user, self._clock())
        await AROUND.run(lambda: self._store.crises.flag(crisis))

    def _escalates(self) -> bool:
        """Return whether a tool has Crisis When; the first time it may read every file."""
        return any(tool.call_spec.safety.crisis_when for tool in self._registry.tools.values())


def with_flag(call: Call) -> Call:
    """Return the call with the crisis flag."""
    return call._replace(caller=call.caller._replace(crisis=True))
