"""Write a conversation down, a line of JSON for each event, without Sensitive values."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolmd._dialect import parse_reply
from toolmd._types.decision import Decision
from toolmd._types.result import Result
from toolmd._types.schema import Parameter, Schema
from toolmd._validation.redact import HIDDEN, Secrets, redacted, redacted_value
from toolmd._workspace import Workspace
from toolmd._workspace.names import Names

FORMAT = 1


class Transcript:
    """The events of one conversation, to be replayed without the model."""

    def __init__(
        self, workspace: Workspace, dialect: str, user: str | None, context: Mapping[str, str]
    ) -> None:
        """Prepare an empty transcript."""
        self._workspace = workspace
        self._dialect = dialect
        self._secrets = Secrets()
        self._events: list[dict[str, Any]] = [
            {"event": "conversation", "format": FORMAT, "dialect": dialect}
        ]
        if user is not None:
            self._events[0]["user"] = user
        if context:
            self._events[0]["context"] = dict(context)

    def text(self) -> str:
        """Return the file's text: a value that turned out Sensitive later is hidden, too."""
        shown = map(self._secrets.hide_in, self._events)
        return "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in shown)

    def said(self, message: str, *, continues: bool) -> None:
        """Add the user's message; `continues` where earlier ones still count as the request."""
        more = {"continues": True} if continues else {}
        self._events.append({"event": "user", "text": message, **more})

    def withdraw(self) -> None:
        """Remove the newest message, which the model did not get, and what followed."""
        while self._events.pop()["event"] != "user":
            pass

    def replied(self, reply: Any, results: Sequence[Result]) -> None:
        """Add a reply of the model, and what its calls came to."""
        readable = self._learn(reply, results)
        outcomes = list(map(self._shown if readable else _outcome, results))
        self._events.append(
            {"event": "model", "reply": reply if readable else HIDDEN, "results": outcomes}
        )

    def decided(self, decision: Decision, result: Result) -> None:
        """Add a person's decision on a call of the newest reply, and what it came to."""
        event: dict[str, Any] = {"event": "decision", "decision": decision.kind}
        if decision.arguments:
            self._secrets.learn(decision.arguments, self._parameters(result.tool))
            event["arguments"] = dict(decision.arguments)
        if decision.text:
            event["text"] = decision.text
        self._secrets.learn_result(result.data, self._returns(result.tool))
        self._events.append({**event, **_outcome(result)})

    def _learn(self, reply: Any, results: Sequence[Result]) -> bool:
        """Learn the Sensitive values of a turn; return whether its reply may be shown."""
        for result in results:
            self._secrets.learn_result(result.data, self._returns(result.tool))
        names = Names(self._workspace.registry)
        shown = True
        try:
            for call in parse_reply(reply, self._dialect).calls:
                called = names.find(call.tool)
                parameters = () if called is None else called.spec.parameters
                raw = call.arguments
                given = json.loads(raw) if isinstance(raw, str | bytes) else dict(raw)
                self._secrets.learn(given, parameters)
                known = called is not None or not self._holds_sensitive()
                shown = shown and known and redacted(given, parameters) == given
        except Exception:  # noqa: BLE001 - what can't be read may hold anything
            return not self._holds_sensitive()
        return shown

    def _holds_sensitive(self) -> bool:
        """Return whether any definition has a Sensitive parameter or result."""
        registry = self._workspace.registry
        tools = [bound.spec for bound in registry.tools.values()]
        specs = [*tools, *(bound.spec for bound in registry.skills.values())]
        shapes = [parameter.shape for spec in specs for parameter in spec.parameters]
        return any(shape.holds_sensitive for shape in (*shapes, *(t.returns for t in tools)))

    def _parameters(self, tool: str) -> tuple[Parameter, ...]:
        bound = self._workspace.tools.get(tool)
        return () if bound is None else bound.spec.parameters

    def _returns(self, tool: str) -> Schema | None:
        bound = self._workspace.tools.get(tool)
        return None if bound is None else bound.spec.returns

    def _shown(self, result: Result) -> dict[str, Any]:
        """Return a result as the model reads it."""
        shown = _outcome(result)
        if said := result.error.message if result.error is not None else result.message:
            shown["message"] = said
        if (data := result.data) is not None:
            # What a skill returns comes from its tools, whose Sensitive fields it doesn't name.
            hides = result.tool in self._workspace.skills and self._holds_sensitive()
            shown["data"] = HIDDEN if hides else redacted_value(data, self._returns(result.tool))
        return shown


def _outcome(result: Result) -> dict[str, Any]:
    shown: dict[str, Any] = {"tool": result.tool, "outcome": result.outcome}
    if result.error is not None:
        shown["code"] = result.error.code
    return shown
