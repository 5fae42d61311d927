"""Show a run's steps as they happen: live on a terminal, else as plain or JSON lines."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol, Self, TextIO

from toolmd._cli.frame import agreed
from toolmd._cli.screen import Paint, err, interactive, paint, printable, width

_MARKS: dict[str, tuple[str, Paint]] = {
    "done": ("done", "green"),
    "skipped": ("skip", "dim"),
    "failed": ("fail", "red"),
    "undone": ("undo", "yellow"),
    "kept": ("kept", "yellow"),
    "progress": ("  ..", "dim"),
}
_SIGNS: dict[str, tuple[str, str]] = {
    "waiting": ("?", "bold yellow"),
    "done": ("✓", "green"),
    "failed": ("✗", "bold red"),
    "skipped": ("»", "dim"),
    "undone": ("↶", "yellow"),
}
_TURNS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_WORTH_S = 0.1
"""The shortest duration that is shown, in seconds."""


class Steps(Protocol):
    """A view of a run's steps, which receives its RunEvents."""

    def tell(self, event: Any) -> None:
        """Show an event."""

    def pause(self) -> AbstractContextManager[None]:
        """Free the terminal for a question."""


@contextmanager
def steps_of(skill: Any, *, json: TextIO | None = None, waits: bool = False) -> Iterator[Steps]:
    """Open the view of a skill's steps on stderr.

    Args:
        skill: The SkillSpec.
        json: The stream for JSON lines instead.
        waits: Whether plain lines show questions, because this process does not ask them.
    """
    if json is not None:
        yield JsonLines(json)
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and _is_unicode():
        with LiveSteps(skill) as live:
            yield live
    else:
        yield StepLines(waits=waits)


def answer(question: Any, steps: Steps, *, yes: bool) -> bool | None:
    """Answer a run's question: by --yes, on the terminal, or not at all (None).

    Only a person knows whether an interrupted call took effect, so --yes does not answer that.
    """
    if question.asks_outcome:
        yes = False
    if not yes and not interactive():
        return None
    with steps.pause():
        return agreed(question.prompt, yes=yes)


class StepLines:
    """A view that writes a line to stderr for each step that ends."""

    def __init__(self, *, waits: bool = False) -> None:
        self._waits = waits

    def tell(self, event: Any) -> None:
        """Write the end of a step as soon as it comes."""
        marks = _MARKS | ({"waiting": ("wait", "cyan")} if self._waits else {})
        if event.kind not in marks:
            return
        word, how = marks[event.kind]
        text = f": {event.text}" if event.text else ""
        err(f"{paint(word, how, sys.stderr)}  {event.step}  {printable(event.title + text)}")

    def pause(self) -> AbstractContextManager[None]:
        """Do nothing: a line leaves the terminal free."""
        return nullcontext()


class JsonLines(StepLines):
    """A view that writes a line of JSON for each event."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def tell(self, event: Any) -> None:
        """Write the event."""
        self._stream.write(json.dumps(event.to_dict(), ensure_ascii=False) + "\n")
        self._stream.flush()


class LiveSteps:
    """A live view of the skill's steps and their states."""

    def __init__(self, skill: Any) -> None:
        from rich.console import Console
        from rich.live import Live

        from toolmd._skills.graph import chart_of

        chart = chart_of(skill) if skill.executable else None
        boxes = chart.boxes if chart else ()
        self._skill: str = skill.name
        self._titles = {box.key: box.title for box in boxes if box.kind != "note"}
        self._sections = {box.key: box.column for box in boxes}
        self._states: dict[str, str] = {}
        self._events: list[Any] = []
        self._texts: dict[str, str] = {}
        self._began: dict[str, float] = {}
        self._took: dict[str, float] = {}
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(
            get_renderable=self.shown, console=self._console, transient=True, refresh_per_second=10
        )

    def tell(self, event: Any) -> None:
        """Update the view with an event."""
        from toolmd._skills.graph import states_of, step_id

        key = step_id(event.step)
        self._events.append(event)
        if key not in self._titles:
            self._titles[key] = event.title
        if key != event.step:
            self._texts[key] = printable(
                f"{event.title}: {event.text}" if event.text else event.title
            )
        elif event.text or event.kind in {"started", "done"}:
            self._texts[key] = printable(event.text)
        self._states = dict(states_of(self._skill, self._events))
        now = time.monotonic()
        if event.kind == "started":
            self._began.setdefault(key, now)
        if self._states.get(key) in {"done", "failed"} and key in self._began:
            self._took[key] = now - self._began[key]

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Hide the view while a question is asked."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def shown(self) -> Any:
        """Return the steps and their states for rich, a line each, cut at the terminal's width."""
        from rich.console import Group
        from rich.text import Text

        reached = {0, *(self._sections.get(key, 0) for key in self._states)}
        rows = [key for key in self._titles if self._sections.get(key, 0) in reached]
        keys, titles = max(map(len, rows), default=0), [printable(self._titles[k]) for k in rows]
        widest = min(max(map(width, titles), default=0), self._console.width // 2)
        lines = []
        for key, title in zip(rows, titles, strict=True):
            state = self._states.get(key)
            look = "dim" if state in {None, "skipped"} else "bold" if state == "running" else ""
            told = self._text(key, state)
            line = Text(no_wrap=True, overflow="ellipsis")
            line.append(*self._sign(state)).append(f" {key:>{keys}} ", "dim").append(title, look)
            if told:
                line.append(" " * (widest - width(title) + 2) + told, "dim")
            lines.append(line)
        return Group(*lines)

    def _sign(self, state: str | None) -> tuple[str, str]:
        if state == "running":
            return _TURNS[int(time.monotonic() * 10) % len(_TURNS)], "cyan"
        return ("·", "dim") if state is None else _SIGNS[state]

    def _text(self, key: str, state: str | None) -> str:
        seconds = self._took.get(key)
        if state == "running" and key in self._began:
            seconds = time.monotonic() - self._began[key]
        took = "" if seconds is None or seconds < _WORTH_S else f"{seconds:.1f} s"
        words = state if state in {"skipped", "undone"} else self._texts.get(key, "")
        return "  ".join(part for part in (took, words) if part)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._live.stop()
        if self._events:
            self._console.print(self.shown())


def _is_unicode() -> bool:
    return (sys.stderr.encoding or "").lower().replace("-", "").startswith("utf")
