"""Store parsed specs by content hash, as JSON that is read whole or as far as a call needs.

A spec is made by pydantic, which takes longer to import than a thousand tools take to open; so
the contract that a call is held to is read without it, from the same JSON. Damaged, foreign or old
entries are parsed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from toolmd._load.files import DefinitionKind
from toolmd._types.approval import Approval
from toolmd._types.call_spec import (
    Batch,
    ErrorText,
    Given,
    Limits,
    Rate,
    Rule,
    Safety,
    ToolCallSpec,
)
from toolmd._types.canonical import call_spec_json, canonical_json, content_hash, example_json
from toolmd._types.diagnostic import Source
from toolmd._types.quota import Quota
from toolmd._types.registry import AnySpec
from toolmd._types.schema import Parameter, Schema
from toolmd.config import state_folder


def encode(spec: AnySpec) -> bytes:
    """Return a spec as JSON; empty for what JSON can't hold, such as an unpaired surrogate."""
    try:
        return spec.model_dump_json(exclude_defaults=True).encode()
    except ValueError:
        return b""


def decode(kind: DefinitionKind, encoded: bytes) -> AnySpec:
    """Read what `encode` wrote; raises ValueError where that isn't a spec."""
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec

    noun = ToolSpec if kind == "tool" else SkillSpec
    return noun.model_validate_json(encoded, strict=True)


def decode_call_spec(encoded: bytes) -> ToolCallSpec:
    """Decode the part of a tool that its calls need; raises NONSENSE where it isn't a tool."""
    said = from_json(encoded)
    return ToolCallSpec(**_convert({name: said[name] for name in _NAMES & said.keys()}, _PARTS))


def hash_of(call_spec: ToolCallSpec, encoded: bytes) -> str:
    """Return the content hash of a tool. Raises NONSENSE as decode_call_spec does."""
    said = from_json(encoded)
    examples = [example_json(**example) for example in said.get("examples", ())]
    own = {**call_spec_json(call_spec), "examples": examples}
    return content_hash(canonical_json("tool", said, own))


def _convert(said: Mapping[str, Any], makers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    return {name: makers[name](v) if name in makers else v for name, v in said.items()}


def _schema(said: Mapping[str, Any]) -> Schema:
    return Schema(**_convert(said, _OF_SCHEMA))


def _parameters(said: list[Mapping[str, Any]]) -> tuple[Parameter, ...]:
    return tuple(Parameter(**_convert(one, {"shape": _schema})) for one in said)


def _limits(said: Mapping[str, Any]) -> Limits:
    return Limits(**_convert(said, _OF_LIMITS))


def _safety(said: Mapping[str, Any]) -> Safety:
    return Safety(**_convert(said, {"intent_keywords": tuple}))


def _rules(said: list[Mapping[str, str]]) -> tuple[Rule, ...]:
    return tuple(Rule(**rule) for rule in said)


_NAMES = {field.name for field in fields(ToolCallSpec)}
_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "parameters": _parameters,
    "requires_context": tuple,
    "allowed_roles": tuple,
    "source": Source._make,
    "returns": _schema,
    "given": lambda said: tuple(Given(**one) for one in said),
    "rules": _rules,
    "errors": lambda said: tuple(ErrorText(**one) for one in said),
    "safety": _safety,
    "approvals": lambda said: tuple(map(Approval.of, said)),
    "limits": _limits,
}
_OF_SCHEMA: Mapping[str, Callable[[Any], Any]] = {
    "types": tuple,
    "enum": tuple,
    "items": _schema,
    "properties": _parameters,
    "values": _schema,
    "one_of": _parameters,
    "to_model": lambda said: None if said is None else tuple(said),
}
_OF_LIMITS: Mapping[str, Callable[[Any], Any]] = {
    "rate": lambda said: Rate(**said),
    "max_batch": lambda said: Batch(**said),
    "quotas": lambda said: tuple(Quota(**{**one, "per": tuple(one["per"])}) for one in said),
    "allowed_domains": tuple,
}


