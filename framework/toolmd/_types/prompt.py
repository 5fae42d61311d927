"""The content of a `.prompt.md` file."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, JsonValue

from toolmd._types.call_spec import CallSpec
from toolmd._types.canonical import content_hash, present
from toolmd._types.definition import Noun
from toolmd._types.schema import object_schema

_PLACE = re.compile(r"(?P<escape>\\)?(?P<open>\{{1,2})\s*(?P<name>[A-Za-z_][\w-]*)\s*(?P<end>\}+)")


class PromptPlace(NamedTuple):
    """A place of a prompt's text where an argument stands, `{name}`."""

    written: str
    name: str
    doubled: bool
    """Whether it is written as `{{name}}`, as in other template languages."""


class PromptSpec(Noun, CallSpec):
    """The content of a `.prompt.md` file (format.md, "Prompt file")."""

    kind: ClassVar[str] = "prompt"

    title: str
    description: str
    text: str
    """The text for the model, with `{argument}` in it."""
    notes: str = ""
    """The paragraphs behind the description."""
    sections: dict[str, str] = Field(default_factory=dict)
    """Prose that belongs to no field, by the title of its section."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Metadata keys that Toolmd does not know."""

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Return the canonical JSON without `hash` and `source`."""
        said = {name: getattr(self, name) for name in ("kind", "name", "title", "description")}
        return present(
            {
                **said,
                "notes": self.notes,
                "input_schema": object_schema(self.parameters),
                "text": self.text,
                "sections": self.sections,
                "extra": self.extra,
            }
        )

    @cached_property
    def hash(self) -> str:
        """Return the content hash: hex sha256 of the sorted, compact canonical JSON."""
        return content_hash(self.canonical)

    def filled(self, values: Mapping[str, Any]) -> str:
        r"""Return the text with the values of its arguments; `\{name}` stays as `{name}`.

        A value is inserted once: braces in it are text.
        """

        def value(found: re.Match[str]) -> str:
            if found["escape"]:
                return found[0][1:]
            value = values.get(found["name"])
            return "" if value is None else str(value)

        return _PLACE.sub(value, self.text)


def places(text: str) -> list[PromptPlace]:
    """Return the places of a prompt's text where arguments stand."""
    found = [match for match in _PLACE.finditer(text) if not match["escape"]]
    return [PromptPlace(m[0], m["name"], m["open"] == "{{") for m in found]
