"""A conversation: the user's messages, the model's calls, the decisions and the results."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, Self

from toolmd._chat.endpoint import Choice, Message, Teller, open_endpoint
from toolmd._dialect.results import body_text
from toolmd._types.call import NO_CONTEXT
from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Approver, Decision
from toolmd._types.result import Failure, Result
from toolmd._types.turn import Exchange, Stop, Turn
from toolmd._workspace import Workspace
from toolmd._workspace.background_loop import sync_of
from toolmd.errors import ConfigError, ToolmdError

NATIVE = "openai"
"""The dialect of the API itself; all others are written in the reply's text."""
MAX_ROUNDS = 10
MAX_CALLS = 32
MAX_MENDS = 2
"""How often in a row the model may correct calls that can't be read."""
IN_A_REPLY = 32
"""Calls that one reply may make (the `size` check)."""
_CUT: dict[str, Stop] = {"length": "length", "content_filter": "content_filter"}


Said = Decision | bool | None
Confirmer = Callable[[Confirmation], Said | Awaitable[Said]]
"""Decides on a pending call: a Decision, plain yes or no, or None where nobody is available."""
MAX_ASKED = 8
"""How often one call is asked about, when edits don't fit or need another confirmation."""
INTERRUPTED = "It was interrupted and may have taken effect: look before calling it again."


class Decider:
    """Asks a person about a turn's pending calls, one after the other."""

    def __init__(self, workspace: Workspace, confirm: Confirmer | None, user: str | None) -> None:
        """Keep the parts."""
        self._workspace = workspace
        self._confirm = confirm
        self._user = user

    async def decide(self, results: list[Result]) -> list[Confirmation]:
        """Write the outcomes of the decisions into `results`, each as soon as it is known.

        Return the calls that still wait. Reviews are not decided here: they wait for an operator.
        """
        for place in range(len(results)):
            await self._settle(results, place)
        return [one.confirmation for one in results if one.confirmation is not None]

    async def _settle(self, results: list[Result], place: int) -> None:
        """Ask until the call is decided, or nobody decides."""
        problem = ""
        for _ in range(MAX_ASKED):
            result = results[place]
            pending = result.confirmation
            if pending is None or pending.kind == "review":
                return
            decision = await self._ask(pending, problem)
            if decision is None:
                return
            # The result to report if the decision is never carried out to the end.
            failure = Failure("interrupted", INTERRUPTED)
            results[place] = result._replace(
                outcome="unknown", message="", error=failure, confirmation=None
            )
            whole = await self._workspace.confirmations.decide(
                pending.id, decision, Approver(self._user)
            )
            after = await self._workspace.results.for_model(whole, user=self._user)
            results[place], problem = after, ""
            if after.error is not None and after.error.code == "invalid_arguments":
                # The pending call is unchanged: the person sees the error and decides again.
                results[place], problem = result, after.error.message

    async def _ask(self, pending: Confirmation, problem: str) -> Decision | None:
        if self._confirm is None:
            return None
        shown = pending._replace(prompt=f"{problem} {pending.prompt}") if problem else pending
        said = self._confirm(shown)
        said = await said if isawaitable(said) else said
        if isinstance(said, bool):
            return Decision.approve() if said else Decision.reject()
        if said is None or isinstance(said, Decision):
            return said
        # Anything else is not a decision, so nothing runs.
        raise TypeError(f"a confirmation is a Decision, a bool or None, not {said!r}")


@dataclass(slots=True)
class _Work:
    """The state of one exchange."""

    text: str = ""
    said: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    pending: list[Confirmation] = field(default_factory=list)
    rounds: int = 0

    def exchange(self, stopped: Stop, *, crisis: bool) -> Exchange:
        """Return the exchange as it ended."""
        return Exchange(
            self.text, tuple(self.said), tuple(self.results), tuple(self.pending), crisis, stopped,
            self.rounds,
        )  # fmt: skip


