"""Results that are content blocks (images, audio, resources) instead of values."""

from typing import Any
from urllib.parse import quote

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
)
from pydantic import TypeAdapter, ValidationError

from toolmd._types.parts import File
from toolmd._types.schema import Schema

KINDS = frozenset(("text", "image", "audio", "resource", "resource_link"))
_BLOCKS: TypeAdapter[list[ContentBlock]] = TypeAdapter(list[ContentBlock])


def gives_blocks(returns: Schema) -> bool:
    """Check whether a tool's Returns declare content blocks.

    They do if the object, or the array's items, has a property `type` whose Enum contains only
    the protocol's kinds of content.
    """
    shape = returns.items if returns.types == ("array",) else returns
    for field in (shape.properties or ()) if shape is not None else ():
        if field.name == "type" and field.shape.enum:
            return set(map(str, field.shape.enum)) <= KINDS
    return False


def part_block(part: File) -> ContentBlock:
    """Return a content part of a result as a content block."""
    data, media_type = part.base64, part.media_type
    if part.kind == "image":
        return ImageContent(type="image", data=data, mime_type=media_type)
    if part.kind == "audio":
        return AudioContent(type="audio", data=data, mime_type=media_type)
    uri = f"toolmd://result/{quote(part.name, safe='') or 'file'}"
    blob = BlobResourceContents(uri=uri, mime_type=media_type, blob=data)
    return EmbeddedResource(type="resource", resource=blob)


def read_blocks(data: Any) -> list[ContentBlock] | None:
    """Return a value as content blocks; None if it isn't valid."""
    try:
        return _BLOCKS.validate_python(data if isinstance(data, list) else [data])
    except ValidationError:
        return None
