"""A SQLite that is too old for the stores is named, with what to do."""

import sqlite3

import pytest

from toolmd import ConfigError
from toolmd.config.sqlite import OLDEST, check_sqlite


def test_this_pythons_sqlite_is_checked_where_no_version_is_given() -> None:
    assert sqlite3.sqlite_version_info >= OLDEST
    check_sqlite()


def test_the_oldest_sqlite_passes() -> None:
    check_sqlite(OLDEST)


@pytest.mark.parametrize("version", [(3, 36, 0), (3, 34, 1), (3, 7, 17)])
def test_an_older_sqlite_is_an_error_with_a_remedy(version: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        check_sqlite(version)

    found = ".".join(map(str, version))
    assert f"has SQLite {found}, and Toolmd stores its records with 3.37.0 or later" in str(
        caught.value
    )
    assert "install Toolmd with another Python" in str(caught.value)
