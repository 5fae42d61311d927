"""Validate each setting's value, wherever it was written."""

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo

from toolmd._types.call import fact_name
from toolmd._types.code import Code
from toolmd._types.settings import (
    ActAsSettings,
    AuditSettings,
    ChatSettings,
    CheckSettings,
    ConfirmationSettings,
    IdentitySettings,
    ResultSettings,
    Right,
    SafetySettings,
    ServeSettings,
    TokenSettings,
)
from toolmd.config.identity import read_facts, read_issuers, read_roles
from toolmd.config.origin import Origin
from toolmd.config.services import read_servers, read_services
from toolmd.errors import did_you_mean

Read = Callable[[Any, Origin], Any]
"""Reads a setting's value; raises ConfigError, which names the place."""
MOST = 1_000_000
"""The largest number that a setting takes."""
LEAST_BYTES = 1024
"""The fewest bytes that a model reads of a result: room for an error and its remedy."""


def _folders(value: Any, place: Origin) -> tuple[str, ...]:
    folders = _names(value, place)
    for folder in folders:
        if not folder.strip() or "\0" in folder:
            raise place.error(f"{folder!r} is no folder")
    return folders


def _names(value: Any, place: Origin) -> tuple[str, ...]:
    value = place.listed(value)
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise place.error(f'must be a list of texts, such as ["a", "b"], not {value!r}')
    return tuple(value)


def _words(value: Any, place: Origin) -> tuple[str, ...]:
    words = _names(value, place)
    if not all(word.strip() for word in words):
        raise place.error("an empty word would match everything or nothing; take it out")
    return words


def _codes(value: Any, place: Origin) -> tuple[str, ...]:
    codes = _names(value, place)
    for one in codes:
        code = one.partition(":")[0]
        if code not in {*Code}:
            near = did_you_mean(code, [*Code]) or "`toolmd rule` lists the codes"
            raise place.error(f"no finding has the code {code!r}; {near}")
        if code == Code.WEAKENED_POLICY:
            raise place.error("a weaker policy can't be ignored: accept it, or restore it")
    return codes


def _path(value: Any, place: Origin) -> Path:
    if not isinstance(value, str | Path) or not str(value).strip() or "\0" in str(value):
        raise place.error(f"must be a folder, not {value!r}")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise place.error(f"{value!r} names no user's folder") from error


def _store(value: Any, place: Origin) -> str:
    if value in ("sqlite", "memory"):
        return str(value)
    if isinstance(value, str) and value.startswith(("postgresql://", "postgres://")):
        return value
    raise place.error("must be sqlite, memory or a postgresql:// URL")


