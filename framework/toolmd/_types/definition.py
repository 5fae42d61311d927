"""The common part of tool and skill specs: the head of the file, and its content hash."""

from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from toolmd._types.call_spec import CallSpec
from toolmd._types.canonical import canonical_json, content_hash
from toolmd._types.field import Row


class Noun(BaseModel):
    """A frozen model that forbids unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class FileSpec(Noun, CallSpec):
    """The content of a definition file; files with equal meaning give equal specs (format.md).

    `CallSpec` declares the fields that a call needs; pydantic inherits them.
    """

    kind: ClassVar[str]
    """`tool` or `skill`."""

    title: str
    """The heading of the file."""
    description: str
    notes: str = ""
    """The paragraphs behind the description."""
    when_to_use: str = ""
    """The text of the section of that name, for the model."""
    version: Annotated[str, Row("line", "Kept as text: `1.10` stays `1.10`.", "1.0.0")]
    category: Annotated[str, Row("line", "A word for sorting.", "general")]
    tags: Annotated[
        tuple[str, ...], Row("list", "Words for search.", aliases=("Tag", "Labels", "Keywords"))
    ] = ()
    sections: dict[str, str] = Field(default_factory=dict)
    """Prose that belongs to no field, by the title of its section."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Metadata keys that Toolmd does not know."""

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Return the canonical JSON without `hash`, `source` and `implementation`."""
        return canonical_json(self.kind, vars(self), self._own())

    @cached_property
    def hash(self) -> str:
        """Return the content hash: hex sha256 of the sorted, compact canonical JSON."""
        return content_hash(self.canonical)

    def _own(self) -> dict[str, Any]:
        """Return the part of the canonical JSON that only this kind has."""
        raise NotImplementedError
