"""What is no part of an expression is named, with what to write instead."""

import pytest

from toolmd._expressions import ExpressionError, compile_expression


@pytest.mark.parametrize(
    ("source", "message", "help_"),
    [
        ("a > 1 and b > 2", "'and' is no operator", "write `&&`"),
        ("not a", "'not' is no operator", "write `!`"),
        ("a > 1,000", "a comma is no part of a number", ""),
        ("a > 50 route = iv", "'route' stands directly behind '50'", "write an operator between"),
        ("a > 50 EUR", "'EUR' stands directly behind '50'", "write an operator between"),
        ("a == “iv”", "'“' is no operator", 'write `"`'),
        ("a = 'iv'", "'=' is no operator", "write `==`"),
        ("a => 5", "'=>' is no operator", "write `>=`"),
        ("a <> 5", "'<>' is no operator", "write `!=`"),
        ("a & b", "'&' is no operator", "write `&&`"),
        ("a == b c", "'c' stands directly behind 'b'", "write an operator between them"),
        ("a > 5)", "not understood at ')'", ""),
        ("a >", "the expression ends too early", "write a value behind the last operator"),
        ("(a > 1", "the expression ends too early", "close each bracket"),
        ("a ** 2 > 1", "not understood at '*'", "remove it"),
        ("a > 1` or `a > 2", "a backtick is no part", "`a > 1 || b > 2`"),
        ("", "empty", "write one"),
    ],
)
def test_a_mistake_is_named_with_what_to_write(source: str, message: str, help_: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_expression(source)
    assert message in raised.value.message
    assert raised.value.help
    assert help_ in raised.value.help
