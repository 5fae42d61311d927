"""Give a simple text."""


def test_simple_text() -> str:
    return "This is a simple text response for testing."
