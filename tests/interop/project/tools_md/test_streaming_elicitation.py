"""Do what the user must confirm."""


def test_streaming_elicitation() -> str:
    return "Done."
