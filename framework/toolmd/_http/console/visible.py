"""Show what text hides: controls that would turn, blank or overwrite what people read."""

import re

from markupsafe import Markup

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f"
    "\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Give text with each such character as its code point, `⟨U+202E⟩`; lines stay lines."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def shown(value: object) -> object:
    """Do so with whatever a template prints; what is HTML already went through it before."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


def exact(text: str) -> Markup:
    """Give text for an attribute that the script reads: escaped, and otherwise as it is."""
    # A lone surrogate can't be sent; the script could do nothing with it either.
    return Markup.escape(text.encode("utf-8", "replace").decode())