class Conversation:
    """A conversation between one user and a model; its calls use the usual call pipeline.

    `say` asks the model until it answers in words, at most `max_rounds` times and with at most
    `max_calls` calls. A model whose calls can't be read gets the error, at most twice in a row.
    `messages` is the history, as the endpoint sees it; messages from before can be put into it.
    """

    def __init__(  # noqa: PLR0913 - what a conversation is made of, by keyword
        self,
        workspace: Workspace,
        *,
        model: str | None = None,
        base_url: str | None = None,
        client: Any = None,
        dialect: str = NATIVE,
        system: str = "",
        user: str | None = None,
        context: Mapping[str, Any] = NO_CONTEXT,
        name: str | None = None,
        confirm: Confirmer | None = None,
        on_text: Teller | None = None,
        on_result: Callable[[Result], None] | None = None,
        stream: bool = False,
        max_rounds: int = MAX_ROUNDS,
        max_calls: int = MAX_CALLS,
    ) -> None:
        """Prepare the conversation; nothing is sent before the first `say`.

        Args:
            workspace: The project.
            model: The model's name; by default that of the settings.
            base_url: The endpoint; by default that of the settings.
            client: Your own AsyncOpenAI, which stays open; by default a new one with the key of
                the environment.
            dialect: `openai`, or a text dialect for models without tool calls.
            system: Your part of the system prompt.
            user: The user's id.
            context: Facts about the caller.
            name: The name by which a Quota per conversation counts; a random one by default.
            confirm: Decides on pending calls; without it they wait.
            on_text: Receives the model's text.
            on_result: Receives each call's result, and the denial of calls that can't be read.
            stream: Whether `on_text` receives the text piece by piece.
            max_rounds: The most answers of the model to one message.
            max_calls: The most calls in answer to one message.

        Raises:
            ConfigError: The model, a key or the openai package is missing, or the dialect can't be
                used.
        """
        self.messages: list[Message] = []
        self._workspace = workspace
        self._dialect = dialect
        self._system = system
        self._user, self._context = user, context
        self._name = name or secrets.token_hex(8)
        self._on_text, self._on_result = on_text, on_result or (lambda _: None)
        self._streams = stream and dialect == NATIVE
        self._max_rounds, self._max_calls = max_rounds, max_calls
        self._confirmations = Decider(workspace, confirm, user)
        self._message = ""
        """The user's newest message; the call pipeline knows those before it."""
        self._busy = False
        _check_dialect(workspace, dialect)
        self._own = client is None
        self._endpoint = open_endpoint(model, base_url, client, workspace.settings)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def aclose(self) -> None:
        """Close the connection that was opened here."""
        if self._own:
            await self._endpoint.client.close()

    close = sync_of(aclose, at="_workspace._project")

    async def say(self, message: str) -> Exchange:
        """Send a message to the model and return the exchange; one message at a time.

        Raises ModelError where the endpoint fails. If nothing was done, the message is removed from
        the history, so that it can be sent again.
        """
        if self._busy:
            raise ToolmdError("the model has not answered yet: await `say` before the next one")
        self._busy = True
        before = len(self.messages)
        self.messages.append({"role": "user", "content": message})
        self._message = message
        work = _Work()
        try:
            stopped = await self._go_on(work)
        except BaseException:
            if len(self.messages) == before + 1:
                self.messages.pop()
            raise
        finally:
            self._busy = False
        heard = await self._workspace.crises.heard(
            message, conversation=self._name, user=self._user
        )
        crisis = heard or any(result.crisis for result in work.results)
        return work.exchange(stopped, crisis=crisis)

    say_sync = sync_of(say, at="_workspace._project")

    async def _go_on(self, work: _Work) -> Stop:
        """Ask the model until it answers, or until a limit is reached."""
        native = self._dialect == NATIVE
        tools = await asyncio.to_thread(self._workspace.export, NATIVE) if native else ()
        corrections = 0
        while True:
            work.rounds += 1
            last = work.rounds >= self._max_rounds
            room = 0 if last else self._max_calls - len(work.results)
            choice = await self._endpoint.ask(
                await asyncio.to_thread(self._with_system),
                tools,
                may_call=room > 0,
                tell=self._on_text if self._streams else None,
            )
            look = await self._handle(choice, dry_run=True) if room < IN_A_REPLY else None
            if look is not None and not look.denied and len(look.results) > room:
                self._tell(look.clean_message, work)
                self._keep(look.clean_message)
                return "rounds" if last else "calls"
            turn = await self._take(choice, work)
            if not turn.results:
                work.text = turn.clean_message
                return _CUT.get(choice.finish, "")
            corrections = corrections + 1 if turn.denied else 0
            if corrections > MAX_MENDS:
                return "malformed"

    async def _take(self, choice: Choice, work: _Work) -> Turn:
        """Handle one reply, ask a person for confirmations, and add both to the history."""
        results: list[Result] | None = None
        turn: Turn | None = None
        try:
            turn = await self._handle(choice)
            self._tell(turn.clean_message, work)
            if not turn.results or turn.denied:
                self._keep(choice.words or turn.clean_message)
                # The reply is left out of the history, so no message can answer its calls by id.
                for one in turn.results[:1]:
                    denied = one._replace(tool="", tool_call_id=None)
                    self.messages.append({"role": "user", "content": body_text(denied)})
                    self._on_result(denied)
                return turn
            results = list(turn.results)
            work.pending += await self._confirmations.decide(results)
        except BaseException:
            # Report completed calls with the next message, or the model would repeat them.
            told = turn.render(results) if turn and results else choice.broken_off()
            self.messages += [choice.history_message(), *told] if told else []
            raise
        self.messages += [choice.history_message(), *turn.render(results)]
        work.results += results
        for result in results:
            self._on_result(result)
        return turn

    async def _handle(self, choice: Choice, *, dry_run: bool = False) -> Turn:
        return await self._workspace.handle(
            self._reply(choice),
            self._dialect,
            message=self._message,
            user=self._user,
            context=self._context,
            conversation=self._name,
            dry_run=dry_run,
        )

    def _reply(self, choice: Choice) -> Any:
        if self._dialect != NATIVE:
            return choice.words
        return {"choices": [{"message": choice.message, "finish_reason": choice.finish}]}

    def _with_system(self) -> list[Message]:
        """Return the history after the system prompt, with the tools as they are now."""
        taught = "" if self._dialect == NATIVE else self._workspace.system_prompt(self._dialect)
        system = "\n\n".join(part for part in (self._system, taught) if part)
        first = [{"role": "system", "content": system}] if system else []
        return [*first, *self.messages]

    def _tell(self, words: str, work: _Work) -> None:
        if words:
            work.said.append(words)
            if self._on_text is not None and not self._streams:
                self._on_text(words)

    def _keep(self, words: str) -> None:
        # Some endpoints reject a message without text.
        if words:
            self.messages.append({"role": "assistant", "content": words})


def _check_dialect(workspace: Workspace, dialect: str) -> None:
    """Raise ConfigError for a dialect that is neither native nor taught by a prompt."""
    if dialect != NATIVE and not workspace.system_prompt(dialect):
        raise ConfigError(
            f"dialect {dialect!r} can't be used over chat completions: choose openai,"
            " inline, action, plan, or a plugin's text dialect"
        )
