"""Each small wrong of a module is found once, and nothing that only says something."""

import ast

import pytest
from changes import changes_of


def said(text):
    """Give what changes, in the order in which it stands."""
    return [one.said for one in changes_of(text)]


@pytest.mark.parametrize(
    ("line", "wrongs"),
    [
        ("a = b < 1", ["a = b < 2", "a = b <= 1", "a = b >= 1"]),
        ("a = b is None", ["a = b is not None"]),
        ("a = b not in c", ["a = b in c"]),
        ("a = b and c", ["a = b or c", "a = b", "a = c"]),
        ("a = not b", ["a = b"]),
        ("a = b - c", ["a = b + c"]),
        ("a = max(b, c)", ["a = min(b, c)"]),
        ("a = b(c, d=e)", ["a = b(c)"]),
        ("a = {b: c}", ["a = {}"]),
        ("a = (b, c)", ["a = (b,)", "a = (c,)"]),
        ("a = True", ["a = False"]),
        ("a = 'word'", ["a = ''"]),
        ("a = b'word'", ["a = b''"]),
        ("a = ''", ["a = 'odd'"]),
        ("a.b = c", ["pass"]),
        ("a += b", ["pass"]),
        ("a(b)", ["pass"]),
        ("raise a", ["pass"]),
    ],
)
def test_each_mutation_of_a_line_is_found(line, wrongs):
    found = said(line)

    assert sorted(found) == sorted(f"{line} → {wrong}" for wrong in wrongs)


def test_a_condition_is_negated_and_a_result_is_dropped():
    text = "def f(a):\n    if a():\n        return b\n    for c in a:\n        continue"

    assert sorted(said(text)) == [
        "continue → pass",
        "if a(): → if not a():",
        "return b → return",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a = 'words of a message'",
        "a = f'{b} words'",
        "a: int | None",
        "a = TypeVar('a', int, str)",
        "a = dict[str, 'B']",
        "def f(a: dict[str, int]) -> tuple[int, ...]:\n    '''Docstring.'''",
        "assert a == 1",
        "if TYPE_CHECKING:\n    import a",
        "@a(1)\nclass B(C[int]):\n    '''Docstring.'''",
    ],
)
def test_texts_and_types_are_not_mutated(text):
    assert said(text) == []


def test_a_mutated_module_is_complete_and_names_the_changed_line():
    first, second = changes_of("a = 1\n\n\nb = c == d\n")

    assert [(first.line, second.line)] == [(1, 4)]
    assert ast.dump(ast.parse(second.text)) == ast.dump(ast.parse("a = 1\nb = c != d"))


def test_the_changed_part_of_a_long_line_is_shown():
    [*_, last] = said(f"a = ({', '.join(f'name_{number}' for number in range(40))})")

    assert last == "…, name_39… → ……"
