"""What `make mutants` judges is there: the guards' files, their tests, and what is excused."""

import pytest
from changes import changes_of
from guards import GUARDS, PACKAGE, REASONS, ROOT


@pytest.mark.parametrize("name", GUARDS)
def test_the_files_of_a_guard_and_its_tests_are_there(name):
    guard = GUARDS[name]
    tests = {test for likely in guard.files.values() for test in likely} | {*guard.broader}

    assert [glob for glob in guard.files if not [*(ROOT / PACKAGE).glob(glob)]] == []
    assert [test for test in sorted(tests) if not (ROOT / test).exists()] == []


def test_no_file_is_judged_twice():
    globs = [glob for guard in GUARDS.values() for glob in guard.files]
    files = [file for glob in globs for file in (ROOT / PACKAGE).glob(glob)]

    assert len(files) == len({*files})


@pytest.mark.parametrize("file", REASONS)
def test_what_is_excused_can_still_be_changed_so(file):
    text = (ROOT / PACKAGE / file).read_text("utf-8")

    assert REASONS[file].keys() <= {one.said for one in changes_of(text)}
