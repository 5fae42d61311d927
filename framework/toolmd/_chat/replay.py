"""Replay a transcript: the recorded replies pass through all checks again, and nothing runs."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from toolmd._chat.conversation import MAX_SAID
from toolmd._chat.transcript import FORMAT
from toolmd._store import MEMORY
from toolmd._types.result import Result
from toolmd._validation.redact import HIDDEN
from toolmd._workspace import Workspace
from toolmd.errors import ArgumentError

_RAN = frozenset(("ok", "failed", "unknown", "waiting"))
"""The outcomes of calls that all checks allowed."""
_KEYS = {
    "conversation": {"format", "dialect", "user", "context"},
    "user": {"text", "continues"},
    "model": {"reply", "results"},
    "decision": {"tool", "outcome", "code"},
}


class Replayed(NamedTuple):
    """The outcome of one recorded reply."""

    place: str
    """The file and the line of the reply."""
    passed: bool
    how: Literal["replayed", "hidden"]
    """`hidden` for a reply with hidden values, which can't be replayed."""
    message: str
    """What it came to, or the difference."""

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON."""
        return self._asdict()


def replay(folder: Path | None, file: Path) -> tuple[Replayed, ...]:
    """Replay one transcript in a project, with a state folder of its own.

    Raises ArgumentError where the file can't be read as a transcript.
    """
    events = list(_read(file))
    with TemporaryDirectory(prefix="toolmd-") as scratch:
        overrides = {"state": scratch, "store": MEMORY}
        with Workspace.open(folder, overrides=overrides) as workspace:
            return tuple(_replayed(workspace, file, events))


def _replayed(
    workspace: Workspace, file: Path, events: list[tuple[int, dict[str, Any]]]
) -> Iterator[Replayed]:
    start = events[0][1]
    user, conversation = start.get("user"), str(file)
    said: list[str] = []
    for number, event in events[1:]:
        match event["event"]:
            case "user":
                if said:
                    workspace.crises.heard_sync(said[-1], conversation=conversation, user=user)
                said = [*said, event["text"]] if event.get("continues") else [event["text"]]
            case "model":
                place = f"{file}:{number}"
                if HIDDEN in json.dumps(event["reply"], ensure_ascii=False):
                    yield Replayed(place, True, "hidden", "it holds hidden values")  # noqa: FBT003
                    continue
                turn = workspace.handle_sync(
                    event["reply"],
                    start["dialect"],
                    message="\n".join(said[-MAX_SAID:]),
                    context=start.get("context", {}),
                    user=user,
                    conversation=conversation,
                    dry_run=True,
                )
                wanted = ", ".join(map(_wanted, event["results"])) or "no call"
                got = ", ".join(map(_got, turn.results)) or "no call"
                same = wanted == got
                told = got if same else f"expected {wanted}; got {got}"
                yield Replayed(place, same, "replayed", told)


def _wanted(recorded: dict[str, Any]) -> str:
    ran = recorded["outcome"] in _RAN
    outcome = "allowed" if ran else recorded["outcome"]
    return _line(recorded["tool"], outcome, "" if ran else recorded.get("code", ""))


def _got(result: Result) -> str:
    return _line(result.tool, result.outcome, result.error.code if result.error else "")


def _line(tool: str, outcome: str, code: str) -> str:
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
    return kind == "decision"


def _is_result(result: Any) -> bool:
    names = ("tool", "outcome")
    known = isinstance(result, dict) and all(isinstance(result.get(name), str) for name in names)
    return known and isinstance(result.get("code", ""), str)
