"""The lint script finds what breaks each rule of the house."""

from lint import EACH, File

BROKEN = {
    "purpose": ("framework/toolmd/a.py", "import os\n"),
    "names": ("framework/toolmd/_call/utils.py", '"""Call."""\n'),
    "sizes": ("framework/toolmd/a.py", "def one():\n" + "    pass\n" * 60),
    "words": ("docs/how-to/a.md", "The door is open.\n"),
    "openings": ("framework/toolmd/a.py", 'def one():\n    """Give it."""\n'),
    "sentences": ("docs/how-to/a.md", "word " * 36 + ".\n"),
    "hosts": ("tests/a.py", "https://" + "elsewhere.net/a\n"),
    "paths": ("docs/a.md", "See /" + "tmp/a.\n"),
    "locks": ("constraints.txt", "--index-url somewhere\n"),
    "upward": ("plugins/a/src/a.py", "from toolmd._call import pipeline\n"),
    "references": ("framework/toolmd/a.py", '"""See nowhere.md."""\n'),
}


def test_each_rule_finds_a_file_that_breaks_it() -> None:
    for rule in EACH:
        name, text = BROKEN[rule.__name__]

        assert [*rule(File(name, text))], rule.__name__


def test_no_rule_finds_anything_in_a_good_file() -> None:
    good = '"""Add numbers."""\n\n\ndef add(a, b):\n    """Return the sum."""\n    return a + b\n'

    assert [found for rule in EACH for found in rule(File("framework/toolmd/a.py", good))] == []
