"""Give a picture of one red dot."""

from .media import RED_DOT


def test_image_content() -> dict[str, str]:
    return {"type": "image", "data": RED_DOT, "mimeType": "image/png"}
