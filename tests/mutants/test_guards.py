"""The files that `make mutants` changes, their tests and the excused changes exist."""

import pytest
from guards import GUARDS, PACKAGE, REASONS, ROOT


@pytest.mark.parametrize("name", GUARDS)
def test_the_files_of_a_guard_and_its_tests_exist(name):
    guard = GUARDS[name]
    tests = {test for likely in guard.files.values() for test in likely} | {*guard.broader}

    assert [glob for glob in guard.files if not [*(ROOT / PACKAGE).glob(glob)]] == []
    assert [test for test in sorted(tests) if not (ROOT / test).exists()] == []


def test_no_file_is_mutated_twice():
    globs = [glob for guard in GUARDS.values() for glob in guard.files]
    files = [file for glob in globs for file in (ROOT / PACKAGE).glob(glob)]

    assert len(files) == len({*files})


def test_every_excused_change_is_tested():
    globs = [glob for guard in GUARDS.values() for glob in guard.files]
    files = {file for glob in globs for file in (ROOT / PACKAGE).glob(glob)}

    assert {ROOT / PACKAGE / file for file in REASONS} <= files
