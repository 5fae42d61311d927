"""Replay a transcript: the recorded replies and decisions pass all checks, and nothing runs."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from toolmd._chat.conversation import MAX_SAID
from toolmd._chat.deciding import carry_out
from toolmd._chat.transcript import FORMAT
from toolmd._store import MEMORY
from toolmd._types.decision import Decision
from toolmd._types.result import Result
from toolmd._types.schema import Parameter
from toolmd._validation.redact import HIDDEN
from toolmd._workspace import Workspace
from toolmd.config import load_settings
from toolmd.errors import ArgumentError

WordReader = Callable[[str, Sequence[Parameter]], Decision | None]
"""Reads a decision in a person's words, as `Yes, that's correct`."""
_RAN = frozenset(("ok", "failed", "unknown", "waiting"))
"""The outcomes of calls that all checks allowed."""
_KINDS = ("approve", "edit", "reject", "respond")
_KEYS = {
    "conversation": {"format", "dialect", "user", "context"},
    "user": {"text", "continues"},
    "model": {"reply", "results"},
    "decision": {"said", "decision", "arguments", "text", "tool", "outcome", "code"},
}


class Replayed(NamedTuple):
    """The outcome of one recorded reply or decision."""

    place: str
    """The file and the line."""
    passed: bool
    how: Literal["replayed", "hidden"]
    """`hidden` for a line with hidden values, which can't be replayed."""
    message: str
    """What it came to, or the difference."""

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON."""
        return self._asdict()


def replay(folder: Path | None, file: Path, read_words: WordReader) -> tuple[Replayed, ...]:
    """Replay one transcript in a project, with a state folder of its own.

    Raises ArgumentError where the file can't be read as a transcript.
    """
    events = list(_read(file))
    with TemporaryDirectory(prefix="toolmd-") as scratch:
        settings = load_settings(folder, overrides={"state": scratch, "store": MEMORY})
        with Workspace(settings, rehearses=True) as workspace:
            return tuple(_Replay(workspace, file, events[0][1], read_words).lines(events[1:]))


class _Replay:
    """One conversation, replayed line by line."""

    def __init__(
        self, workspace: Workspace, file: Path, start: dict[str, Any], read_words: WordReader
    ) -> None:
        self._workspace = workspace
        self._file = file
        self._start = start
        self._user: str | None = start.get("user")
        self._read_words = read_words
        self._said: list[str] = []
        self._pending: list[tuple[str, str]] = []
        """The calls that wait for a decision: their tools and their ids."""
        self._hidden: frozenset[str] = frozenset()
        """The tools of such calls in a line with hidden values, which was not replayed."""

    def lines(self, events: Sequence[tuple[int, dict[str, Any]]]) -> Iterator[Replayed]:
        for number, event in events:
            place = f"{self._file}:{number}"
            match event["event"]:
                case "user":
                    self._hear(event)
                case "model" | "decision" if HIDDEN in json.dumps(event, ensure_ascii=False):
                    self._pending, self._hidden = [], _waiting(event)
                    yield Replayed(place, True, "hidden", "it holds hidden values")  # noqa: FBT003
                case "decision" if event["tool"] in self._hidden:
                    yield Replayed(place, True, "hidden", "its call holds hidden values")  # noqa: FBT003
                case "model":
                    wanted = ", ".join(map(_wanted, event["results"])) or "no call"
                    yield _compared(place, wanted, ", ".join(self._handled(event)) or "no call")
                case "decision":
                    yield _compared(place, _wanted(event), self._decided(event))

    def _hear(self, event: dict[str, Any]) -> None:
        """Add a message; the one before is searched for a crisis, as it may have led to no call."""
        if self._said:
            self._workspace.crises.heard_sync(
                self._said[-1], conversation=str(self._file), user=self._user
            )
        self._said = [*self._said, event["text"]] if event.get("continues") else [event["text"]]

    def _handled(self, event: dict[str, Any]) -> list[str]:
        turn = self._workspace.handle_sync(
            event["reply"],
            self._start["dialect"],
            message="\n".join(self._said[-MAX_SAID:]),
            context=self._start.get("context", {}),
            user=self._user,
            conversation=str(self._file),
        )
        self._hidden = frozenset()
        self._pending = [(one.tool, one.id) for one in turn.pending if one.kind == "confirm"]
        return [_got(result) for result in turn.results]

    def _decided(self, event: dict[str, Any]) -> str:
        tool = event["tool"]
        at = next((n for n, (name, _) in enumerate(self._pending) if name == tool), None)
        if at is None:
            return f"no call of {tool} that waits"
        if (decision := self._decision(event)) is None:
            return f"no decision in the words {event['said']!r}"
        carried = carry_out(self._workspace, self._pending[at][1], decision, self._user)
        result = asyncio.run(carried)
        if (confirmation := result.confirmation) is not None:
            self._pending[at] = (tool, confirmation.id)
        elif result.error is None or result.error.code != "invalid_arguments":
            del self._pending[at]
        return _got(result)

    def _decision(self, event: dict[str, Any]) -> Decision | None:
        if kind := event.get("decision"):
            return Decision(kind, event.get("arguments", {}), event.get("text", ""))
        bound = self._workspace.tools.get(event["tool"])
        return self._read_words(event["said"], () if bound is None else bound.spec.parameters)


def _waiting(event: dict[str, Any]) -> frozenset[str]:
    """Return the tools of a line's calls that wait for a decision."""
    results = event.get("results", [event])
    return frozenset(one["tool"] for one in results if one["outcome"] == "confirm")


def _compared(place: str, wanted: str, got: str) -> Replayed:
    same = wanted == got
    return Replayed(place, same, "replayed", got if same else f"expected {wanted}; got {got}")


def _wanted(recorded: dict[str, Any]) -> str:
    return _line(recorded["tool"], recorded["outcome"], recorded.get("code", ""))


def _got(result: Result) -> str:
    return _line(result.tool, result.outcome, result.error.code if result.error else "")


def _line(tool: str, outcome: str, code: str) -> str:
    if outcome in _RAN:
        return " ".join(filter(None, (tool, "allowed")))
    return " ".join(filter(None, (tool, outcome))) + (f"[{code}]" if code else "")


def _read(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the lines of a transcript with their numbers."""
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError("transcript", f"{file} can't be read: {error}") from None
    first = True
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if not _is_event(event) or (event["event"] == "conversation") is not first:
            raise ArgumentError("transcript", f"{file}:{number} is no line of a transcript")
        first = False
        yield number, event
    if first:
        raise ArgumentError("transcript", f"{file} is empty: it begins with the conversation")


def _is_event(event: Any) -> bool:
    kind = event.get("event") if isinstance(event, dict) else None
    if not isinstance(kind, str) or not set(event) <= _KEYS.get(kind, set()) | {"event"}:
        return False
    match kind:
        case "conversation":
            context = event.get("context", {})
            texts = [*context, *context.values()] if isinstance(context, dict) else [None]
            texts += [event.get("dialect"), event.get("user", "")]
            return event.get("format") == FORMAT and all(isinstance(one, str) for one in texts)
        case "user":
            return isinstance(event.get("text"), str)
        case "model":
            results = event.get("results")
            return "reply" in event and isinstance(results, list) and all(map(_is_result, results))
    return _is_decision(event)


def _is_decision(event: dict[str, Any]) -> bool:
    known = event.get("decision") in _KINDS or isinstance(event.get("said"), str)
    given = isinstance(event.get("arguments", {}), dict) and isinstance(event.get("text", ""), str)
    return known and given and _is_result(event)


def _is_result(result: Any) -> bool:
    names = ("tool", "outcome")
    known = isinstance(result, dict) and all(isinstance(result.get(name), str) for name in names)
    return known and isinstance(result.get("code", ""), str)
