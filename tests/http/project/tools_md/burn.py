"""Fail as nobody foresaw."""


def burn() -> str:
    raise RuntimeError("the secret recipe")