FORMAT = 2
MAX_SIZE = 256 * 1024 * 1024
"""In bytes; a larger file is not ours."""
INDEX = "specs.index.json"
PAYLOAD = "specs.payload.json"


NONSENSE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What reading raises where the JSON holds and is not what was written."""


# There are as many entries as files: made in order, without naming their fields.
_make = tuple.__new__


class CacheEntry(NamedTuple):
    """What the files have of one `Entry`."""

    digest: str
    """Hex sha256 of the file's bytes."""
    name: str
    """Empty where the file gave no spec."""
    encoded: bytes
    """The spec as JSON; empty where there is none."""
    requires: tuple[str, ...] = ()
    """The tools and skills that a skill names."""
    diagnostics: tuple[Sequence[Any], ...] = ()
    """The fields of each, as JSON keeps them."""


@dataclass(slots=True, eq=False, repr=False)
class Cache:
    """The entries of one project by path, and the verdicts on skills by their grounds.

    One index and one payload, each checked by its sha256, in a folder that only the user can write.
    `fingerprint` names the parser that wrote them; another's entries are not used.
    """

    folder: Path
    fingerprint: str
    entries: Mapping[str, CacheEntry] = field(default_factory=dict)
    checks: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    unsaved: int = 0
    """How many entries the files lack."""

    @classmethod
    def load(cls, folder: Path, fingerprint: str) -> Cache:
        """Load the cache in `folder`; return an empty one where no trusted cache exists."""
        cache = cls(folder, fingerprint)
        # Damage can raise any error, and each means the same: parse again.
        with contextlib.suppress(OSError, *NONSENSE):
            if _private(folder):
                cache.entries, cache.checks = _load(folder, fingerprint)
        return cache

    def save(self, entries: Mapping[str, Any], checks: Mapping[str, Any]) -> None:
        """Write these entries in place of all others; where it can't be written, leave it."""
        payload = b"".join(entry.encoded for entry in entries.values())
        index: dict[str, Any] = {}
        start = 0
        for path, entry in entries.items():
            end = start + len(entry.encoded)
            index[path] = [entry.digest, entry.name, start, end, entry.requires, entry.diagnostics]
            start = end
        head = {
            "format": FORMAT,
            "parser": self.fingerprint,
            "payload": digest(payload),
            "entries": index,
            "checks": checks,
        }
        with contextlib.suppress(OSError, ValueError):
            body = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
            state_folder(self.folder)
            if _private(self.folder):
                _write(self.folder / PAYLOAD, payload)
                _write(self.folder / INDEX, digest(body).encode() + b"\n" + body)


def digest(data: bytes) -> str:
    """Return the hex sha256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def _load(folder: Path, fingerprint: str) -> tuple[dict[str, CacheEntry], dict[str, Any]]:
    if not (head := _head(folder / INDEX, fingerprint)):
        return {}, {}
    payload = _read(folder / PAYLOAD)
    if digest(payload) != head["payload"]:
        raise ValueError("damaged payload")
    entries = {
        path: _make(
            CacheEntry, (kept, name, payload[start:end], tuple(requires), tuple(diagnostics))
        )
        for path, (kept, name, start, end, requires, diagnostics) in head["entries"].items()
    }
    return entries, dict(head["checks"])


def _head(file: Path, fingerprint: str) -> dict[str, Any]:
    """Return the JSON of a file; empty where another parser wrote it.

    Raises OSError, or one of NONSENSE where the file is damaged.
    """
    said, _, body = _read(file).partition(b"\n")
    if said != digest(body).encode():
        raise ValueError("damaged")
    head: dict[str, Any] = from_json(body)
    return head if head["format"] == FORMAT and head["parser"] == fingerprint else {}


def _read(file: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(file, flags)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_SIZE:
            raise ValueError("not a cache file")
        return opened.read()


def _private(folder: Path) -> bool:
    """Return whether only this user can write into the folder; else its words are anyone's."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _write(file: Path, data: bytes) -> None:
    draft = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
