"""Check skills and what tools read of others when they are read, and cache the findings."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolmd._load.cache import NONSENSE, Cache
from toolmd._load.files import whole_file
from toolmd._load.reading import DefinitionReader, Entry, fault
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.registry import (
    Binding,
    BoundSkill,
    BoundTool,
    LateBinding,
    SkillSpecs,
    Specs,
    ToolSpecs,
)


@dataclass(slots=True, eq=False, repr=False)
class Checks:
    """Findings of each definition that names others, by a key over all that they depend on."""

    reader: DefinitionReader
    cache: Cache | None
    definitions: Mapping[str, Entry]
    done: dict[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    fresh: bool = False

    def check(
        self, tools: Mapping[str, BoundTool], skills: Mapping[str, BoundSkill]
    ) -> dict[str, tuple[Diagnostic, ...]]:
        """Return the diagnostics of each skill and of each tool with a Given.

        A skill that needs a broken definition is broken too.
        """
        reading = [name for name in tools if self.definitions[name].requires]
        if not skills and not reading:
            return {}
        all_names = _hash(sorted(self.definitions))
        found = {
            name: self._one(bound, Specs(tools), Specs(skills), all_names)
            for name, bound in skills.items()
        }
        for name in reading:
            found[name] = self._of_given(tools[name], Specs(tools), all_names)
        self._spread(found)
        return found

    def _one(
        self, bound: BoundSkill, tools: ToolSpecs, skills: SkillSpecs, all_names: str
    ) -> tuple[Diagnostic, ...]:
        def said(*, implemented: bool) -> tuple[Diagnostic, ...]:
            return self._said(bound, tools, skills, all_names, implemented=implemented)

        late = bound.late
        if late is None:
            return said(implemented=bound.binding.kind != "none")
        # Only running a plugin tells: it is asked at once where the steps alone would not do.
        bare, given = said(implemented=False), said(implemented=True)
        if has_errors(bare) and bare != given:
            return said(implemented=bound.binding.kind != "none")

        def decide() -> Binding:
            binding = late.decide()
            return binding if binding.kind != "none" else binding._replace(inspect=lambda: bare)

        bound.bound_to = LateBinding(late.target, decide)
        return given

    def _of_given(
        self, bound: BoundTool, tools: ToolSpecs, all_names: str
    ) -> tuple[Diagnostic, ...]:
        data = self.definitions[bound.name].file.data
        check = self.reader.check_given
        return self._cached(bound.name, [all_names], lambda: check(bound.spec, tools, data))

    def _said(
        self,
        bound: BoundSkill,
        tools: ToolSpecs,
        skills: SkillSpecs,
        all_names: str,
        *,
        implemented: bool,
    ) -> tuple[Diagnostic, ...]:
        return self._cached(
            bound.name, [all_names, implemented],
            lambda: self.reader.check_skill(bound.spec, tools, skills, implemented=implemented),
        )  # fmt: skip

    def _cached(
        self,
        name: str,
        more: list[Any],
        check: Callable[[], tuple[Diagnostic, ...]],
    ) -> tuple[Diagnostic, ...]:
        own = self.definitions[name]
        grounds: list[Any] = [*more, own.file.path, own.digest]
        for other in own.requires:
            needed = self.definitions.get(other)
            grounds.append([needed.kind, needed.file.path, needed.digest] if needed else other)
        key = _hash(grounds)
        if (known := self._known(key)) is not None:
            return known
        try:
            said = check()
        except Exception as error:  # noqa: BLE001 - as when it was read: it costs this definition only
            return (fault(own.file, error),)
        self.fresh = True
        self.done[key] = said
        return said

    def _known(self, key: str) -> tuple[Diagnostic, ...] | None:
        if self.cache is None or key not in self.cache.checks:
            return None
        try:
            said = tuple(map(Diagnostic.from_fields, self.cache.checks[key]))
        except NONSENSE:
            return None
        self.done[key] = self.cache.checks[key]
        return said

    def _spread(self, found: dict[str, tuple[Diagnostic, ...]]) -> None:
        """Reject every skill that needs a rejected one, directly or through others."""
        broken = {name for name, said in found.items() if has_errors(said)}
        while True:
            more = {
                name: needed
                for name in found.keys() - broken
                for needed in self.definitions[name].requires
                if needed in broken
            }
            if not more:
                return
            for name, needed in more.items():
                found[name] = (*found[name], self._needs(name, needed))
            broken |= more.keys()

    def _needs(self, name: str, needed: str) -> Diagnostic:
        return whole_file(
            self.definitions[name].file.path,
            Code.BROKEN_REQUIREMENT,
            f"{name} needs {needed}, which has errors ({self.definitions[needed].file.path})",
            f"fix {needed} first",
        )


def has_errors(said: Sequence[Diagnostic]) -> bool:
    """Return whether these diagnostics keep a skill from loading."""
    return any(diagnostic.severity is Severity.ERROR for diagnostic in said)


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
