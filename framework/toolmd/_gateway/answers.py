"""Convert the result of a server's tool, and check it against its own schema in bounded time.

The schema and the value are foreign: patterns of Python's `re` and references that fan out could
take hours, and would stop the event loop meanwhile.
"""

import asyncio
import base64
import binascii
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.parts import File
from toolmd._validation.keywords import PatternError, identity, whole_match
from toolmd.errors import ToolError

_MAX_ERROR = 2_000
LEFT_OUT = "toolmd/left-out"
"""The key below `_meta` of a result with the kinds of its content that nobody knows."""
KINDS = frozenset(("text", "image", "audio", "resource", "resource_link"))
"""The kinds of content."""

Hide = Callable[[str], str]


def value_of(result: Any, call_spec: ToolCallSpec, hide: Hide, note: Callable[[str], None]) -> Any:
    """Return the value of a CallToolResult; raises ToolError for one that tells of an error.

    `note` takes what could not be read of it.
    """
    parts = list(_parts_of(result, hide))
    texts = [part for part in parts if isinstance(part, str)]
    files = [part for part in parts if not isinstance(part, str)]
    structured = without_secrets(result.structured_content, hide)
    if left_out := (result.meta or {}).get(LEFT_OUT):
        kinds = ", ".join(f"{times} {kind}" for kind, times in Counter(left_out).items())
        note(f"Content of unknown kinds is left out: {kinds}.")
    if "\ufffd" in json.dumps([texts, structured], ensure_ascii=False, default=str):
        note("U+FFFD stands for a character that can't be read.")
    if result.is_error:
        said = "\n".join(texts).strip()
        if not said and structured is not None:
            said = json.dumps(structured, ensure_ascii=False, default=str)
        raise ToolError(said[:_MAX_ERROR] or "The server's tool failed without saying why.")
    value = _value(structured, texts, call_spec)
    if not files:
        return value
    if value is None or value == "":
        return files[0] if len(files) == 1 else files
    # The parts in the order of the server; a value of its own comes first.
    return parts if value == "\n".join(texts) else [value, *files]


def _parts_of(result: Any, hide: Hide) -> Iterator[str | File]:
    """Yield the content of a result in its order, texts that follow each other as one."""
    waiting: list[str] = []
    for block in result.content:
        found = _part_of(block)
        if isinstance(found, str):
            waiting.append(hide(found))
            continue
        if waiting:
            yield "\n".join(waiting)
            waiting = []
        yield found
    if waiting:
        yield "\n".join(waiting)


def _part_of(block: Any) -> str | File:
    match block.type:
        case "text":
            return str(block.text)
        case "resource_link":
            return f"{block.name}: {block.uri}"
        case "resource" if getattr(block.resource, "text", None) is not None:
            return str(block.resource.text)
        case "resource":
            one = block.resource
            return _file(one.blob, one.mime_type, str(one.uri))
        case _:
            return _file(block.data, block.mime_type, "")


def without_secrets(value: Any, hide: Hide) -> Any:
    """Return a JSON value whose texts hold no secret."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(key): without_secrets(one, hide) for key, one in value.items()}
    if isinstance(value, list):
        return [without_secrets(one, hide) for one in value]
    return value


def _value(structured: Any, texts: list[str], call_spec: ToolCallSpec) -> Any:
    types = set(call_spec.returns.types)
    if structured is not None:
        fields = {one.name for one in call_spec.returns.properties or ()}
        is_wrapped = isinstance(structured, dict) and set(structured) == {"result"}
        # Servers wrap what is no object, because older versions of the protocol allow no other.
        return structured["result"] if is_wrapped and "result" not in fields else structured
    text = "\n".join(texts)
    if types and "string" not in types:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _file(data: str, media_type: str | None, uri: str) -> File:
    try:
        content = base64.b64decode(data, validate=True)
        # A part has no parameters of its media type, such as a charset.
        kind = (media_type or "").partition(";")[0].strip() or "application/octet-stream"
        return File(content, kind, uri.rpartition("/")[2][:100])
    except (binascii.Error, ValueError) as error:
        raise ToolError("The server's tool ran and returned a file that can't be read.") from error


_SOON_S = 0.02
"""How long a check may keep the caller's event loop from its other work."""
_SLOW_S = 2.0
"""How long a check in a thread may take."""
_NAMED = frozenset(("properties", "$defs", "definitions", "dependentSchemas"))
"""Keywords whose value has schemas by names."""
_BY_PATTERN = frozenset(("patternProperties", "additionalProperties", "unevaluatedProperties"))
"""Keywords that jsonschema checks with patterns of `re`, where there are patternProperties."""

_until: ContextVar[float] = ContextVar("until")


class _SlowError(Exception):
    """The check takes longer than it may."""


async def check_output(result: Any, definition: str, seconds: float = _SLOW_S) -> None:
    """Raise ToolError for a CallToolResult that breaks the output schema of its tool.

    `definition` is the tool's, as canonical JSON; the check may take `seconds` in a thread.
    """
    validator = _validator_of(definition)
    if validator is None:
        return
    try:
        try:
            is_right = _follows(result, validator, _SOON_S)
        except _SlowError:
            is_right = await asyncio.to_thread(_follows, result, validator, seconds)
    except _SlowError:
        problem = f"can't be checked against the server's own schema within {seconds:g} s"
    else:
        problem = "" if is_right else "does not follow the server's own schema"
    if problem:
        raise ToolError(f"The server's tool ran, but its result {problem}.")


def _follows(result: Any, validator: Any, seconds: float) -> bool:
    if result.structured_content is None and "structured_content" not in result.model_fields_set:
        return False
    _until.set(time.monotonic() + seconds)
    try:
        return next(iter(validator.iter_errors(result.structured_content)), None) is None
    except _SlowError:
        raise
    except Exception:  # noqa: BLE001 - a schema of a server may be anything
        return False


@lru_cache(maxsize=256)
def _validator_of(definition: str) -> Any:
    """Return the validator of a tool's output schema; None where it has none."""
    from jsonschema import validators
    from referencing import Registry

    schema = json.loads(definition).get("outputSchema")
    if schema is None:
        return None
    kind = validators.validator_for(schema)
    own = {**kind.VALIDATORS, "pattern": _pattern, "uniqueItems": _unique}
    checks = {keyword: _timed(check) for keyword, check in own.items()}
    timed: Any = validators.extend(kind, checks)  # type: ignore[no-untyped-call]
    # The empty registry follows no reference to another document.
    return timed(_without_patterns(schema), registry=Registry())


def _timed(check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    def timed(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if time.monotonic() > _until.get():
            raise _SlowError
        yield from check(validator, value, instance, schema) or ()

    return timed


def _pattern(validator: Any, pattern: Any, text: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    del validator, schema
    if not isinstance(text, str):
        return
    try:
        found = whole_match(f"(?s:.*)(?:{pattern})(?s:.*)")(text)
    except PatternError:
        return  # RE2 lacks what no program matches in linear time.
    if not found:
        yield ValidationError("the pattern does not match")


def _unique(validator: Any, is_wanted: Any, items: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    del validator, schema
    if is_wanted and isinstance(items, list) and len({*map(identity, items)}) < len(items):
        yield ValidationError("an item is repeated")


def _without_patterns(schema: Any, *, is_named: bool = False) -> Any:
    """Return a schema without the properties that only patterns name."""
    if isinstance(schema, list):
        return [_without_patterns(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = _BY_PATTERN if "patternProperties" in schema and not is_named else ()
    return {
        key: _without_patterns(one, is_named=key in _NAMED and not is_named)
        for key, one in schema.items()
        if key not in left_out
    }
