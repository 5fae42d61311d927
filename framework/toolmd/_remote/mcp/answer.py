"""Convert the result of a server's tool to a value."""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.parts import File
from toolmd.errors import ToolError

_MAX_ERROR = 2_000

Hide = Callable[[str], str]


def value_of(result: Any, call_spec: ToolCallSpec, hide: Hide) -> Any:
    """Return the value of a CallToolResult; raises ToolError for one that tells of an error."""
    texts, files = [], []
    for block in result.content:
        kind = block.type
        if kind == "text":
            texts.append(hide(block.text))
        elif kind in {"image", "audio"}:
            files.append(_file(block.data, block.mime_type, ""))
        elif kind == "resource":
            resource = block.resource
            if getattr(resource, "text", None) is not None:
                texts.append(hide(resource.text))
            else:
                files.append(_file(resource.blob, resource.mime_type, str(resource.uri)))
        elif kind == "resource_link":
            texts.append(hide(f"{block.name}: {block.uri}"))
    if result.is_error:
        said = "\n".join(texts).strip() or "The server's tool failed without saying why."
        raise ToolError(said[:_MAX_ERROR])
    value = _value(without_secrets(result.structured_content, hide), texts, call_spec)
    if not files:
        return value
    if value is None or value == "":
        return files[0] if len(files) == 1 else files
    return [value, *files]


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
