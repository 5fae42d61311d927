"""Compare the policies of the working tree with those of a git revision; run none of its code."""

import os
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from toolmd._load.accepted import AcceptedKey, key_of, read_accepted
from toolmd._load.files import SUFFIXES
from toolmd._load.weakening import hold_settings, list_weakened
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity, Span
from toolmd._types.identity import Identity
from toolmd._types.pending_change import Weakening
from toolmd._types.registry import AnySpec
from toolmd._types.settings import Settings
from toolmd._workspace.reader import reader_of
from toolmd.config import load_settings
from toolmd.errors import ConfigError

_SETTINGS = ("toolmd.toml", "pyproject.toml")
_SUBMODULE = "160000"


class Comparison(NamedTuple):
    """What changed of the policies since a revision."""

    commit: str
    """The abbreviated commit that was compared with."""
    diagnostics: tuple[Diagnostic, ...]
    """A warning for each restriction that is weaker now."""
    weaker: int
    stricter: int
    unchanged: int
    """The number of restrictions that are weaker and stricter, and of definitions as before."""
    notes: tuple[str, ...]
    """The tools and skills that are new, and those that are gone."""
    weakened: tuple[tuple[str, Weakening], ...] = ()
    """What is weaker and not accepted, each with the name of its definition."""
    accepted: int = 0
    """The number of weaker restrictions that `policy-accepted.toml` accepts."""

    def __str__(self) -> str:
        changed = f"{self.weaker} weaker, {self.stricter} stricter"
        accepted = f", {self.accepted} accepted" if self.accepted else ""
        return f"Policy against {self.commit}: {changed}, {self.unchanged} unchanged{accepted}."


class _Definition(NamedTuple):
    path: str
    text: str
    spec: "AnySpec | None"


def compare(root: Path, settings: Settings, revision: str) -> Comparison:
    """Compare the definitions and settings of a project with those of a revision.

    Args:
        root: The project's folder.
        settings: Its settings.
        revision: A commit, a branch or a tag.

    Raises:
        ConfigError: There is no git, or no such commit in this clone.
    """
    repository = _Repository(root)
    commit = repository.commit(revision)
    with tempfile.TemporaryDirectory() as folder:
        old_root = Path(folder).resolve()
        repository.write(commit, _SETTINGS, old_root)
        before = load_settings(old_root, environ={})
        repository.write(commit, (*before.tools, *before.skills), old_root)
        olds = _definitions(old_root, before)
    news = _definitions(root, settings)
    return _compare(commit[:7], (before, olds), (settings, news), read_accepted(root))


def _compare(
    commit: str,
    old: tuple[Settings, Mapping[str, _Definition]],
    new: tuple[Settings, Mapping[str, _Definition]],
    accepts: Collection[AcceptedKey],
) -> Comparison:
    (before, olds), (after, news) = old, new
    found: list[Diagnostic] = []
    weaker = stricter = unchanged = accepted = 0
    open_: list[tuple[str, Weakening]] = []
    file = "toolmd.toml" if after.file is None else after.file.name
    for key in hold_settings(before._replace(trust_edits=False), after)[1]:
        one = Weakening(key, *(repr(attrgetter(key)(each)) for each in (before, after)))
        if key_of("settings", one) in accepts:
            accepted += 1
            continue
        found.append(_warning(_line(file, 1), f"the setting {key} is weaker"))
        open_.append(("settings", one))
        weaker += 1
    minimum = before.safety.default_min, after.safety.default_min
    for name, was in olds.items():
        if was.spec is None:
            message = f"{was.path} can't be read at {commit}, so its policy is unknown"
            place = _line(news[name].path if name in news else was.path, 1)
            found.append(Diagnostic(place, Code.BASELINE_UNREADABLE, Severity.WARNING, message, ""))
            weaker += 1
            continue
        if name not in news or (now := news[name]).spec is None:
            continue
        lost = _find_lost(was.spec, now.spec, minimum[1])
        gained = _find_lost(now.spec, was.spec, minimum[0])
        every = lost
        lost = tuple(one for one in every if key_of(name, one) not in accepts)
        accepted += len(every) - len(lost)
        open_ += [(name, one) for one in lost]
        found += [_warning(_place(one, now), f"{name}: {_in_words(one, commit)}") for one in lost]
        weaker += len(lost)
        stricter += len({one.place for one in gained} - {one.place for one in every})
        unchanged += not every and not gained
    added = [name for name in news if name not in olds]
    gone = [name for name in olds if name not in news]
    notes = [f"new since {commit}: {', '.join(added)}"] if added else []
    notes += [f"gone since {commit}: {', '.join(gone)}"] if gone else []
    return Comparison(
        commit, tuple(found), weaker, stricter, unchanged, tuple(notes), tuple(open_), accepted
    )


