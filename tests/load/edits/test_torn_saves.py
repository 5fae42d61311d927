"""A half-written save never weakens the live policy."""

import pytest
from torn_saves import tear


@pytest.mark.process
def test_no_torn_save_weakens_the_live_policy(tmp_path) -> None:
    assert tear(tmp_path, times=150) == []


def test_without_pending_changes_some_torn_saves_would_weaken_it(tmp_path) -> None:
    assert tear(tmp_path, times=20, trust_edits=True)
