"""Count the flowers in the shop."""

STOCK = {"rose": 12, "tulip": 3, "iris": 0}


async def count_flowers(kinds: list[str], least: int = 0) -> dict[str, int]:
    return {kind: STOCK[kind] for kind in kinds if STOCK[kind] >= least}
