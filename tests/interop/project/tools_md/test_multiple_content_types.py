"""Give a text, a picture and a resource."""

from .media import RED_DOT


def test_multiple_content_types() -> list[dict[str, object]]:
    resource = {
        "uri": "test://mixed-content-resource",
        "mimeType": "application/json",
        "text": '{"test":"data","value":123}',
    }
    return [
        {"type": "text", "text": "Multiple content types test:"},
        {"type": "image", "data": RED_DOT, "mimeType": "image/png"},
        {"type": "resource", "resource": resource},
    ]
