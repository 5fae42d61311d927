"""A rename changes a parameter's Python completely, or is denied."""

import pytest
from language_client import Editor
from orchard import FILES, HARVEST, PICK, PYTHON
from pygls.exceptions import JsonRpcException

GLEAN = "skills_md/glean.py"


def written(orchard: Editor, name: str, old: str, new: str) -> None:
    """Change the saved text of a file."""
    assert old in FILES[name]
    (orchard.root / name).write_text(FILES[name].replace(old, new), "utf-8")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("except ValueError as amount: print(amount)", r"pick_fruit\.py:7: 'amount' is bound"),
        ("finally: import json as amount", r"py:7: 'amount' is bound twice"),
        ("finally: print(locals())", r"py:7: `locals` may read 'amount'"),
        ("finally: pick_fruit(**basket)", r"py:7: the arguments of pick_fruit are computed"),
        ("finally: partial(pick_fruit, amount=1)", r"py:7: the arguments of pick_fruit are"),
        ("finally: count = 1", r"'count' already stands for something in pick_fruit\.py"),
    ],
)
def test_a_use_in_python_that_might_be_missed_denies_the_rename(
    orchard: Editor, more: str, why: str
) -> None:
    written(orchard, PYTHON, "    del basket\n", f"    try: pass\n    {more}\n")
    with pytest.raises(JsonRpcException, match=why):
        orchard.near("rename", PICK, "### amou", new_name="count")


@pytest.mark.parametrize(
    ("name", "old", "new", "renamed"),
    [
        (PYTHON, "del basket", "f = lambda amount=amount: amount", "lambda amount=count: amount"),
        (PYTHON, "del basket", "basket.pick_fruit(amount=1)", "basket.pick_fruit(amount=1)"),
        (GLEAN, "\n\nasync", "from a.pick_fruit import pick_fruit as p\np(amount=1)\n\nasync",
         "p(count=1)"),
        (GLEAN, "\n\nasync", "from a import pick_fruit as m\nm.pick_fruit(amount=1)\n\nasync",
         "m.pick_fruit(count=1)"),
        (GLEAN, "\n\nasync", "\n\ndef pick_fruit(*, amount): ...\n\npick_fruit(amount=1)\n\nasync",
         "pick_fruit(amount=1)"),
    ],
)  # fmt: skip
def test_exactly_the_calls_of_the_function_are_renamed(
    orchard: Editor, name: str, old: str, new: str, renamed: str
) -> None:
    written(orchard, name, old, new)
    changed = orchard.renamed(PICK, "### amou", "count")
    assert renamed in changed[name.rpartition("/")[2]]


@pytest.mark.parametrize(
    ("name", "after", "new", "why"),
    [
        (PICK, "### amou", "from", "'from' already stands for something in pick_fruit"),
        (PICK, "### amou", "int", "'int' already stands for something in pick_fruit"),
        (PICK, "### amou", "tree_name", "'tree_name' already stands for something in pick"),
        (PICK, "### amou", "has", "'has' already stands for something in `!has"),
        (HARVEST, "### tr", "crop", "'crop' is already the name of something else"),
        (HARVEST, "Save as**: cr", "tree", "'tree' is already the name of something else"),
    ],
)
def test_a_name_that_already_stands_for_something_is_denied(
    orchard: Editor, name: str, after: str, new: str, why: str
) -> None:
    with pytest.raises(JsonRpcException, match=why):
        orchard.near("rename", name, after, new_name=new)


def test_a_name_that_an_expression_binds_is_denied(orchard: Editor) -> None:
    written(orchard, PICK, "`amount > 20`", "`[30].exists(b, b < amount)`")
    orchard.open(PICK)
    with pytest.raises(JsonRpcException, match=r"'b' already stands for something in `\[30\]"):
        orchard.near("rename", PICK, "### amou", new_name="b")


def test_a_function_that_is_read_through_its_module_is_not_renamed(orchard: Editor) -> None:
    uses = "import a.pick_fruit\nf = a.pick_fruit.pick_fruit\n\nasync"
    written(orchard, GLEAN, "\n\nasync", uses)
    with pytest.raises(JsonRpcException, match="'pick_fruit' may stand for the tool"):
        orchard.near("rename", PICK, "**Name**: pick", new_name="gather")
