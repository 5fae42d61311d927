"""The quotas of a tool: what one call needs of each, and the denial where too little is left."""

import datetime as dt
import hashlib
import json
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from toolmd._call.denial import CallDenied, deny
from toolmd._expressions import EvaluationError, Program, compile_expression
from toolmd._store.limits import Claim, Full
from toolmd._store.store import Store
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.identity import values_of
from toolmd._types.quota import EVER, ROLLING, UNITS, Quota
from toolmd._types.verdict import QuotaUse

Ask = Callable[[str, Callable[[], Any]], Awaitable[Any]]
"""Asks the store for a limit; raises CallDenied where it can't be used."""


class Quotas:
    """The compiled quotas of one tool, counted in the store: all of a call, or none."""

    def __init__(
        self,
        call_spec: ToolCallSpec,
        store: Store,
        zone: str,
        clock: Callable[[], float],
        ask: Ask,
    ) -> None:
        """Compile them. Raises ExpressionError: the tool can't be called then.

        Args:
            call_spec: The tool.
            store: Where they are counted.
            zone: The time zone of days, weeks, months and years.
            clock: Returns the seconds since the epoch.
            ask: Asks the store.
        """
        self._tool, self._store, self._clock, self._ask = call_spec.name, store, clock, ask
        self._zone = ZoneInfo(zone or "UTC")
        names = frozenset(parameter.name for parameter in call_spec.parameters)

        def compile_text(text: str) -> Program:
            return compile_expression(text.strip("` "), names)

        self._quotas = [
            (
                quota,
                [(key, compile_text(key) if key[0] == "`" else None) for key in quota.per],
                compile_text(quota.when) if quota.when else None,
            )
            for quota in call_spec.limits.quotas
        ]

    def __bool__(self) -> bool:
        return bool(self._quotas)

    async def count(
        self, name: str, amount: int, key: str | int, per: str | float, needs: float
    ) -> Claim:
        """Return what a guard counts of a call when it starts. Raises CallDenied where it is full.

        Args:
            name: What is counted: `refunds`.
            amount: The most in a window.
            key: For whom it is counted.
            per: `minute`, `hour`, `day`, `week`, `month`, `year`, `ever`, or seconds.
            needs: How much of it this call needs.
        """
        seconds = None if isinstance(per, str) else float(per)
        window = per if isinstance(per, str) else ROLLING
        if window not in {*UNITS, EVER, ROLLING} or not 0 <= needs < math.inf:
            raise ValueError(f"a quota counts 0 or more per day, ever or seconds, not {per!r}")
        named = json.dumps(["guard", name, key, window, seconds])
        hashed = hashlib.sha256(named.encode(errors="replace")).hexdigest()
        quota = Quota(amount, (name,), window, seconds)
        claim = Claim(hashed, quota, Decimal(str(needs)), self._zone, secrets.token_hex(8))
        full = await self._ask("quota", lambda: self._store.limits.look([claim], self._clock()))
        if full is not None:
            raise self._denial(full, [claim])
        return claim

    async def look(self, call: Call, arguments: Mapping[str, Any]) -> None:
        """Check that a call may start, and count nothing. Raises CallDenied."""
        claims = self._claims(call, arguments)
        key = call.key or ""
        full = await self._ask("quota", lambda: self._store.limits.look(claims, self._clock(), key))
        if full is not None:
            raise self._denial(full, claims)

    async def claim(self, call: Call, arguments: Mapping[str, Any]) -> Sequence[Claim]:
        """Count a call that starts now, in all quotas together. Raises CallDenied."""
        claims = self._claims(call, arguments)
        key = call.key or ""
        full = await self._ask(
            "quota", lambda: self._store.limits.claim(self._tool, claims, self._clock(), key)
        )
        if full is not None:
            raise self._denial(full, claims)
        return claims

    async def give_back(self, call: Call, claims: Sequence[Claim]) -> None:
        """Return to the quotas what a call counted that surely had no effect. Raises CallDenied."""
        key, give_back = call.key or "", self._store.limits.give_back
        await self._ask("quota", lambda: give_back(self._tool, claims, self._clock(), key))

    def _claims(self, call: Call, arguments: Mapping[str, Any]) -> list[Claim]:
        caller, claims = call.caller, [*call.counts]
        values = values_of(call, arguments)
        now = dt.datetime.fromtimestamp(self._clock(), dt.UTC)
        for quota, keys, when in self._quotas:
            if when is not None and _value(when, values, now) is False:
                continue
            whose = [self._key(key, program, caller, values, now) for key, program in keys]
            named = json.dumps([self._tool, quota.subject, whose])
            needs = Decimal(str(arguments[quota.of])) if quota.of else Decimal(1)
            if not needs.is_finite() or needs < 0:
                raise deny("invalid_arguments", f"{quota.of} must be 0 or more to be counted.")
            name = hashlib.sha256(named.encode(errors="replace")).hexdigest()
            claims.append(Claim(name, quota, needs, self._zone, secrets.token_hex(8)))
        return claims

    def _key(
        self,
        key: str,
        program: Program | None,
        caller: Caller,
        values: Mapping[str, Any],
        now: dt.datetime,
    ) -> Any:
        """Return what a quota counts for. Raises CallDenied where the call has no such thing."""
        if program is not None:
            return self._countable(key, _value(program, values, now))
        if key == "project":
            return ""
        if key == "conversation" and caller.conversation is not None:
            return [caller.user, caller.conversation]
        if key in {"user", "conversation"}:
            if caller.user is None and key == "user":
                message = f"{self._tool} counts calls per user; the host names one."
                raise deny("auth_required", message)
            return [caller.user]
        fact = caller.context.get(key)
        if fact is None:
            message = f"{self._tool} counts calls per {key}; the host supplies it."
            raise deny("context_required", message)
        return self._countable(key, fact)

    def _countable(self, key: str, value: Any) -> str | int:
        """Return a text or a whole number; raises CallDenied for any other value."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, str | int):
            message = f"{self._tool} counts calls per {key}, which is no text and no whole number."
            raise deny("not_allowed", message)
        return value

    def _denial(self, full: Full, claims: Sequence[Claim]) -> CallDenied:
        quota, needs = claims[full.number].quota, claims[full.number].needs
        if quota.of:
            when = _TIMES.get(quota.window, quota.time)
            message = f"{full.used:f} of {quota.amount} of {quota.of} are used {when}"
            message += f"; this call needs {needs:f}."
        else:
            verb = "is" if quota.amount == 1 else "are"
            message = f"{full.used:f} of {quota} {verb} used."
        if quota.window == EVER or (quota.of and needs > Decimal(str(quota.amount))):
            resets, wait = None, None
        else:
            at = dt.datetime.fromtimestamp(full.resets, self._zone)
            message += f" The next is possible on {at:%Y-%m-%d} at {at:%H:%M} ({self._zone.key})."
            resets, wait = at.isoformat(), max(1, round((full.resets - self._clock()) * 1000))
        use = QuotaUse(quota.amount, _plain(full.used), _plain(needs), str(quota), resets)
        denial = deny("quota_exceeded", message, retry_after_ms=wait)
        return CallDenied(denial.failure._replace(quota=use))


_TIMES = {"day": "today", "week": "this week", "month": "this month", "year": "this year"}


def _value(program: Program, values: Mapping[str, Any], now: dt.datetime) -> Any:
    try:
        return program.evaluate(values, now=now)
    except EvaluationError:
        return None


def _plain(number: Decimal) -> int | float:
    return int(number) if number == int(number) else float(number)
