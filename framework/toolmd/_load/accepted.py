"""The weaker policies that a review accepted: the committed file `policy-accepted.toml`.

An entry names a definition, a field, and the hashes of the value before and after, so a later edit
of that field asks again. A process reads the file when it starts, and at no reload: an edit
of a definition in a running project is not accepted by an edit of this file as well.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toolmd._types.pending_change import Weakening
from toolmd.errors import ConfigError

FILE = "policy-accepted.toml"
_HEAD = "# Weaker policies that a review accepted; `toolmd accept --against REV` adds them.\n"


class AcceptedKey(NamedTuple):
    """What an entry accepts."""

    tool: str
    """The name of the tool or skill; `settings` for a setting."""
    field: str
    before: str
    """The hash of the value before, as JSON."""
    after: str


def key_of(name: str, weakening: Weakening) -> AcceptedKey:
    """Return what an entry says that accepts a weakening."""
    return AcceptedKey(name, weakening.place, _hash(weakening.before), _hash(weakening.after))


def read_accepted(root: Path) -> frozenset[AcceptedKey]:
    """Return what the file of a project accepts. Raises ConfigError where it can't be read."""
    file = root / FILE
    try:
        said = tomllib.loads(file.read_text("utf-8"))
        return frozenset(
            AcceptedKey(one["tool"], one["field"], one["from"], one["to"])
            for one in said.get("accepted", ())
        )
    except FileNotFoundError:
        return frozenset()
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        message = f"{file} can't be read, so it accepts nothing: {error!r}"
        raise ConfigError(message) from error


def write_accepted(
    root: Path, found: Iterable[tuple[str, Weakening]], by: str, why: str
) -> list[tuple[str, Weakening]]:
    """Add entries to the file of a project; return those that it lacked.

    Args:
        root: The project's folder.
        found: The weakenings, each with the name of its tool or skill.
        by: Who accepts them.
        why: The reason.

    Raises:
        ConfigError: The file can't be read.
    """
    known, file = read_accepted(root), root / FILE
    new = [(name, one) for name, one in found if key_of(name, one) not in known]
    text = file.read_text("utf-8") if known or file.exists() else _HEAD
    for name, one in new:
        key = key_of(name, one)
        fields = {"tool": name, "field": key.field, "from": key.before, "to": key.after}
        fields |= {"by": by, "why": why}
        # A string of JSON is one of TOML.
        lines = [f"{field} = {json.dumps(value)}" for field, value in fields.items() if value]
        shown = " ".join(f"{one}".split())
        text += "\n".join(["", f"# {shown}", "[[accepted]]", *lines, ""])
    if new:
        file.write_text(text, "utf-8")
    return new


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode(errors='replace')).hexdigest()}"
