"""Give a resource within the result."""


def test_embedded_resource() -> dict[str, object]:
    resource = {
        "uri": "test://embedded-resource",
        "mimeType": "text/plain",
        "text": "This is an embedded resource content.",
    }
    return {"type": "resource", "resource": resource}
