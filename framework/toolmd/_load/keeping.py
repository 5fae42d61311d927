"""Decide what is in force: broken files, and edits that weaken a policy."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from toolmd._load.accepted import AcceptedKey, key_of
from toolmd._load.baseline import Known, LastLive, StoredChanges
from toolmd._load.cache import decode, digest, encode
from toolmd._load.files import File, whole_file
from toolmd._load.folders import Group
from toolmd._load.reading import Entry
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity, Span
from toolmd._types.pending_change import ChangeKey, PendingChange, Weakening
from toolmd._types.registry import AnySpec, Bound, BoundSkill, BoundTool, Registry
from toolmd._types.settings import Settings

_NAME = re.compile(rb"^\W*name\W*:\W*([a-z][\w-]*)", re.IGNORECASE | re.MULTILINE)


def hold_back(
    named: Mapping[str, Entry],
    broken: Iterable[Entry],
    known: Mapping[str, Sequence[LastLive]],
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield each definition of a plugin that must not run, by name, with a warning.

    The project's file may be stricter, so nothing of its name runs as long as it can't be read.

    Args:
        named: The definitions that can be read, by name.
        broken: The files that can't be read as definitions.
        known: What was live before, by path.
    """
    for file in broken:
        if file.group.package is not None:
            continue
        was = [row.name for row in known.get(file.file.path, ())]
        for name in {*_claim_names(file), *was}:
            package = named[name].group.package if name in named else None
            if package is not None:
                message = f"{name} of the plugin {package} does not run while this file has errors"
                severity = Severity.WARNING
                yield (
                    name,
                    whole_file(file.file.path, Code.DUPLICATE_NAME, message, severity=severity),
                )


def _claim_names(file: Entry) -> Iterator[str]:
    """Yield the names that a broken file may mean: of the file, and each that it states."""
    yield _fold(file.file.parts[-1].partition(".")[0])
    for match in _NAME.finditer(file.file.data):
        yield _fold(match[1].decode())


def _fold(name: str) -> str:
    return name.replace("-", "_")


_UNREAD = frozenset({Code.UNREADABLE_FILE, Code.FILE_TOO_LARGE, Code.OUTSIDE_ROOT})


class Waiting(NamedTuple):
    """An edit that waits for `toolmd accept`, and the version that would be live then."""

    edit: PendingChange
    key: ChangeKey
    row: LastLive
    live: LastLive
    """What is live until then."""


@dataclass(slots=True, eq=False, repr=False)
class Kept:
    """The definitions that are live, and what is to be remembered of them."""

    named: dict[str, Entry]
    rows: dict[str, LastLive] = field(default_factory=dict)
    forget: set[str] = field(default_factory=set)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


