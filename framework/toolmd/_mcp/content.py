"""Results that are content themselves: images, sounds and resources, not values to read."""

from typing import Any

from mcp.types import ContentBlock
from pydantic import TypeAdapter, ValidationError

from toolmd._types.schema import Schema

KINDS = frozenset(("text", "image", "audio", "resource", "resource_link"))
_BLOCKS: TypeAdapter[list[ContentBlock]] = TypeAdapter(list[ContentBlock])


def gives_blocks(returns: Schema) -> bool:
    """Tell whether a tool's Returns declare content blocks.

    They do by a property `type` whose Enum names nothing but the protocol's kinds of content,
    of the object or of the array's items. Declared, not guessed from a value.
    """
    shape = returns.items if returns.types == ("array",) else returns
    for field in (shape.properties or ()) if shape is not None else ():
        if field.name == "type" and field.shape.enum:
            return set(map(str, field.shape.enum)) <= KINDS
    return False


def read_blocks(data: Any) -> list[ContentBlock] | None:
    """Give a value as content blocks; None where it is none."""
    try:
        return _BLOCKS.validate_python(data if isinstance(data, list) else [data])
    except ValidationError:
        return None