def _find_lost(old: AnySpec, new: "AnySpec | None", minimum: float | None) -> tuple[Weakening, ...]:
    assert new is not None
    if type(old) is not type(new):
        return (Weakening("Metadata", "a tool or a skill", "the other one"),)
    return list_weakened(old, new, default_min=minimum)


def _warning(span: Span, message: str) -> Diagnostic:
    help_ = "restore it, or accept it in a review: `toolmd accept --all --against REV`"
    return Diagnostic(span, Code.WEAKENED_POLICY, Severity.WARNING, message, help_)


def _in_words(one: Weakening, commit: str) -> str:
    return f"{one} (at {commit})" if one.after is not None else f"{one.gone} (it is at {commit})"


def _line(path: str, line: int) -> Span:
    return Span(path, line, 1, line, 1)


def _place(one: Weakening, now: _Definition) -> Span:
    """Return the line of a field, or of its section; line 1 where the file has neither."""
    section, *names = one.place.split(": ")
    lines, here, at = now.text.splitlines(), False, 1
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            here = line.removeprefix("## ").strip() == section
            at = number if here else at
        elif here and names and f"**{names[-1]}**" in line:
            return _line(now.path, number)
    return _line(now.path, at)


def _definitions(root: Path, settings: Settings) -> dict[str, _Definition]:
    """Read the definitions of a project by name; one that has errors by its file's name."""
    reader = reader_of(Identity.of(settings))
    found: dict[str, _Definition] = {}
    for folder in dict.fromkeys((*settings.tools, *settings.skills)):
        for file in sorted((root / folder).rglob("*.md")):
            kind = next((kind for end, kind in SUFFIXES.items() if file.name.endswith(end)), None)
            if kind is None:
                continue
            path, data = os.path.relpath(file, root), file.read_bytes()
            spec, _ = reader.parse(kind, data, path)
            stem = file.name.split(".")[0].replace("-", "_")
            name = stem if spec is None else spec.name
            found[name] = _Definition(path, data.decode(errors="replace"), spec)
    return found


class _Repository:
    """The git repository around a project."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._within = PurePosixPath(self._git("rev-parse", "--show-prefix").strip() or ".")

    def _git(self, *words: str) -> str:
        return self._bytes(*words).decode("utf-8", "surrogateescape")

    def _bytes(self, *words: str, given: bytes = b"") -> bytes:
        # A hook of git sets these for the repository that it runs in.
        environ = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
        try:
            done = subprocess.run(  # noqa: S603 - the words are fixed, or behind --end-of-options
                ["git", *words],  # noqa: S607 - that of the user's PATH
                cwd=self._root, input=given, env=environ, capture_output=True, check=False,
            )  # fmt: skip
        except OSError:
            raise ConfigError("git can't be run: `--against` compares with a revision") from None
        if done.returncode:
            raise ConfigError(done.stderr.decode(errors="replace").strip() or "git failed")
        return done.stdout

    def commit(self, revision: str) -> str:
        """Return the full hash of a revision."""
        named = f"{revision}^{{commit}}"
        try:
            return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", named).strip()
        except ConfigError:
            raise ConfigError(
                f"{revision} is not in this clone; fetch it (`git fetch origin {revision}`, or "
                "`fetch-depth: 0` of a checkout in CI)"
            ) from None

    def write(self, commit: str, paths: tuple[str, ...], folder: Path) -> None:
        """Write the settings and definitions below these paths of a commit into a folder."""
        wanted = [str(self._within / path) for path in paths if not Path(path).is_absolute()]
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *wanted)
        files = dict(self._files(listed))
        ids = "\n".join(files.values()).encode()
        stream = self._bytes("cat-file", "--batch", given=ids) if files else b""
        for path in files:
            head, _, stream = stream.partition(b"\n")
            size = int(head.split()[-1])
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(stream[:size])
            stream = stream[size + 1 :]

    def _files(self, listed: str) -> Iterator[tuple[str, str]]:
        for line in filter(None, listed.split("\0")):
            (mode, _, blob), path = line.partition("\t")[0].split(), line.partition("\t")[2]
            if mode == _SUBMODULE:
                raise ConfigError(f"{path} is a submodule, whose definitions are not compared")
            within = PurePosixPath(path).relative_to(self._within)
            if path.endswith((*SUFFIXES, *_SETTINGS)) and ".." not in within.parts:
                yield str(within), blob
