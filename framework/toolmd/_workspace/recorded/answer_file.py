"""The file of recorded answers next to a tool's file, a line of JSON for each answer."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from toolmd._validation.strict_json import read_json

FORMAT = 1
_TOOL = ".tool.md"
_ANSWERS = ".answers.jsonl"
_TEXTS = ("example", "calls", "upstream")


class UpstreamAnswer(NamedTuple):
    """The answer of a server or a service to one call of an example."""

    example: str
    """The title of the example."""
    calls: str
    """What was called, as Implemented By names it."""
    upstream: str
    """The digest of its table in the settings, and of the places of the arguments."""
    definition: str
    """The digest of its accepted definition; empty for a service without a document."""
    arguments: dict[str, Any]
    """The arguments with defaults, without Sensitive values."""
    result: Any = None
    """The value, without Sensitive values."""
    error: dict[str, str] | None = None
    """The code and the message of a call that failed."""

    def to_dict(self) -> dict[str, Any]:
        """Return its line."""
        outcome = {"result": self.result} if self.error is None else {"error": self.error}
        kept = {key: value for key, value in self._asdict().items() if key not in _OUTCOMES}
        return {"event": "answer", **kept, **outcome}


class UnreadableAnswersError(Exception):
    """A file of recorded answers can't be read; the message names the line."""


def answers_path(file: Path) -> Path:
    """Return the path of the recorded answers of a tool's file."""
    return file.with_name(file.name.removesuffix(_TOOL) + _ANSWERS)


def answers_text(tool: str, answers: Iterable[UpstreamAnswer]) -> str:
    """Return the text of a file of recorded answers."""
    first = {"event": "answers", "format": FORMAT, "tool": tool}
    events = [first, *(one.to_dict() for one in answers)]
    return "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in events)


def read_answers(path: Path, shown: str, tool: str) -> tuple[UpstreamAnswer, ...]:
    """Return the recorded answers of a tool; none without a file.

    Raises UnreadableAnswersError.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableAnswersError(f"{shown} can't be read: {error}") from None
    events = [(number, _event(line)) for number, line in enumerate(lines, 1) if line.strip()]
    wanted = {"event": "answers", "format": FORMAT, "tool": tool}
    if not events or events[0][1] != wanted:
        message = f"{shown} does not begin with the line {json.dumps(wanted)}"
        raise UnreadableAnswersError(message)
    return tuple(_answers(events[1:], shown))


def _event(line: str) -> Any:
    try:
        return read_json(line)
    except ValueError:
        return None


def _answers(events: list[tuple[int, Any]], shown: str) -> Iterator[UpstreamAnswer]:
    for number, event in events:
        if not _is_answer(event):
            raise UnreadableAnswersError(f"{shown}:{number} is no line of recorded answers")
        yield UpstreamAnswer(**{key: value for key, value in event.items() if key != "event"})


def _is_answer(event: Any) -> bool:
    if not isinstance(event, dict) or event.get("event") != "answer":
        return False
    outcomes = [key for key in _OUTCOMES if key in event]
    keys = {"event", "definition", "arguments", *_TEXTS, *outcomes}
    texts = all(isinstance(event.get(key), str) for key in (*_TEXTS, "definition"))
    if event.keys() != keys or len(outcomes) != 1 or not texts:
        return False
    error = event.get("error", {"code": "", "message": ""})
    is_error = isinstance(error, dict) and error.keys() == {"code", "message"}
    return isinstance(event["arguments"], dict) and is_error and all(
        isinstance(text, str) for text in error.values()
    )  # fmt: skip


_OUTCOMES = ("result", "error")
