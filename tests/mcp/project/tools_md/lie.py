"""Give what it does not declare."""


def lie():
    return "no number"
