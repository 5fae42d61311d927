"""Tokens of identity services: verify a JWT, and read from its claims who calls.

PyJWT checks the signature and the standard claims. Everything that decides comes from the settings:
the issuer, its keys, the algorithms and the audience, never from a header of the token.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import jwt

from toolmd._auth.tokens import Pass, TokenError, digest_of
from toolmd._expressions import (
    AbsentError,
    EvaluationError,
    ExpressionError,
    Program,
    compile_expression,
)
from toolmd._types.identity import is_fact
from toolmd._types.settings import FactType, IdentitySettings, IssuerSettings, Right
from toolmd.config.services import is_safe
from toolmd.errors import ConfigError

LEEWAY_S = 30
"""How much clocks may differ, in seconds."""
FETCH_S, MOST_BYTES = 3.0, 256 << 10
"""The time that a request for keys may take, and the size of its answer."""
FRESH_S, AGAIN_S, KEPT_S = 300.0, 30.0, 86_400.0
"""Seconds until keys are read again, between two reads for an unknown key or after a failure, and
until keys that can't be read again are given up."""
_SHOWN = 200
_LATEST = 2**53
"""The latest end of a token, in seconds since the epoch, that a float can hold."""
LONGEST = 16_384
"""The characters of a token."""
_REQUIRED = ["exp", "iss", "aud", "sub"]
_OF_ID_TOKENS = ("nonce", "at_hash")
_TYPES = frozenset(("jwt", "at+jwt", "application/at+jwt"))


@dataclass(slots=True)
class _Keys:
    """The public keys of one issuer, with the times of the last answer and the last request."""

    by_id: Mapping[str | None, Mapping[str, Any]] = field(default_factory=dict)
    read_at: float | None = None
    asked_at: float | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Issuers:
    """The identity services whose tokens count."""

    def __init__(
        self,
        settings: IdentitySettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        root: Path = Path(),
    ) -> None:
        """Accept the tokens of these services.

        Args:
            settings: The table `[identity]`.
            clock: A function that returns seconds, for the age of keys.
            root: The project's folder, where the files of keys are.

        Raises:
            ConfigError: An expression or a file of a key can't be read.
        """
        self._clock = clock
        self._by_name = {one.issuer: one for one in settings.issuers}
        self._keys = {one.issuer: _Keys() for one in settings.issuers}
        self._pems = {one.issuer: _pem(root / one.key) for one in settings.issuers if one.key}
        self._readers = {one.issuer: _readers(one) for one in settings.issuers}
        self._kinds: dict[str, FactType] = {f"context.{n}": k for n, k in settings.facts.items()}
        self._kinds |= dict.fromkeys(_LISTS, "list")

    async def find(self, token: str) -> Pass:
        """Return the pass of a token.

        Raises:
            TokenError: The token does not pass; the message is for the log and never holds it.
        """
        header, issuer = self._read_unverified(token)
        key = await self._key(issuer, header)
        try:
            claims = jwt.decode(
                token, key, algorithms=list(issuer.algorithms), audience=list(issuer.audience),
                issuer=issuer.issuer, leeway=LEEWAY_S, options={"require": _REQUIRED},
            )  # fmt: skip
        except jwt.InvalidAudienceError:
            given = jwt.decode(token, options={"verify_signature": False}).get("aud")
            message = f"its audience is {_quote(given)}, and not {_quote(issuer.audience)}"
            raise TokenError(message) from None
        except jwt.MissingRequiredClaimError as error:
            raise TokenError(f"it lacks the claim '{error.claim}'") from None
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise TokenError(f"{type(error).__name__}: {error}") from None
        if found := next((name for name in _OF_ID_TOKENS if name in claims), None):
            raise TokenError(f"it has '{found}', as ID tokens do; send an access token")
        return self._pass(issuer, claims, token)

    def _read_unverified(self, token: str) -> tuple[Mapping[str, Any], IssuerSettings]:
        """Return the header of a token, and the issuer that it names, neither verified."""
        if len(token) > LONGEST:
            raise TokenError(f"it has more than {LONGEST} characters")
        try:
            header = jwt.get_unverified_header(token)
            named = jwt.decode(token, options={"verify_signature": False}).get("iss")
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            raise TokenError(f"it can't be read: {type(error).__name__}") from None
        issuer = self._by_name.get(named) if isinstance(named, str) else None
        if issuer is None:
            known = ", ".join(map(_quote, self._by_name))
            raise TokenError(f"its issuer is {_quote(named)}, and not {known}")
        if str(header.get("typ")).lower() not in _TYPES:
            kind = _quote(header.get("typ"))
            raise TokenError(f"its type (typ) is {kind}, and neither 'JWT' nor 'at+jwt'")
        if header.get("alg") not in issuer.algorithms:
            wanted = ", ".join(issuer.algorithms)
            raise TokenError(f"its algorithm is {_quote(header.get('alg'))}, and not {wanted}")
        return header, issuer

    async def _key(self, issuer: IssuerSettings, header: Mapping[str, Any]) -> Any:
        if (pem := self._pems.get(issuer.issuer)) is not None:
            return pem
        kid, algorithm = header.get("kid"), header["alg"]
        found = _choose(await self._current(issuer, kid), kid)
        if found is None:
            raise TokenError(f"{issuer.issuer} has no key {_quote(kid)}")
        if found.get("alg", algorithm) != algorithm:
            raise TokenError(f"the key {_quote(kid)} is for {found['alg']}, and not {algorithm}")
        try:
            return jwt.PyJWK.from_dict(dict(found), algorithm=algorithm).key
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise TokenError(f"the key {_quote(kid)} can't be read: {error}") from None

    async def _current(self, issuer: IssuerSettings, kid: str | None) -> Mapping[Any, Any]:
        """Return the keys of an issuer, read again if they are old or lack the wanted one."""
        keys = self._keys[issuer.issuer]
        async with keys.lock:
            now = self._clock()
            age = None if keys.read_at is None else now - keys.read_at
            may_ask = keys.asked_at is None or now - keys.asked_at >= AGAIN_S
            is_old = age is None or age >= FRESH_S
            failure = "its keys could not be read a moment ago"
            if (is_old or _choose(keys.by_id, kid) is None) and may_ask:
                keys.asked_at = now
                try:
                    keys.by_id = await _fetch(issuer)
                    keys.read_at, age = now, 0.0
                except (httpx.HTTPError, TimeoutError, ValueError, RecursionError) as error:
                    failure = f"its keys can't be read: {type(error).__name__}: {error}"
            if age is None or age >= KEPT_S:
                raise TokenError(f"{issuer.issuer}: {failure}")
            return keys.by_id

    def _pass(self, issuer: IssuerSettings, claims: Mapping[str, Any], token: str) -> Pass:
        found = {
            key: _read(key, program, claims, self._kinds.get(key, "string"))
            for key, program in self._readers[issuer.issuer].items()
        }
        if found["user"] is None:
            raise TokenError(f"user = {issuer.user!r} gives nothing; is the claim missing?")
        acting = claims.get("act")
        via = acting.get("sub") if isinstance(acting, Mapping) else None
        return Pass(
            f"{issuer.name}:{found['user']}" if len(self._by_name) > 1 else found["user"],
            context={fact: value for fact in issuer.context
                     if (value := found[f"context.{fact}"]) is not None},
            rights=frozenset(one for one in _RIGHTS if one in (found["rights"] or ())),
            digest=digest_of(token),
            roles=tuple(found["roles"] or ()),
            via=via if isinstance(via, str) else None,
            ends=min(int(claims["exp"]), _LATEST) + LEEWAY_S,
        )  # fmt: skip


