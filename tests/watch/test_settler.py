"""When a burst of changes is over."""

from hypothesis import given
from hypothesis import strategies as st

from toolmd._watch.watcher import SETTLE_S, Settler


def test_without_an_event_no_burst_is_reported() -> None:
    assert Settler().wait(5.0) is None


def test_a_burst_ends_after_a_quiet_time_and_is_reported_once() -> None:
    settler = Settler(0.15)
    settler.changed(1.0)
    settler.changed(1.1)

    assert settler.wait(1.15) is not None
    assert settler.wait(1.2) != 0
    assert settler.wait(1.26) == 0
    assert settler.wait(1.26) is None


def test_a_burst_does_not_end_while_writes_continue() -> None:
    settler = Settler(0.15)
    settler.changed(1.0)

    assert settler.wait(9.0, busy=True)
    assert settler.wait(9.0) == 0


@given(
    gaps=st.lists(st.floats(0, 0.4), min_size=1, max_size=30),
    busy_until=st.floats(0, 5),
)
def test_each_burst_is_reported_once_and_never_before_it_ended(gaps, busy_until) -> None:
    settler = Settler()
    now, told, last = 0.0, 0, None
    bursts = 1 + sum(gap >= SETTLE_S for gap in gaps[1:])
    for gap in gaps:
        end = now + gap
        while last is not None and now < end:
            wait = settler.wait(now, busy=now < busy_until)
            if wait is None:
                break
            if wait == 0:
                told += 1
                assert now >= last + SETTLE_S
                assert now >= busy_until
            assert wait >= 0
            now = min(end, now + max(wait, 1e-6))
        now = max(now, end)
        settler.changed(now)
        last = now
    while (wait := settler.wait(now, busy=now < busy_until)) is not None:
        told += wait == 0
        now += max(wait, 1e-6)

    assert 1 <= told <= bursts
