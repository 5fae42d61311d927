"""What `make fuzz` runs for hours holds of everything that it begins with."""

import random

import expression_target
import fuzz_seeds
import line_mutator
import parser_target
import pytest
import reply_target

TARGETS = {
    "parser": (parser_target.one, fuzz_seeds.of_parser),
    "replies": (reply_target.one, fuzz_seeds.of_replies),
    "expressions": (expression_target.one, fuzz_seeds.of_expressions),
}


@pytest.mark.parametrize("target", TARGETS)
def test_every_promise_holds_of_what_fuzzing_begins_with(target):
    one, seeds = TARGETS[target]
    given = list(seeds())
    for seed in given:
        one(seed)
    assert len(given) > 50


@pytest.mark.parametrize("target", TARGETS)
def test_every_promise_holds_of_nothing(target):
    TARGETS[target][0](b"")


def test_a_broken_promise_is_told():
    with pytest.raises(AssertionError, match="nothing says"):
        reply_target.sound(reply_target.parse_reply(reply_target.SPOKEN), "Nothing.", [])


def test_a_text_is_changed_by_lines_and_the_same_chance_changes_it_alike():
    text = b"# A\n\n- **b**: c\n- d\n"
    made = [line_mutator.mutate_lines(text, random.Random(n), [b"w"]) for n in range(50)]
    again = [line_mutator.mutate_lines(text, random.Random(n), [b"w"]) for n in range(50)]
    assert made == again
    assert len(set(made)) > 20
