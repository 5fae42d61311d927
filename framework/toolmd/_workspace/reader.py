"""Hand the parser and the skills' checker to the binder; both are imported when first needed."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from toolmd._types.diagnostic import Diagnostic
from toolmd._types.identity import Identity
from toolmd._types.registry import AnySpec, SkillSpecs, ToolSpecs

if TYPE_CHECKING:
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec

PACKAGES = ("_parse", "_types", "_validation", "_expressions", "_skills")
"""The packages whose code decides what is read of a file, or found in a skill."""

_LIBRARIES = ("markdown_it", "pydantic", "pydantic_core", "re2", "yaml")
"""Whose files change when another version is installed."""


class FileReader:
    """Reads definitions with the parser, and skills with the checker of `_skills`."""

    def __init__(self, identity: Identity | None) -> None:
        """Keep the facts and roles that the settings know; None where there are no settings."""
        self.identity = identity

    @cached_property
    def fingerprint(self) -> str:
        """Hex sha256 over the state of the code and libraries that read a file."""
        package = Path(__file__).parents[1]
        files = [file for name in PACKAGES for file in _python_of(package / name)]
        for library in _LIBRARIES:
            found = find_spec(library)
            if found is not None and found.origin is not None:
                files.append(found.origin)
        said = [sys.version, repr(self.identity)]
        for file in files:
            status = os.stat(file)  # noqa: PTH116 - as below
            said.append(f"{file} {status.st_size} {status.st_mtime_ns}")
        return hashlib.sha256("\n".join(said).encode()).hexdigest()

    def parse(
        self, kind: str, data: bytes, path: str
    ) -> tuple[AnySpec | None, tuple[Diagnostic, ...]]:
        """Read a definition; never raises for its author's mistake."""
        from toolmd._parse import decode, lint_tool, parse_skill, parse_tool

        text, said = decode(data, path)
        if text is None:
            return None, said
        if kind == "skill":
            skill, more = parse_skill(text, path)
            return skill, (*said, *more)
        tool, more = parse_tool(text, path, identity=self.identity)
        policy = lint_tool(tool, text) if tool is not None else ()
        return tool, (*said, *more, *policy)

    def check_skill(
        self, spec: SkillSpec, tools: ToolSpecs, skills: SkillSpecs, *, implemented: bool
    ) -> tuple[Diagnostic, ...]:
        """Report the steps of a skill that its tools can't serve."""
        from toolmd._skills.check import check_skill

        return check_skill(spec, tools, skills, self.identity, implemented=implemented)

    def check_given(self, spec: ToolSpec, tools: ToolSpecs, data: bytes) -> tuple[Diagnostic, ...]:
        """Report what a tool's conditions can't read of the tools of its Given."""
        from toolmd._skills.given import check_given

        return check_given(spec, tools, self.identity, data.decode(errors="replace"))


def _python_of(package: Path) -> list[str]:
    # A thousand tools are opened in fifty milliseconds; `Path.rglob` would add three to them.
    found = [os.path.join(at, name) for at, _, names in os.walk(package) for name in names]  # noqa: PTH118
    return sorted(file for file in found if file.endswith(".py"))


@lru_cache(maxsize=8)
def reader_of(identity: Identity | None) -> FileReader:
    """Return the reader of projects with these facts and roles: the same one each time."""
    return FileReader(identity)