class Keeper:
    """Decides for one reading of all files; nothing is written here."""

    def __init__(
        self,
        groups: Sequence[Group],
        known: Known,
        settings: Settings,
        changes: StoredChanges,
        accepted: Collection[AcceptedKey] = (),
    ) -> None:
        """Keep the parts; `accepted` is what the committed file accepts, for a start."""
        self._accepted = accepted
        self._known = known
        self._changes = changes
        self._settings = settings
        # The files and folders that are there and were not read, by path.
        self._unread: dict[str, tuple[Group, Diagnostic]] = {}
        for group in groups:
            for found in group.folder.diagnostics:
                if found.code in _UNREAD:
                    self._unread.setdefault(found.span.path.rstrip("/"), (group, found))

    def keep(self, named: Mapping[str, Entry], broken: Sequence[Entry]) -> Kept:
        """Decide for each definition, and bring back what the broken files said last."""
        rows, kept = self._known.rows, Kept(dict(named))
        for name, found in hold_back(named, broken, self._at):
            kept.named.pop(name, None)
            kept.diagnostics.append(found)
        named = dict(kept.named)
        for name, entry in named.items():
            own, path = rows.get(name), entry.file.path
            taken = own.taken if own is not None else 0
            row = LastLive(name, entry.kind, path, entry.digest, entry.encoded, taken)
            if own == row and len(self._at[path]) == 1:
                kept.rows[name] = row
            else:
                self._keep(kept, row, entry, named)
        unread = {entry.file.path: entry for entry in broken}
        for name, row in rows.items():
            if name in named or name in kept.forget:
                continue
            if (file := unread.get(row.path) or self._unreadable(row)) is not None:
                self._bring_back(kept, row, file)
        return kept

    @cached_property
    def _at(self) -> Mapping[str, list[LastLive]]:
        """The rows by path."""
        found: dict[str, list[LastLive]] = {}
        for row in self._known.rows.values():
            found.setdefault(row.path, []).append(row)
        return found

    def revert(self, kept: Kept, name: str) -> bool:
        """Bring back what a skill said last, where its file says what its tools can't give."""
        row, broken = self._known.rows.get(name), kept.named[name]
        kept.rows.pop(name, None)
        kept.waiting.pop(name, None)
        if row is None or broken.stale or row.digest == broken.digest or row.kind != broken.kind:
            return False
        return self._bring_back(kept, row, broken)

    def _keep(
        self, kept: Kept, row: LastLive, definition: Entry, named: Mapping[str, Entry]
    ) -> None:
        """Compare a definition that changed with what was live, and hold back what it weakens."""
        name, kind, path = row.name, row.kind, row.path
        own = self._known.rows.get(name)
        # The file of a removed definition: it was renamed and is compared with its old version.
        olds = [old for old in self._at.get(path, ()) if old.name not in named]
        kept.forget.update(old.name for old in olds)
        if own is not None:
            olds.append(own)
        kept.rows[name] = row
        if self._settings.trust_edits:
            return
        olds = [old for old in olds if old.digest != row.digest and old.kind == kind]
        if own is None:
            olds += [row._replace(digest="", spec=one) for one in self._elsewhere(kept, row)]
        if not olds:
            return
        spec, found = self._stricter(kept, definition, olds)
        if all(key_of(name, one) in self._accepted for one in found):
            return
        encoded = encode(spec)
        key = ChangeKey(name, digest(encoded), row.digest)
        if (number := self._changes.accepted(key, row.taken)) is not None:
            kept.rows[name] = row._replace(taken=number)
            return
        edit = PendingChange(name, kind, path, spec.source.line, found)
        kept.rows[name] = row._replace(digest="", spec=encoded)
        kept.waiting[name] = Waiting(edit, key, row, kept.rows[name])
        kept.named[name] = definition.under(spec, encoded, _weaken(edit))
        kept.diagnostics.append(_weaken(edit))

    def _elsewhere(self, kept: Kept, row: LastLive) -> list[bytes]:
        """Return the live policies of other machines, on which the edit of a new row waits."""
        found = self._changes.elsewhere(row.name, row.digest)
        if found is None:
            # The next reading asks again.
            del kept.rows[row.name]
        return found or []

    def _stricter(
        self, kept: Kept, definition: Entry, olds: Iterable[LastLive]
    ) -> tuple[AnySpec, tuple[Weakening, ...]]:
        """Compare a definition with its last live version; return its live part and weakenings."""
        from toolmd._load.weakening import keep_stricter

        spec = definition.spec()
        found: list[Weakening] = []
        least = definition.group.default_min
        least = self._settings.safety.default_min if least is None else least
        for old in olds:
            if (before := self._said(kept, old)) is not None:
                stricter = keep_stricter(before, spec, default_min=least)
                spec = stricter.spec
                found += [one for one in stricter.weakened if one not in found]
        return spec, tuple(found)

    def _said(self, kept: Kept, row: LastLive) -> AnySpec | None:
        try:
            return decode(row.kind, row.spec)
        except ValueError:
            message = f"the last policy of {row.name} can't be read, so its edit was not compared"
            help_ = "check in the file that the edit does not weaken the policy"
            told = whole_file(row.path, Code.UNREADABLE_STATE, message, help_, Severity.WARNING)
            kept.diagnostics.append(told)
            return None

    def _bring_back(self, kept: Kept, row: LastLive, broken: Entry) -> bool:
        spec = self._said(kept, row)
        if spec is None:
            return False
        if isinstance(spec, ToolCallSpec) and spec.safety.sensitivity == "critical":
            told = _suspend(row.name, broken.file.path)
            kept.diagnostics.append(told)
            return False
        told = _stale(row.name, broken.file.path)
        kept.diagnostics.append(told)
        kept.rows[row.name] = row
        broken = replace(broken, kind=row.kind, name=row.name, stale=True)
        kept.named[row.name] = broken.under(spec, row.spec, told)
        return True

    def _unreadable(self, row: LastLive) -> Entry | None:
        """Return the file of a row where it is there and was not read; None where it is gone."""
        for place in (row.path, *map(str, PurePosixPath(row.path).parents)):
            if (seen := self._unread.get(place)) is not None:
                return _empty(row, *seen)
        return None


def _empty(row: LastLive, group: Group, found: Diagnostic) -> Entry:
    folder = group.folder
    below = "" if folder.shown == "." else f"{folder.shown}/"
    parts = tuple(row.path.removeprefix(below).split("/"))
    file = File(row.path, str(folder.root.joinpath(*parts)), parts, b"")
    return Entry(row.kind, file, "", group, diagnostics=(found,))


def _weaken(edit: PendingChange) -> Diagnostic:
    told = "; ".join(str(weakening) for weakening in edit.weakened)
    message = f"this edit weakens {edit.name}, so the stricter policy stays live: {told}"
    help_ = (
        f"`toolmd accept {edit.name}` makes the edit live; `trust_edits = true` in the settings "
        "accepts every edit at once: use it while nobody else writes or calls the tools"
    )
    span = Span(edit.path, edit.line, 1, edit.line, 2)
    return Diagnostic(span, Code.WEAKENED_POLICY, Severity.WARNING, message, help_)


def _stale(name: str, path: str) -> Diagnostic:
    message = f"the file is broken: {name} stays live as the file was last read"
    help_ = "fix the file, or delete it"
    return whole_file(path, Code.STALE_DEFINITION, message, help_, Severity.WARNING)


def _suspend(name: str, path: str) -> Diagnostic:
    message = f"the file is broken, and {name} is critical: it can't be called until it is fixed"
    return whole_file(path, Code.SUSPENDED_TOOL, message, "fix the file, or delete it")


def by_kind(
    kept: Kept, bound: Mapping[str, Bound[Any]]
) -> tuple[dict[str, BoundTool], dict[str, BoundSkill]]:
    """Return the bound tools, and the bound skills."""
    skills = {name: one for name, one in bound.items() if kept.named[name].kind == "skill"}
    tools = {name: one for name, one in bound.items() if name not in skills} if skills else bound
    return dict(tools), skills


def with_problems(registry: Registry, file: str, store: str) -> Registry:
    """Add that the file of what is live can't be used, or that the store does not answer."""
    found = []
    if file:
        message = f"what is live can't be kept for the next start: {file}"
        help_ = "repair or remove the file; until then only this process knows the edits"
        found.append((message, help_))
    if store:
        message = f"the store can't say which edits were accepted: {store}"
        found.append((message, "until it answers, edits that weaken a policy stay pending"))
    code, severity = Code.UNREADABLE_STATE, Severity.WARNING
    told = (whole_file("settings", code, *words, severity) for words in found)
    return replace(registry, diagnostics=(*registry.diagnostics, *told)) if found else registry
