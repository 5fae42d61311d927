"""Decide which parameters a call needs, where the text says it of some only."""

from toolmd_catalog.phrases.found import ParameterFound


def settle(found: list[ParameterFound], *, code: bool = False) -> None:
    """Decide the need of each parameter that says nothing of it, by what the others say.

    `code` is a notation in which `?` or a default alone makes a parameter optional.
    """
    marked = [one.need for one in found]
    asks, excuses = True in marked, False in marked
    for one in found:
        if one.need is not None:
            continue
        if one.default is not None:
            one.need = False
        elif code:
            one.need = True
        elif asks and not excuses:
            one.need, one.guessed_need = False, True
            one.guesses.append("not marked, while others are marked required: optional")
        else:
            one.need, one.guessed_need = True, True
            why = "while others are marked optional" if excuses else "and nothing is optional here"
            one.guesses.append(f"not marked, {why}: required")


def in_code(found: list[ParameterFound], lines: list[str]) -> bool:
    """Return whether a list follows code's convention: somewhere `name?` marks what is optional."""
    return any("?" in line.split(":", 1)[0] for line in lines) and bool(found)
