"""Tell somebody at once."""


def alarm(text: str) -> str:
    return f"told of {text}"
