"""A change of a long list names what differs."""

from toolmd._types.pending_change import Weakening


def test_of_long_lists_only_what_differs_is_shown():
    codes = [f"{number}-4" for number in range(78)]
    change = Weakening("Parameters: codes: Items: Enum", codes, ["99999-9", *codes[1:]])
    assert str(change) == ("Parameters: codes: Items: Enum: 77 values, 0-4 → 77 values, 99999-9")
    assert Weakening("Enum", codes, [*codes, "x"]).diff == "- Enum: 78 values\n+ Enum: 78 values, x"
    assert str(Weakening("Enum", ["a"], ["a", "b"])) == "Enum: a → a, b"
