"""Add two numbers."""


def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}
