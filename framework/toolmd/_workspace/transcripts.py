"""Replay a recorded conversation against a project, away from the project's own state.

A transcript is a markdown file `NAME.chat.md`. Bullets above the first heading name the caller
(`User`, `Roles`, `Context`), and the day of its dates (`As Of`). Each `##` heading is what the user
says. A fence below it is the model's reply, and the bullets are the expected outcome of each call,
in order, with a text that the answer or the question must contain. Without a fence, the words
decide what waits.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toolmd._store import MEMORY
from toolmd._types.decision import Approver, Decision
from toolmd._types.result import Result
from toolmd._workspace.examples import TrialResult
from toolmd._workspace.workspace import Workspace
from toolmd.errors import ConfigError

ENDING = ".chat.md"
"""How the name of a transcript ends."""
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?=\b|T)", re.ASCII)


@dataclass(slots=True)
class _Turn:
    """What the user says, the model's reply, and what must come of it."""

    words: str
    reply: list[str] = field(default_factory=list)
    expected: list[tuple[str, str]] = field(default_factory=list)


def replay(folder: Path | None, path: Path) -> Iterator[TrialResult]:
    """Replay a transcript with an empty store, and yield how each of its turns went.

    Raises:
        ConfigError: The file has no turn, or its bullets do not name a caller.
        OSError: The file can't be read.
    """
    text = path.read_text("utf-8")
    head = {key.casefold(): value for key, value in _parse(text)[0].expected}
    if "as of" in head:
        text = _move_dates(text, head["as of"], path.name)
    _, *turns = _parse(text)
    if not turns:
        raise ConfigError(f"{path.name} has no turn. Begin each with `## What the user says`.")
    caller = _read_caller(path.name, head)
    with TemporaryDirectory(prefix="toolmd-") as scratch:
        overrides = {"state": scratch, "store": MEMORY}
        with Workspace.open(folder, overrides=overrides) as workspace:
            waiting: list[str] = []
            for turn in turns:
                why = _wrong(turn, _results(workspace, turn, caller, waiting))
                yield TrialResult(path.name, turn.words, not why, "called", why)


def _parse(text: str) -> list[_Turn]:
    """Return the head and each turn."""
    found = [_Turn("")]
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            found[-1].reply.append(line)
        elif line.startswith("## "):
            found.append(_Turn(line[3:].strip()))
        elif line.startswith("- "):
            key, _, value = line[2:].replace("**", "").partition(":")
            found[-1].expected.append((key.strip(), value.strip()))
    return found


def _move_dates(text: str, as_of: str, name: str) -> str:
    """Move the dates from a day on by whole weeks, so that none of them has passed."""
    try:
        day = date.fromisoformat(as_of)
    except ValueError:
        raise ConfigError(f"{name} has As Of `{as_of}`. Write a day such as 2026-03-02.") from None
    days = (datetime.now().astimezone().date() - day).days
    ahead = timedelta(weeks=max(0, -(-days // 7)))

    def move(found: re.Match[str]) -> str:
        try:
            written = date.fromisoformat(found[0])
        except ValueError:
            return found[0]
        return str(written + ahead) if written >= day else found[0]

    return _DATE.sub(move, text)


def _read_caller(name: str, head: Mapping[str, str]) -> dict[str, Any]:
    """Return the user, the roles and the context that the bullets of the head name."""
    if unknown := head.keys() - {"user", "roles", "context", "as of"}:
        raise ConfigError(f"{name} names `{min(unknown)}`. A caller has User, Roles and Context.")
    pairs = [pair.partition("=") for pair in _split(head.get("context", ""))]
    if wrong := [key for key, equals, _ in pairs if not (key.strip() and equals)]:
        raise ConfigError(f"{name} has the context `{wrong[0]}`. Write `Context: name=value`.")
    return {
        "user": head.get("user"),
        "roles": _split(head.get("roles", "")),
        "context": {key.strip(): value.strip() for key, _, value in pairs},
    }


def _split(text: str) -> list[str]:
    """Return the parts between commas."""
    return [one.strip() for one in text.split(",") if one.strip()]


def _results(
    workspace: Workspace, turn: _Turn, caller: Mapping[str, Any], waiting: list[str]
) -> list[Result]:
    """Handle the reply, or decide the call that waits for the longest."""
    if turn.reply:
        reply = "\n".join(turn.reply)
        options = {**caller, "message": turn.words, "conversation": "transcript"}
        handled = workspace.handle_sync(reply, **options)
        waiting += [one.id for one in handled.pending]
        return list(handled.results)
    if not waiting:
        return []
    asked = {one.id: one.prompt for one in workspace.confirmations.pending_sync()}
    decision = Decision.from_words(turn.words, asked.get(waiting[0], ""))
    if decision is None:
        return []
    who = Approver(caller["user"], roles=tuple(caller["roles"]))
    result = workspace.confirmations.decide_sync(waiting.pop(0), decision, who)
    if result.confirmation is not None:
        waiting.insert(0, result.confirmation.id)
    return [result]


def _wrong(turn: _Turn, results: list[Result]) -> str:
    """Return how the results differ from what the turn expects; empty where they do not."""
    if len(results) != len(turn.expected):
        return f"expected {len(turn.expected)} results, got {len(results)}"
    for (tool, expected), result in zip(turn.expected, results, strict=True):
        outcome, _, text = expected.partition(",")
        prompt = result.confirmation.prompt if result.confirmation else ""
        error = f"{result.error.code}: {result.error.message}" if result.error else ""
        data = json.dumps(result.data, ensure_ascii=False)
        shown = " ".join((prompt, error, result.message, data, *result.notes))
        if (tool, outcome.strip()) != (result.tool, result.outcome) or text.strip() not in shown:
            return (
                f"expected {tool}: {expected}, got {result.tool}: {result.outcome}, {shown[:400]}"
            )
    return ""
