"""The invariants of `make fuzz` hold for all of its seeds."""

import expression_target
import fuzz_seeds
import parser_target
import pytest
import reply_target

TARGETS = {
    "parser": (parser_target.one, fuzz_seeds.of_parser),
    "replies": (reply_target.one, fuzz_seeds.of_replies),
    "expressions": (expression_target.one, fuzz_seeds.of_expressions),
}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_invariant_holds_for_the_fuzzing_seeds(target):
    one, seeds = TARGETS[target]
    given = list(seeds())
    for seed in given:
        one(seed)
    assert len(given) > 50


@pytest.mark.parametrize("target", TARGETS)
def test_every_invariant_holds_for_an_empty_input(target):
    TARGETS[target][0](b"")


def test_a_broken_invariant_is_reported():
    with pytest.raises(AssertionError, match="not in the reply"):
        reply_target.sound(reply_target.parse_reply(reply_target.SPOKEN), "Nothing.", [])