def _number(most: float, wanted: str, *, zero: bool = False) -> Read:
    """Return what reads a number up to `most`, more than 0 or, with `zero`, from 0."""

    def read(value: Any, place: Origin) -> float:
        if isinstance(value, str) and place.text:
            with contextlib.suppress(ValueError):
                value = float(value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= most or (value == 0 and not zero):
            raise place.error(f"must be {wanted}, not {value!r}")
        return float(value)

    return read


def _count(least: int, unit: str = "") -> Read:
    """Return what reads a whole number from `least` to MOST."""

    def read(value: Any, place: Origin) -> int:
        if isinstance(value, str) and place.text and value.isascii() and value.isdigit():
            value = int(value[:10])
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
            raise place.error(f"must be a whole number from {least} to {MOST}{unit}, not {value!r}")
        return value

    return read


def _one_of(*words: str) -> Read:
    """Return what reads one of some words."""

    def read(value: Any, place: Origin) -> str:
        if value not in words:
            raise place.error(f"must be {' or '.join(words)}, not {value!r}")
        return str(value)

    return read


def _flag(value: Any, place: Origin) -> bool:
    if isinstance(value, bool):
        return value
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    if place.text and isinstance(value, str) and (word := value.strip().lower()) in words:
        return words[word]
    raise place.error(f"must be true or false, not {value!r}")


def _zone(value: Any, place: Origin) -> str:
    try:
        return ZoneInfo(value).key
    except (ValueError, TypeError, KeyError, OSError):
        raise place.error(f"must be a time zone such as Europe/Berlin, not {value!r}") from None


def _text(value: Any, place: Origin) -> str:
    if not isinstance(value, str) or not value.strip():
        raise place.error(f"must be a text that is not empty, not {value!r}")
    return value.strip()


def _url(value: Any, place: Origin) -> str:
    if not isinstance(value, str) or not value.strip().startswith(("http://", "https://")):
        raise place.error(f"must be an http:// or https:// URL, not {value!r}")
    return value.strip()


def _tokens(value: Any, place: Origin) -> tuple[TokenSettings, ...]:
    value = place.parsed(value, "a JSON list of tokens")
    if not isinstance(value, list | tuple):
        raise place.error("must be a list of tables with sha256, user, may and context")
    tokens = tuple(_token(one, place) for one in value)
    if len({token.sha256 for token in tokens}) < len(tokens):
        raise place.error("one token stands for two users")
    return tokens


def _token(value: Any, place: Origin) -> TokenSettings:
    if not isinstance(value, dict) or not {"sha256", "user"} <= set(value):
        raise place.error("each token needs sha256 and user")
    if unknown := set(value) - {*_TOKEN_KEYS}:
        known = ", ".join(sorted(_TOKEN_KEYS))
        raise place.error(f"a token has no {min(unknown)!r}; known keys: {known}")
    digest, user = value["sha256"], value["user"]
    if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise place.error("sha256 must be 64 lowercase hex digits: the token's hash, not itself")
    if not isinstance(user, str) or not user.strip():
        raise place.error("user must name somebody")
    may = token_rights(value.get("may", ["call"]), place)
    context = _token_context(value.get("context", {}), place)
    roles = read_roles(value["roles"], place) if "roles" in value else ()
    acting = value.get("act_as", {})
    if not isinstance(acting, dict) or set(acting) - {"roles", "context"}:
        raise place.error('act_as must list what it may state: {roles = ["customer"]}')
    if acting and "act_as" not in may:
        raise place.error('act_as needs the right of this name: may = ["act_as"]')
    act_as = ActAsSettings(**{key: read_roles(names, place) for key, names in acting.items()})
    return TokenSettings(digest, user, may, context, roles, act_as)


_TOKEN_KEYS = tuple(TokenSettings.__dataclass_fields__)


def token_rights(value: Any, place: Origin) -> tuple[Right, ...]:
    """Read the rights of a token; without any, it could do nothing."""
    rights = get_args(Right)
    if not isinstance(value, list) or not value or any(one not in rights for one in value):
        raise place.error(f"may must list some of {', '.join(rights)}, not {value!r}")
    return tuple(right for right in rights if right in value)


def _token_context(value: Any, place: Origin) -> Mapping[str, tuple[str, ...]]:
    wanted = 'context must list the allowed values by fact: {patient = ["P-1001"]}'
    if not isinstance(value, dict):
        raise place.error(wanted)
    allowed: dict[str, tuple[str, ...]] = {}
    for name, values in value.items():
        fact = fact_name(name)
        texts = isinstance(values, list) and all(isinstance(v, str) and v for v in values)
        if fact is None or fact in allowed or not texts:
            raise place.error(wanted)
        allowed[fact] = tuple(values)
    return allowed


TABLES: Mapping[str, Callable[..., Any]] = {
    "safety": SafetySettings,
    "chat": ChatSettings,
    "identity": IdentitySettings,
    "serve": ServeSettings,
    "check": CheckSettings,
    "confirmations": ConfirmationSettings,
    "results": ResultSettings,
    "audit": AuditSettings,
}
"""The tables among them."""
SHORT: Mapping[str, str] = {"audit": "audit.enabled"}
"""A key that stands for one in its table: `audit = false`."""
_confidence = _number(1, "a number from 0 to 1", zero=True)
_seconds = _number(3600, "a number of seconds, more than 0 up to 3600")
READERS: Mapping[str, Read] = {
    "tools": _folders,
    "skills": _folders,
    "state": _path,
    "store": _store,
    "safety.default_min": _confidence,
    "safety.floor": _confidence,
    "safety.crisis_words": _words,
    "safety.crisis_message": _text,
    "safety.on_missing_confidence": _one_of("deny", "confirm"),
    "chat.model": _text,
    "chat.base_url": _url,
    "identity.issuers": read_issuers,
    "identity.facts": read_facts,
    "identity.roles": read_roles,
    "serve.tokens": _tokens,
    "serve.max_connections": _count(1),
    "serve.head_timeout": _count(1),
    "serve.body_timeout": _count(1),
    "serve.idle_timeout": _count(1),
    "serve.drain_timeout": _seconds,
    "serve.require_accepted": _flag,
    "check.ignore": _codes,
    "confirmations.expires": _number(30 * 86400, "a number of seconds, more than 0 up to 30 days"),
    "results.max_bytes": _count(LEAST_BYTES, " bytes"),
    "audit.enabled": _flag,
    "audit.sync": _one_of("none", "batch"),
    "audit.keep_days": _number(MOST, f"a number of days, more than 0 up to {MOST}"),
    "services": read_services,
    "servers": read_servers,
    "time_zone": _zone,
    "trust_edits": _flag,
    "import_timeout": _seconds,
    "plugins": _names,
}
"""Every setting, and what reads its value."""
