"""Read definitions through the cache or the parser, each file's bytes once."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from toolmd._load.cache import (
    NONSENSE,
    Cache,
    decode,
    decode_call_spec,
    digest,
    encode,
    hash_of,
)
from toolmd._load.files import DefinitionKind, File, whole_file
from toolmd._load.folders import Group
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.registry import READ_RESULT, AnySpec, SkillSpecs, ToolSpecs

if TYPE_CHECKING:
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec

_log = logging.getLogger(__name__)
_SPARE = 64
"""Written whole, the cache costs as much as this part of its entries does to parse again."""


@runtime_checkable
class DefinitionReader(Protocol):
    """Parser of specs and checker of skills; the workspace supplies it."""

    @property
    def fingerprint(self) -> str:
        """Something that changes with whatever decides what is read of a file."""

    def parse(
        self, kind: DefinitionKind, data: bytes, path: str
    ) -> tuple[AnySpec | None, tuple[Diagnostic, ...]]:
        """Read a definition; never raises for its author's mistake."""

    def check_skill(
        self, spec: SkillSpec, tools: ToolSpecs, skills: SkillSpecs, *, implemented: bool
    ) -> tuple[Diagnostic, ...]:
        """Report the requests of a skill that its tools can't meet."""

    def check_given(self, spec: ToolSpec, tools: ToolSpecs, data: bytes) -> tuple[Diagnostic, ...]:
        """Report what a tool's conditions can't read of the tools of its Given."""


@dataclass(slots=True, eq=False, repr=False)
class Entry:
    """A definition, as its file was read or as it is in force; without a name if it has no spec.

    The same object stays from snapshot to snapshot while the file does not change.
    """

    kind: DefinitionKind
    file: File
    digest: str
    """Hex sha256 of what it says; empty where it can't be stored."""
    group: Group
    name: str = ""
    encoded: bytes = b""
    """The spec as JSON, decoded on first use; empty where JSON can't hold it."""
    requires: tuple[str, ...] = ()
    """The tools and skills that a skill names, or the tools of a tool's Given."""
    diagnostics: tuple[Diagnostic, ...] = ()
    stale: bool = False
    """Whether the file is broken, and this is what it said last."""
    known: AnySpec | None = None
    """The spec, where it is not what the file says, or JSON can't hold it."""
    reader: DefinitionReader | None = None
    _call_spec: ToolCallSpec | None = None

    def under(self, spec: AnySpec, encoded: bytes, found: Diagnostic) -> Entry:
        """Return the definition with another spec in force, and the diagnostic of that."""
        said = (*self.diagnostics, found)
        return replace(self, digest=digest(encoded), encoded=encoded, requires=requires_of(spec),
                       diagnostics=said, known=spec, _call_spec=None)  # fmt: skip

    def spec(self) -> AnySpec:
        """Return the whole spec."""
        if self.known is not None:
            return self.known
        try:
            return decode(self.kind, self.encoded)
        except ValueError:
            # The hash matches, but the JSON is not a spec: parse the file instead.
            assert self.reader is not None
            spec, _ = self.reader.parse(self.kind, self.file.data, self.file.path)
            if spec is None:
                raise
            return spec

    def call_spec(self) -> CallSpec:
        """Return the part of a tool that its calls need; a skill is read whole."""
        if self.kind == "skill" or self.known is not None:
            return self.spec()
        if self._call_spec is None:
            try:
                self._call_spec = decode_call_spec(self.encoded)
            except NONSENSE:
                return self.spec()
        return self._call_spec

    def content_hash(self) -> str:
        """Return the hash of the definition; for a tool, without building its spec."""
        call_spec = self.call_spec()
        if call_spec is self._call_spec:
            with contextlib.suppress(*NONSENSE):
                return hash_of(call_spec, self.encoded)
        return self.spec().hash


