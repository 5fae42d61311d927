"""Words that mean nothing: `None`, `N/A`, `This tool takes no parameters`."""

from toolmd._parse.words.keys import fold

_WHOLE = frozenset(("none", "na", "no", "nothing", "noneparameters", "nonerequired"))
_TAILS = ("noparameters", "noarguments", "noinputs", "noinput", "noparams", "noparametersrequired")
_SENTENCE = 60


def says_none(text: str) -> bool:
    """Return whether a text says that parameters, or anything at all, are absent."""
    folded = fold(text)
    return folded in _WHOLE or (len(folded) < _SENTENCE and folded.endswith(_TAILS))
