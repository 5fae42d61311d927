"""Read the table `[identity]`: the identity services."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from toolmd._types.call import fact_name
from toolmd._types.identity import FACT_TYPES, RESERVED
from toolmd._types.settings import FactType, IssuerSettings
from toolmd.config.origin import Origin
from toolmd.errors import did_you_mean

_KEYS = tuple(IssuerSettings.__dataclass_fields__)
_TEXTS = ("name", "jwks", "key", "user", "roles", "rights")
_ALGORITHMS = (
    "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "EdDSA",
)  # fmt: skip
"""Signatures by a private key; a shared secret would let each reader sign."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_HERE = ("127.0.0.1", "localhost", "::1")


def read_issuers(value: Any, place: Origin) -> tuple[IssuerSettings, ...]:
    """Read all issuers; raises ConfigError, which names the key."""
    value = place.parsed(value, "a JSON list of issuers")
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise place.error("must be tables [[identity.issuers]]")
    issuers = tuple(_issuer(table, place) for table in value)
    if len({one.issuer for one in issuers}) < len(issuers):
        raise place.error("an issuer is listed twice")
    if len(issuers) > 1 and len({one.name for one in issuers} - {""}) < len(issuers):
        raise place.error('each of several issuers needs its own name: name = "shop"')
    return issuers


def _issuer(table: Mapping[str, Any], at: Origin) -> IssuerSettings:
    if unknown := sorted(set(table) - {*_KEYS}):
        hint = did_you_mean(unknown[0], _KEYS) or f"known keys: {', '.join(_KEYS)}"
        raise at.error(f"unknown key {unknown[0]!r}; {hint}")
    if not is_safe(table.get("issuer")):
        raise at.error('issuer must be an https:// URL: issuer = "https://login.example.org"')
    values = dict(table)
    for key in _TEXTS:
        if key in table and (not isinstance(table[key], str) or not table[key].strip()):
            raise at.error(f"{key} must be a text")
    if "name" in table and not _NAME.fullmatch(table["name"]):
        raise at.error("name takes lower-case letters, digits, _ and -")
    if "jwks" in table and not is_safe(table["jwks"]):
        raise at.error("jwks must be an https:// URL")
    if "jwks" in table and "key" in table:
        raise at.error("keep one of jwks (a URL) and key (a file)")
    audience = table.get("audience")
    values["audience"] = _texts(
        [audience] if isinstance(audience, str) else audience, "audience", at
    )
    if "algorithms" in table:
        values["algorithms"] = _texts(table["algorithms"], "algorithms", at)
        if wrong := [one for one in values["algorithms"] if one not in _ALGORITHMS]:
            raise at.error(f"algorithms: {wrong[0]!r} is none of {', '.join(_ALGORITHMS)}")
    context = table.get("context", {})
    if not isinstance(context, dict) or not all(isinstance(one, str) for one in context.values()):
        raise at.error('context must be expressions by fact: {customer = "claims.customer_id"}')
    values["context"] = {_fact(name, at): source for name, source in context.items()}
    return IssuerSettings(**values)


def read_roles(value: Any, place: Origin) -> tuple[str, ...]:
    """Read names of roles; raises ConfigError."""
    return _texts(place.listed(value), "roles", place)


def read_facts(value: Any, place: Origin) -> dict[str, FactType]:
    """Read the types of facts by name; raises ConfigError."""
    value = place.parsed(value, "JSON types by fact")
    if not isinstance(value, dict):
        raise place.error('must be types by fact: facts = {limit = "number"}')
    facts: dict[str, FactType] = {}
    for name, kind in value.items():
        if kind not in FACT_TYPES:
            hint = did_you_mean(str(kind), FACT_TYPES) or f"the types are {', '.join(FACT_TYPES)}"
            raise place.error(f"{name}: unknown type {kind!r}; {hint}")
        facts[_fact(name, place)] = kind
    return facts


def _texts(value: Any, key: str, at: Origin) -> tuple[str, ...]:
    texts = isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
    if not texts or not value:
        raise at.error(f'{key} must list texts, such as ["a", "b"]')
    return tuple(value)


def _fact(name: str, at: Origin) -> str:
    fact = fact_name(name)
    if fact is None or fact in RESERVED:
        raise at.error(f"{name!r} can't be the name of a fact")
    return fact


def is_safe(url: Any) -> bool:
    """Check that nobody between can change what a URL gives: https, or this machine."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        secure = parts.scheme == "https" and parts.hostname is not None
    except ValueError:
        return False
    return secure or (parts.scheme == "http" and parts.hostname in _HERE)