@dataclass(slots=True, eq=False, repr=False)
class Reading:
    """The files of one snapshot as they are read."""

    reader: DefinitionReader
    cache: Cache | None
    before: Mapping[str, Entry] | None = None
    """What was read for the snapshot of before, by path; None for the first one."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    """All definitions as they were read, by path."""
    parsed: int = 0

    def group(self, group: Group) -> list[Entry]:
        """Read a folder's definitions; one without a spec has no name."""
        self.diagnostics += group.folder.diagnostics
        before = self.before or {}
        read = []
        for kind, file in group.folder.definitions:
            entry = before.get(file.path)
            same = entry is not None and entry.file is file and entry.reader is self.reader
            if entry is None or not same or not entry.digest:  # it failed before
                entry = self._read(kind, file, group)
            elif entry.group is not group:
                entry = replace(entry, group=group)
            self.entries[file.path] = entry
            if entry.diagnostics:
                self.diagnostics += entry.diagnostics
            read.append(entry)
        return read

    def _read(self, kind: DefinitionKind, file: File, group: Group) -> Entry:
        entry = Entry(kind, file, digest(file.data), group, reader=self.reader)
        stored = self.cache.entries.get(file.path) if self.cache is not None else None
        if stored is not None and stored.digest == entry.digest and type(stored.name) is str:
            with contextlib.suppress(*NONSENSE):
                entry.diagnostics = tuple(map(Diagnostic.from_fields, stored.diagnostics))
                _, entry.name, entry.encoded, entry.requires, _ = stored
                return entry
        try:
            spec, entry.diagnostics = self.reader.parse(kind, file.data, file.path)
        except Exception as error:  # noqa: BLE001 - a fault of ours in one file costs that file only
            entry.digest, entry.diagnostics = "", (fault(file, error),)
            return entry
        self.parsed += 1
        if spec is not None:
            entry.name, entry.requires, entry.encoded = spec.name, requires_of(spec), encode(spec)
            # A thousand specs kept alive cost the reading of the next ones more than decoding.
            entry.known = None if entry.encoded else spec
        return entry

    def save(self, checks: Mapping[str, Any], *, fresh: bool) -> None:
        """Bring the cache up to date; later readings write its files only where much changed."""
        if (cache := self.cache) is None:
            return
        known = cache.entries if self.before is None else self.before
        cache.unsaved += self.parsed + fresh + (len(known) != len(self.entries))
        cache.checks = checks
        least = 1 if self.before is None else len(self.entries) / _SPARE
        if cache.unsaved and cache.unsaved >= least:
            stored = {
                p: e for p, e in self.entries.items() if e.digest and (e.encoded or not e.name)
            }
            cache.save(stored, checks)
            cache.unsaved = 0


def fault(file: File, error: Exception) -> Diagnostic:
    """Make the diagnostic of an error inside Toolmd on a file; the traceback is logged."""
    _log.error("reading %s failed", file.path, exc_info=error)
    message = f"Toolmd itself failed on this file: {type(error).__name__}: {error}"
    help_ = "please report it with the file; until then, write it in the canonical form"
    return whole_file(file.path, Code.READER_FAILED, message, help_)


def requires_of(spec: AnySpec | None) -> tuple[str, ...]:
    """Return the tools and skills that a skill names, or the tools of a tool's Given."""
    if spec is None:
        return ()
    if isinstance(spec, ToolCallSpec):
        return tuple(one.tool for one in spec.given)
    return (*spec.required_tools, *spec.required_skills)


def first_of_each_name(read: Iterable[Entry], diagnostics: list[Diagnostic]) -> dict[str, Entry]:
    """Return the first definition of each name, and report the others."""
    named: dict[str, Entry] = {}
    for definition in read:
        if definition.name == READ_RESULT:
            message = (
                f"{READ_RESULT} is Toolmd's own tool, by which a model reads the rest of a result: "
                f"{_place(definition)} does not load"
            )
            help_ = "give it another Name"
            path = definition.file.path
            diagnostics.append(whole_file(path, Code.DUPLICATE_NAME, message, help_))
            continue
        first = named.setdefault(definition.name, definition)
        if first is not definition:
            diagnostics.append(_same_name(first, definition))
    return named


def _same_name(first: Entry, second: Entry) -> Diagnostic:
    """Report a definition whose name is taken; one of a plugin that the project replaces warns."""
    own, other = first.group.package, second.group.package
    message = (
        f"{second.name} is the name of two definitions: {_place(first)} stays, "
        f"{_place(second)} does not load"
    )
    help_ = "give one of them another Name, or remove it"
    if own and other and own != other:
        help_ = "set `plugins` in the settings to the plugins that may load, without one of these"
    elif other and not own:
        help_ = f"give {first.file.path} another Name to have both"
    found = whole_file(second.file.path, Code.DUPLICATE_NAME, message, help_)
    return found._replace(severity=Severity.WARNING) if other and not own else found


def _place(definition: Entry) -> str:
    package = definition.group.package
    return definition.file.path + (f" of the plugin {package}" if package else "")
