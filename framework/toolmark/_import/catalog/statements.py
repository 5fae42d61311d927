"""One sentence of a catalogue, read for everything that it demands of calls."""

from toolmark._import.catalog import costs, restrictions
from toolmark._import.catalog.policy import Policy
from toolmark._import.catalog.words import clean


def read_sentence(policy: Policy, sentence: str, line: int) -> bool:
    """Read one sentence or bullet; False where no field holds any of it."""
    text = clean(sentence)
    read = [reader(policy, text, line) for reader in (*restrictions.READERS, *costs.READERS)]
    return any(read)
