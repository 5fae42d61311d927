"""The kinds of definitions: the parser of each, and the kind that a file's name states."""

from collections.abc import Mapping
from typing import Protocol

from toolmd._parse.prompt import parse_prompt
from toolmd._parse.skill import parse_skill
from toolmd._parse.source.places import Places
from toolmd._parse.tool import parse_tool
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.prompt import PromptSpec
from toolmd._types.skill import SkillSpec
from toolmd._types.source import SUFFIXES
from toolmd._types.tool import ToolSpec

AnyDefinition = ToolSpec | SkillSpec | PromptSpec


class Parser(Protocol):
    """A function that parses one kind of file."""

    def __call__(
        self, text: str, path: str, places: Places | None = None
    ) -> tuple[AnyDefinition | None, tuple[Diagnostic, ...]]:
        """Return the spec, or None if any diagnostic is an error; and the diagnostics."""


PARSERS: Mapping[str, Parser] = {"tool": parse_tool, "skill": parse_skill, "prompt": parse_prompt}


def kind_of(path: str) -> str | None:
    """Return the kind that a file's name states: `tool`, `skill` or `prompt`; None for others."""
    return next((kind for suffix, kind in SUFFIXES.items() if path.endswith(suffix)), None)
