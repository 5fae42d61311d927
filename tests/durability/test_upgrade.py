"""Runs of other releases, whose tables differ, are left alone."""

import pytest
from kept import Kept

from toolmd._store.schema import VERSION
from toolmd.errors import ConfigError


@pytest.mark.parametrize(("by", "which"), [(1, "a newer"), (-1, "an older")])
def test_runs_of_another_release_are_not_touched(kept: Kept, by: int, which: str) -> None:
    version = "UPDATE toolmd_meta SET value = :value WHERE key = 'version'"
    kept.rows(version, value=str(VERSION + by))
    kept.engine.close()
    with pytest.raises(ConfigError, match=f"stored by {which} release of Toolmd"):
        kept.opened()
    kept.rows(version, value=str(VERSION))
    kept.engine = kept.opened()
