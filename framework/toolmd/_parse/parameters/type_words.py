"""The words that people write for types."""

from toolmd._types.schema import JSON_TYPES, JsonType

WORDS: dict[str, tuple[JsonType | None, str | None]] = {
    **{name: (name, None) for name in JSON_TYPES},
    "str": ("string", None),
    "text": ("string", None),
    "char": ("string", None),
    "enum": ("string", None),
    "int": ("integer", None),
    "long": ("integer", None),
    "bigint": ("integer", None),
    "float": ("number", None),
    "double": ("number", None),
    "decimal": ("number", None),
    "num": ("number", None),
    "numeric": ("number", None),
    "bool": ("boolean", None),
    "dict": ("object", None),
    "dictionary": ("object", None),
    "map": ("object", None),
    "hashmap": ("object", None),
    "mapping": ("object", None),
    "record": ("object", None),
    "obj": ("object", None),
    "json": ("object", None),
    "list": ("array", None),
    "arraylist": ("array", None),
    "sequence": ("array", None),
    "tuple": ("array", None),
    "set": ("array", None),
    "none": ("null", None),
    "undefined": ("null", None),
    "nonetype": ("null", None),
    "any": (None, None),
    "unknown": (None, None),
    "date": ("string", "date"),
    "time": ("string", "time"),
    "datetime": ("string", "date-time"),
    "timestamp": ("string", "date-time"),
    "uuid": ("string", "uuid"),
    "email": ("string", "email"),
    "url": ("string", "uri"),
    "uri": ("string", "uri"),
}
"""Each folded word to its type and format; None as the type means any type."""

PLURALS = {f"{word}s": word for word in WORDS} | {
    "dictionaries": "dictionary",
    "any": "any",
    "anything": "any",
}
