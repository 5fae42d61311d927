"""Change a text by lines, as editors do; changes of single bytes rarely produce such texts."""

import random
from collections.abc import Callable


def mutate_lines(text: bytes, chance: random.Random, words: list[bytes]) -> bytes:
    """Return the text with one line doubled, dropped, moved or changed."""
    lines = text.split(b"\n")
    at = chance.randrange(len(lines))
    changes: list[Callable[[list[bytes], int, random.Random], None]] = [
        _double,
        _drop,
        _move,
        _indent,
        _cut,
        _swap_values,
    ]
    pick = chance.randrange(len(changes) + 1)
    if pick < len(changes):
        changes[pick](lines, at, chance)
    else:
        column = chance.randint(0, len(lines[at]))
        lines[at] = lines[at][:column] + chance.choice(words) + lines[at][column:]
    return b"\n".join(lines)


def _double(lines: list[bytes], at: int, chance: random.Random) -> None:
    lines.insert(chance.randint(0, len(lines)), lines[at])


def _drop(lines: list[bytes], at: int, _: random.Random) -> None:
    del lines[at]


def _move(lines: list[bytes], at: int, chance: random.Random) -> None:
    end = at + chance.randint(1, 6)
    taken = lines[at:end]
    del lines[at:end]
    to = chance.randint(0, len(lines))
    lines[to:to] = taken


def _indent(lines: list[bytes], at: int, chance: random.Random) -> None:
    signs = chance.choice([b"  ", b"    ", b"\t", b"> ", b"- ", b"1. ", b"#", b""])
    for number in range(at, min(at + chance.randint(1, 8), len(lines))):
        lines[number] = signs + (lines[number] if signs else lines[number].lstrip())


def _cut(lines: list[bytes], at: int, chance: random.Random) -> None:
    lines[at] = lines[at][: chance.randint(0, len(lines[at]))]


def _swap_values(lines: list[bytes], at: int, chance: random.Random) -> None:
    other = chance.randrange(len(lines))
    key, colon, _ = lines[at].partition(b":")
    _, _, value = lines[other].partition(b":")
    lines[at] = key + colon + value
