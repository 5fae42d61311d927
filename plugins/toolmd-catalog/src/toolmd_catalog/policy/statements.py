"""One sentence of a catalogue, read for everything that it demands of calls."""

from toolmd_catalog.policy import costs, restrictions
from toolmd_catalog.policy.demands import Policy
from toolmd_catalog.words import clean

LONGEST = 2000
"""Characters of a sentence that are read."""


def read_sentence(policy: Policy, sentence: str, line: int) -> bool:
    """Read one sentence or bullet; False where no field holds any of it."""
    text = clean(sentence)
    if len(text) > LONGEST:
        policy.guess(f"only the first {LONGEST} characters of a sentence were read", line)
        text = text[:LONGEST]
    read = [reader(policy, text, line) for reader in (*restrictions.READERS, *costs.READERS)]
    return any(read)