_LISTS = ("roles", "rights")
"""The keys of an issuer that give lists; the user is a text, a fact what the settings declare."""
_RIGHTS: tuple[Right, ...] = ("call", "decide", "operate")


def _readers(issuer: IssuerSettings) -> Mapping[str, Program]:
    """Compile the expressions of an issuer, by their key."""
    sources = {key: getattr(issuer, key) for key in ("user", *_LISTS)}
    sources |= {f"context.{fact}": source for fact, source in issuer.context.items()}
    programs: dict[str, Program] = {}
    for key, source in sources.items():
        try:
            programs[key] = compile_expression(source)
        except ExpressionError as error:
            raise ConfigError(f"identity.issuers: {key} = {source!r}: {error}") from error
        if other := programs[key].names - {"claims"}:
            raise ConfigError(f"identity.issuers: {key} reads {min(other)!r}: write claims.NAME")
    return programs


def _pem(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"identity.issuers: key: {file}: {error}") from error


def _read(key: str, program: Program, claims: Mapping[str, Any], kind: FactType) -> Any:
    """Return what an expression gives; None for what is absent, null or empty."""
    try:
        value = program.evaluate({"claims": claims})
    except AbsentError:
        return None
    except EvaluationError as error:
        raise TokenError(f"{key} = {program.source!r} fails: {error}") from None
    if value is None or value == "":
        return None
    if not is_fact(value, kind):
        raise TokenError(f"{key} = {program.source!r} gives no {kind}")
    return value


def _choose(keys: Mapping[Any, Mapping[str, Any]], kid: Any) -> Mapping[str, Any] | None:
    """Return the key with this id; the only key if a token names none."""
    if kid is None:
        return next(iter(keys.values())) if len(keys) == 1 else None
    return keys.get(kid) if isinstance(kid, str) else None


async def _fetch(issuer: IssuerSettings) -> Mapping[str | None, Mapping[str, Any]]:
    """Read the public keys of an issuer, by its metadata unless the settings name their URL."""
    async with httpx.AsyncClient(timeout=FETCH_S) as client, asyncio.timeout(FETCH_S):
        place = issuer.jwks
        if not place:
            about = await _json(client, f"{issuer.issuer.rstrip('/')}{_METADATA}")
            if about.get("issuer") != issuer.issuer:
                raise ValueError(f"its metadata names the issuer {_quote(about.get('issuer'))}")
            place = str(about.get("jwks_uri"))
            if not is_safe(place):
                raise ValueError(f"its metadata names the keys {_quote(place)}")
        listed = (await _json(client, place)).get("keys")
    if not isinstance(listed, list):
        raise ValueError("there is no list of keys")  # noqa: TRY004 - an answer, not an argument
    usable = [
        one for one in listed
        if isinstance(one, dict) and isinstance(one.get("kid", ""), str)
        and one.get("kty") != "oct" and one.get("use", "sig") == "sig"
    ]  # fmt: skip
    return {one.get("kid"): one for one in usable}


_METADATA = "/.well-known/openid-configuration"


async def _json(client: httpx.AsyncClient, url: str) -> Mapping[str, Any]:
    async with client.stream("GET", url, headers={"accept": "application/json"}) as answer:
        if answer.status_code != httpx.codes.OK:
            raise ValueError(f"{url} answers {answer.status_code}")
        body = b""
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > MOST_BYTES:
                raise ValueError(f"{url} answers with more than {MOST_BYTES >> 10} KiB")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError(f"{url} answers with no object")  # noqa: TRY004 - as above
    return found


def _quote(value: Any) -> str:
    """Return a value of a stranger for the log: as JSON on one line, cut."""
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 1:
        value = value[0]
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
