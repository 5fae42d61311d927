"""Taste a dish."""


def taste(dish: str) -> str:
    return f"good {dish}"
