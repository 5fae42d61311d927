"""Paint a picture."""


def paint() -> list[dict[str, str]]:
    return [
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
        {"type": "text", "text": "A dot"},
    ]
