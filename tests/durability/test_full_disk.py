"""A disk that fills up during a run: waiting callers get an error, and nothing is lost."""

from contextlib import ExitStack

import pytest
from kept import Kept
from run_world import YES

from toolmd.errors import UnreachableError


def test_a_run_that_can_not_be_recorded_is_reported_and_continues_with_free_space(
    tmp_path, limited_disk
):
    kept, full, looked = Kept(tmp_path, store_wait_s=1.0), ExitStack(), []

    def look(**_):
        looked.append(1)
        if len(looked) == 1:
            full.enter_context(limited_disk(1000))
        return {"value": "look"}

    kept.world.functions["look"] = look
    with full, pytest.raises(UnreachableError, match="resumes from its record"):
        kept.run(kept.order())

    assert kept.run(kept.order()).code == "waiting"
    assert kept.answer(YES).success
    assert kept.world.called == ["look", "look", "act"]
    kept.engine.close()
