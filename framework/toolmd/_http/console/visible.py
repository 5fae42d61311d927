"""Show hidden characters: controls that would reorder, hide or overwrite text."""

import re

from markupsafe import Markup

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f"
    "\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Replace each such character by its code point, `⟨U+202E⟩`; line breaks stay."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def shown(value: object) -> object:
    """Apply `visible` to a template's value; HTML has already passed it."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


def exact(text: str) -> Markup:
    """Return text for an attribute that the script reads: escaped, otherwise unchanged."""
    # An unpaired surrogate can't be sent, and the script could not use it.
    return Markup.escape(text.encode("utf-8", "replace").decode())
