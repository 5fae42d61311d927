"""Cancel what was said."""


def cancel() -> str:
    return "all of it"
