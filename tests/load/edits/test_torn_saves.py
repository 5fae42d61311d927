"""A half-written save is never looser than what was live before."""

from torn_saves import tear


def test_no_torn_save_is_live_looser_than_before(tmp_path) -> None:
    assert tear(tmp_path, times=150) == []


def test_without_the_hold_some_would_be(tmp_path) -> None:
    assert tear(tmp_path, times=20, trust_edits=True)
