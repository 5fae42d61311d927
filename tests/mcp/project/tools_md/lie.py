"""Give what it does not declare."""


def lie() -> str:
    return "no number"
