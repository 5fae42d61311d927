"""Sentences on what calls may cost: rates, time, retries, sizes, batches, hosts."""

import re

from toolmd_catalog.policy.demands import Count, Policy
from toolmd_catalog.words import NUMBER, number

_N = rf"({NUMBER})"
_PER = r"(?P<per>s|sec|second|m|min|minute|h|hr|hour|d|day)s?\b"
_RATE = re.compile(
    rf"{_N}\s*(?:(?P<qps>qps|rps)\b|(?P<what>requests?|calls?|queries|times|reqs?|invocations?)?\s*"
    rf"(?:/|per|an?|each|every)\s*(?P<many>\d+)?\s*{_PER})",
    re.IGNORECASE,
)
_RATED = re.compile(r"rate|limit|max|most|up to|throttl|no more|quota|qps|rps", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_TIMEOUT = re.compile(
    rf"\b(?:time[sd]?[- ]?out|timeout_ms|deadline)\b[^0-9.;]{{0,24}}{_N}\s*"
    r"(?P<unit>ms|milliseconds?|s|sec|seconds?|m|min|minutes?)\b",
    re.IGNORECASE,
)
_RETRY = re.compile(
    rf"\bretr(?:y|ies|ied)\b[^0-9.;,]{{0,24}}{_N}\s*(?:×|x\b|times|attempts|retries|$|with|\W)|"  # noqa: RUF001
    rf"{_N}\s*(?:×|x)?\s*retr(?:y|ies)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_BACKOFF = re.compile(
    rf"\bback-?off (?:of |: ?|starting at )?{_N}\s*(?P<unit>ms|s)\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"\b(?:max(?:imum)?(?: of)?|at most|up to|no more than|limit(?:ed)?(?: to| of)?)\s*:?\s*"
    rf"{_N}\s+"
    r"(?P<of>[A-Za-z_]+)\s+(?:per|in one|in a|each|a|for each)\s+(?P<per>\w+)",
    re.IGNORECASE,
)
_ROWS = re.compile(
    rf"\b(?:max(?:imum)?|at most|up to)\s*{_N}\s+rows\b|\bmax[ _]rows\s*[:=]?\s*{_N}", re.IGNORECASE
)
_BYTES = re.compile(
    rf"\b(?:max(?:imum)?|at most|up to)\s*{_N}\s*(?P<unit>bytes|kb|kib|mb|mib)\b|"
    rf"\bmax[ _]bytes\s*[:=]?\s*{_N}\s*(?P<also>bytes|kb|kib|mb|mib)?",
    re.IGNORECASE,
)
_SIZES = {"bytes": 1, "kb": 1024, "kib": 1024, "mb": 1024**2, "mib": 1024**2}
_DOMAINS = re.compile(
    r"\b(?:approved|allowed|permitted|allow-?listed|whitelisted)\s+(?:domains?|hosts?)\b(?P<list>.*)|"
    r"\b(?:domains?|hosts?)\s*:\s*(?P<named>.*)",
    re.IGNORECASE,
)
_DOMAIN = re.compile(r"(?<![\w@/.-])(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+(?![\w/-])", re.IGNORECASE)


def _rate(policy: Policy, text: str, _line: int) -> bool:
    match = _RATE.search(text)
    if match is None or not (match["qps"] or match["what"] or _RATED.search(text)):
        return False
    calls = number(match[1])
    if not isinstance(calls, int) or calls < 1 or not _RATED.search(text):
        return False
    unit = 1 if match["qps"] else _SECONDS[match["per"][0].lower()]
    per = float(unit * int(match["many"] or 1))
    policy.limits.setdefault("rate", {"calls": calls, "per_s": per})
    return True


def _costs(policy: Policy, text: str, _line: int) -> bool:
    found = False
    if match := _TIMEOUT.search(text):
        unit = match["unit"].lower()
        scale = 0.001 if unit.startswith(("ms", "milli")) else 60 if unit.startswith("m") else 1
        policy.limits.setdefault("timeout_s", float(number(match[1]) * scale))
        found = True
    if match := _RETRY.search(text):
        tries = number(match[1] or match[2])
        if isinstance(tries, int) and tries <= 10:  # noqa: PLR2004 - more is no retry count
            policy.limits.setdefault("retries", tries)
            found = True
    if match := _BACKOFF.search(text):
        scale = 0.001 if match["unit"].lower() == "ms" else 1
        policy.limits.setdefault("backoff_s", float(number(match[1]) * scale))
        found = True
    if match := _ROWS.search(text):
        policy.limits.setdefault("max_rows", int(number(match[1] or match[2])))
        found = True
    if match := _BYTES.search(text):
        size = _SIZES[(match["unit"] or match["also"] or "bytes").lower()]
        policy.limits.setdefault("max_bytes", int(number(match[1] or match[3])) * size)
        found = True
    return found


def _counted(policy: Policy, text: str, _line: int) -> bool:
    match = _COUNT.search(text)
    if match is None:
        return False
    most, of, per = int(number(match[1])), match["of"].lower(), match["per"].lower()
    if per.startswith(("conversation", "session", "chat")) and of.startswith("call"):
        policy.limits.setdefault("max_calls", most)
        return True
    if not per.startswith(("call", "request", "batch", "invocation", "query", "tool")):
        return False
    if of.startswith(("row", "byte", "kb", "mb")):
        return False
    policy.counts.append(Count(most, of, "split" in text.lower(), text))
    return True


def _domains(policy: Policy, text: str, _line: int) -> bool:
    match = _DOMAINS.search(text)
    if match is None:
        return False
    hosts = _DOMAIN.findall((match["list"] or match["named"] or "").replace("`", " "))
    if not hosts:
        return False
    policy.limits.setdefault("allowed_domains", tuple(dict.fromkeys(h.lower() for h in hosts)))
    return True


READERS = (_rate, _costs, _counted, _domains)
