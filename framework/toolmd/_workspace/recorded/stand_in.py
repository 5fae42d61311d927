"""Stand between a project's examples and its servers: record what they answer, or replay it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from toolmd._types.settings import Settings
from toolmd._types.tool import Example, ToolSpec
from toolmd._workspace.recorded.answer_file import (
    UpstreamAnswer,
    answers_path,
    answers_text,
    read_answers,
)
from toolmd._workspace.recorded.example_calls import ExampleCalls
from toolmd._workspace.recorded.pins import project_pins
from toolmd._workspace.recorded.recording import RecordingCalls
from toolmd._workspace.recorded.replaying import ReplayingCalls

Writer = Callable[[Path, str], None]
"""Writes a whole file."""


class StandIn:
    """Records the answers of servers and services if it has a writer, and replays them if not."""

    def __init__(self, settings: Settings, write: Writer | None) -> None:
        """Keep the project's own settings, and what writes a file."""
        self._settings = settings
        self._write = write
        self._pins = project_pins(settings, offline=write is None)

    @property
    def how(self) -> Literal["recorded", "replayed"]:
        """How a call of a server or a service is answered."""
        return "replayed" if self._write is None else "recorded"

    def calls(self, spec: ToolSpec, example: Example) -> ExampleCalls:
        """Return what answers the calls of an example; raises UnreadableAnswersError."""
        if self._write is not None:
            return RecordingCalls(spec, example, self._settings, self._pins)
        path = answers_path(self._file(spec))
        recorded = read_answers(path, self._shown(path), spec.name)
        return ReplayingCalls(spec, example, self._settings, self._pins, recorded)

    def save(self, spec: ToolSpec, answers: Sequence[UpstreamAnswer]) -> str:
        """Write the answers of a tool's examples next to its file; return why it can't."""
        assert self._write is not None
        file = self._file(spec)
        if not file.is_file():
            return f"{spec.source.path} is not in this project: record its answers where it is"
        self._write(answers_path(file), answers_text(spec.name, answers))
        return ""

    def _file(self, spec: ToolSpec) -> Path:
        return self._settings.root / spec.source.path

    def _shown(self, path: Path) -> str:
        inside = path.is_relative_to(self._settings.root)
        return (path.relative_to(self._settings.root) if inside else path).as_posix()
