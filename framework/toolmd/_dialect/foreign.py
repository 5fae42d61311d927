"""Check a plugin's dialect against the limits of the built-in ones (`size` and `syntax`)."""

from typing import Any

from toolmd._dialect.calls import read_confidence
from toolmd._dialect.decoder import MAX_BYTES, MAX_CALLS
from toolmd._dialect.envelope import decoded
from toolmd._types.call import Call
from toolmd._types.reply import Dialect, Parsed
from toolmd.errors import MalformedReplyError


def parse_foreign(dialect: Dialect, reply: Any) -> Parsed:
    """Return the dialect's Parsed; raises MalformedReplyError, or TypeError for another type."""
    reply = decoded(reply)
    if isinstance(reply, str) and len(reply.encode(errors="surrogatepass")) > MAX_BYTES:
        raise MalformedReplyError(f"the reply is larger than {MAX_BYTES // 1024} KiB")
    parsed: Any = dialect.parse(reply)
    if not isinstance(parsed, Parsed) or not all(isinstance(c, Call) for c in parsed.calls):
        raise TypeError(f"the dialect {dialect.name} did not return a Parsed with Calls")
    clean = parsed.clean_message
    if len(parsed.calls) > MAX_CALLS:
        raise MalformedReplyError(f"more than {MAX_CALLS} calls", clean_message=clean)
    for number, call in enumerate(parsed.calls, 1):
        if call.confidence is None:
            continue
        try:
            read_confidence(call.confidence, "confidence")
        except MalformedReplyError as error:
            raise MalformedReplyError(f"call {number}: {error}", clean_message=clean) from None
    return parsed
