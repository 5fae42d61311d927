"""Send money."""


def transfer(amount: int) -> str:
    return f"{amount} euros"
