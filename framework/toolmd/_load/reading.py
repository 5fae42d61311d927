"""Read definitions and prompts through the cache or the parser, each file's bytes once."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from toolmd._load.cache import (
    NONSENSE,
    Cache,
    CacheEntry,
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
from toolmd._types.registry import AnySpec, SkillSpecs, ToolSpecs

if TYPE_CHECKING:
    from toolmd._types.prompt import PromptSpec
    from toolmd._types.skill import SkillSpec
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from toolmd._types.prompt import PromptSpec


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

    def parse_prompt(
        self, data: bytes, path: str
    ) -> tuple[PromptSpec | None, tuple[Diagnostic, ...]]:
        """Read a prompt; never raises for its author's mistake."""

    def check_skill(
        self, spec: SkillSpec, tools: ToolSpecs, skills: SkillSpecs, *, implemented: bool
    ) -> tuple[Diagnostic, ...]:
        """Report the requests of a skill that its tools can't meet."""


@dataclass(slots=True, eq=False, repr=False)
class Entry:
    """A definition, as its file was read or as it is in force; without a name if it has no spec.

    The same object stays from snapshot to snapshot while the file does not change.
    """

    kind: DefinitionKind
    file: File
    digest: str
    group: Group
    name: str
    spec: AnySpec | _Encoded | None
    """The spec, or what reads it; None where the file gave none."""
    requires: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    encoded: bytes = b""
    """The spec as JSON; empty where there is none, or JSON can't hold it."""
    stale: bool = False
    """Whether the file is broken, and this is what it said last."""

    @property
    def get(self) -> Callable[[], AnySpec]:
        """What gives the spec."""
        spec = self.spec
        assert spec is not None
        return spec.spec if isinstance(spec, _Encoded) else lambda: spec

    @property
    def call_spec(self) -> Callable[[], CallSpec]:
        """What gives what the definition's Python, and of a tool its calls, are held to."""
        spec = self.spec
        assert spec is not None
        return spec.call_spec if isinstance(spec, _Encoded) else lambda: spec

    @property
    def content_hash(self) -> Callable[[], str]:
        """What gives the hash over what the file says."""
        spec = self.spec
        assert spec is not None
        return spec.content_hash if isinstance(spec, _Encoded) else lambda: spec.hash


@dataclass(slots=True, eq=False, repr=False)
class Reading:
    """The files of one snapshot as they are read."""

    reader: DefinitionReader
    cache: Cache | None
    before: Mapping[str, Entry] | None = None
    """What was read for the snapshot of before, by path; None for the first one."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    entries: dict[str, CacheEntry] = field(default_factory=dict)
    """Of the files that were read, by path."""
    entries_read: dict[str, Entry] = field(default_factory=dict)
    """All definitions as they were read, by path."""
    parsed: int = 0

    def group(self, group: Group) -> list[Entry]:
        """Read a folder's definitions; one without a spec has no name."""
        self.diagnostics += group.folder.diagnostics
        before = self.before or {}
        read = []
        for kind, file in group.folder.definitions:
            last = before.get(file.path)
            if last is None or last.file is not file:
                last = self._read(kind, file, group)
            elif last.group is not group:
                last = replace(last, group=group)
            self.entries_read[file.path] = last
            if last.diagnostics:
                self.diagnostics += last.diagnostics
            read.append(last)
        return read

    def _read(self, kind: DefinitionKind, file: File, group: Group) -> Entry:
        key, entry = digest(file.data), None
        if self.cache is not None:
            entry = self.cache.entries.get(file.path)
        same = entry is not None and entry.digest == key
        kept = self._kept(kind, file, group, entry) if entry and same else None
        return kept or self._parsed(kind, file, key, group)

    def _kept(
        self, kind: DefinitionKind, file: File, group: Group, entry: CacheEntry
    ) -> Entry | None:
        try:
            said = tuple(map(Diagnostic.kept, entry.diagnostics)) if entry.diagnostics else ()
        except NONSENSE:
            return None
        if type(entry.name) is not str:
            return None
        self.entries[file.path] = entry
        spec = _Encoded(self.reader, kind, file, entry.spec)
        return Entry(
            kind, file, entry.digest, group, entry.name, spec, entry.requires, said, entry.spec
        )

    def _parsed(self, kind: DefinitionKind, file: File, key: str, group: Group) -> Entry:
        try:
            spec, said = self.reader.parse(kind, file.data, file.path)
        except Exception as error:  # noqa: BLE001 - a fault of ours in one file costs that file only
            return Entry(kind, file, key, group, "", None, (), (fault(file, error),))
        self.parsed += 1
        requires = requires_of(spec)
        name = spec.name if spec is not None else ""
        encoded = encode(spec) if spec is not None else b""
        if self.cache is not None and (encoded or spec is None):
            self.entries[file.path] = CacheEntry(key, name, encoded, requires, said)
        # A thousand specs kept alive cost the reading of the next ones more than decoding later.
        told = _Encoded(self.reader, kind, file, encoded) if encoded else spec
        return Entry(kind, file, key, group, name, told, requires, said, encoded)

    def save(self, checks: Mapping[str, Any], *, fresh: bool) -> None:
        """Bring the cache up to date; later readings write its files only where much changed."""
        if (cache := self.cache) is None:
            return
        entries = self.entries if self.before is None else {**cache.entries, **self.entries}
        if len(entries) > len(self.entries_read):
            entries = {path: one for path, one in entries.items() if path in self.entries_read}
        cache.unsaved += self.parsed + fresh + (len(cache.entries) != len(entries))
        cache.entries, cache.checks = entries, checks
        least = 1 if self.before is None else len(entries) / _SPARE
        if cache.unsaved and cache.unsaved >= least:
            cache.save(entries, checks)
            cache.unsaved = 0


class _Encoded:
    """A definition that is stored as JSON and decoded on first use."""

    __slots__ = ("_call_spec", "_encoded", "_file", "_kind", "_reader")

    def __init__(
        self, reader: DefinitionReader, kind: DefinitionKind, file: File, encoded: bytes
    ) -> None:
        self._reader = reader
        self._kind = kind
        self._file = file
        self._encoded = encoded
        self._call_spec: ToolCallSpec | None = None

    def spec(self) -> AnySpec:
        """Return the whole spec of the file."""
        try:
            return decode(self._kind, self._encoded)
        except ValueError:
            # The hash matches, but the JSON is not a spec: parse the file instead.
            spec, _ = self._reader.parse(self._kind, self._file.data, self._file.path)
            if spec is None:
                raise
            return spec

    def call_spec(self) -> CallSpec:
        """Return the part of a tool that its calls need; a skill is read whole."""
        if self._kind == "skill":
            return self.spec()
        if self._call_spec is None:
            try:
                self._call_spec = decode_call_spec(self._encoded)
            except NONSENSE:
                return self.spec()
        return self._call_spec

    def content_hash(self) -> str:
        """Return the hash of the definition; for a tool, without building its spec."""
        call_spec = self.call_spec()
        if call_spec is self._call_spec:
            with contextlib.suppress(*NONSENSE):
                return hash_of(call_spec, self._encoded)
        return self.spec().hash


def fault(file: File, error: Exception) -> Diagnostic:
    """Make the diagnostic of an error inside Toolmd on a file; the traceback is logged."""
    _log.error("reading %s failed", file.path, exc_info=error)
    message = f"Toolmd itself failed on this file: {type(error).__name__}: {error}"
    help_ = "please report it with the file; until then, write it in the canonical form"
    return whole_file(file.path, Code.READER_FAILED, message, help_)


def requires_of(spec: AnySpec | None) -> tuple[str, ...]:
    """Return the tools and skills that a skill names."""
    if spec is None or isinstance(spec, ToolCallSpec):
        return ()
    return (*spec.required_tools, *spec.required_skills)


def first_of_each_name(read: Iterable[Entry], diagnostics: list[Diagnostic]) -> dict[str, Entry]:
    """Return the first definition of each name, and report the others."""
    named: dict[str, Entry] = {}
    for definition in read:
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


class ReadPrompt(NamedTuple):
    """A prompt's file and what was read of it."""

    file: File
    spec: PromptSpec | None
    said: tuple[Diagnostic, ...]


def read_prompts(
    groups: Iterable[Group],
    reader: DefinitionReader,
    definitions: Iterable[Entry],
    diagnostics: list[Diagnostic],
    before: Mapping[str, ReadPrompt],
) -> tuple[dict[str, PromptSpec], dict[str, ReadPrompt]]:
    """Return the prompts by name and by path, and add what is wrong to `diagnostics`.

    `before` are those read last, by path: a file that has not changed is not read again. A skill
    goes before a prompt of its name, and the first of two prompts before the second.
    """
    taken = {one.name: one.file.path for one in definitions if one.kind == "skill"}
    prompts: dict[str, PromptSpec] = {}
    read: dict[str, ReadPrompt] = {}
    for file in [file for group in groups for file in group.folder.prompts]:
        last = before.get(file.path)
        one = last if last is not None and last.file is file else _read(file, reader)
        read[file.path], spec = one, one.spec
        diagnostics += one.said
        if spec is None:
            continue
        if (first := taken.setdefault(spec.name, file.path)) is not file.path:
            message = (
                f"{spec.name} is the name of two definitions: {first} stays, {file.path} does not "
                "load"
            )
            help_ = "give one of them another Name, or remove it"
            diagnostics.append(whole_file(file.path, Code.DUPLICATE_NAME, message, help_))
        else:
            prompts[spec.name] = spec
    return prompts, read


def _read(file: File, reader: DefinitionReader) -> ReadPrompt:
    try:
        return ReadPrompt(file, *reader.parse_prompt(file.data, file.path))
    except Exception as error:  # noqa: BLE001 - a fault of ours in one file costs that file only
        return ReadPrompt(file, None, (fault(file, error),))
