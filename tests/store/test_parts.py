"""What each part of the store promises, in memory, in a file and on Postgres."""

import time
from collections.abc import Callable

import pytest
from sample import confirmation, count, counted, uncount

from toolmd._store import LEASE_S
from toolmd._store.confirmations import KEPT_S, SOME
from toolmd._store.records import CHANGE_KEPT_S, GONE, KEY_KEPT_S
from toolmd._store.store import Store, shared_secret
from toolmd._types.call import Budget, Call, Caller
from toolmd._types.confirmation import EXPIRES_S
from toolmd._types.pending_change import ChangeKey
from toolmd._types.stored import ChainLine, Crisis, KeptResult

Change = Callable[..., int]
PAY = ChangeKey("pay", "live", "edit")


# Limits


def test_a_start_is_used_once_and_each_tool_has_its_own(store: Store) -> None:
    assert store.limits.take("act", 3600.0) == 0.0
    assert 3500 < store.limits.take("act", 3600.0) <= 3600
    assert store.limits.take("other", 3600.0) == 0.0


def test_a_clock_that_was_set_back_denies_no_start(store: Store, change: Change) -> None:
    assert store.limits.take("act", 0.05) == 0.0
    assert change(store, "UPDATE tool_start SET last = last + 5000") == 1

    assert 0 < store.limits.take("act", 0.05) <= 0.05
    assert 0 <= store.limits.take("act", 0.05) <= 0.05


def test_each_tool_and_each_user_counts_alone(store: Store) -> None:
    assert [count(store, "act", "ana", 2) for _ in range(3)] == [True, True, False]
    assert counted(store, "act", "ana") == 2
    assert count(store, "act", "bob", 2)
    assert count(store, "other", "ana", 2)
    uncount(store, "act", "ana")
    assert counted(store, "act", "ana") == 1
    assert count(store, "act", "ana", 2)
    uncount(store, "act", "nobody")
    assert counted(store, "act", "nobody") == 0


def test_the_place_of_a_dead_process_gets_free(store: Store, change: Change) -> None:
    assert store.limits.enter("act", 1) is not None
    assert store.limits.enter("act", 1) is None
    assert store.limits.enter("other", 1) is not None
    change(store, "UPDATE running_call SET until = until - ?", LEASE_S)

    assert store.limits.enter("act", 1) is not None
    assert store.limits.enter("act", 1) is None


def test_a_renewed_place_stays_taken_until_its_call_leaves(store: Store, change: Change) -> None:
    places = [store.limits.enter("act", 2) for _ in range(2)]
    change(store, "UPDATE running_call SET until = until - ?", LEASE_S)
    for place in places:
        store.limits.renew(place)
    assert store.limits.enter("act", 2) is None

    store.limits.leave(places[0])
    assert store.limits.enter("act", 2) is not None
    assert store.limits.enter("act", 2) is None


# Confirmations


def test_a_confirmation_comes_back_as_it_was_stored(store: Store) -> None:
    one = confirmation("c-1", notes=("edited",))
    call = one.call._replace(budget=Budget(1, 2, 3), arguments={"x": 'ü\0"%_'}, id="call-1")
    store.confirmations.add(one := one._replace(call=call))

    found = store.confirmations.get("c-1", one.created)

    assert found._replace(created=one.created, expires=one.expires) == one
    assert found.expires - found.created == pytest.approx(EXPIRES_S)
    assert store.confirmations.get("c-2", one.created) is None


def test_a_decided_confirmation_keeps_only_what_was_shown(store: Store) -> None:
    store.confirmations.add(one := confirmation("c-1"))

    assert store.confirmations.claim("c-1", "rejected", one.created)
    assert not store.confirmations.claim("c-1", "approved", one.created)
    assert not store.confirmations.begin(one, one.created, 60.0)

    found = store.confirmations.get("c-1", one.created)
    assert (found.state, found.call.arguments) == ("rejected", {"pin": "•••"})
    assert "1234" not in str(found._asdict())


def test_a_call_that_runs_can_be_decided_again_once_its_time_is_over(
    store: Store, change: Change
) -> None:
    store.confirmations.add(one := confirmation("c-1"))
    runs = one._replace(call=one.call._replace(arguments={"pin": "9999"}), prompt="Now?")
    now = one.created

    assert store.confirmations.begin(runs, now, 60.0)
    assert not store.confirmations.begin(runs, now, 60.0)
    assert not store.confirmations.claim("c-1", "rejected", now)
    assert store.confirmations.get("c-1", now).state == "running"
    assert [*store.confirmations.pending(now)] == []
    change(store, "UPDATE confirmation SET expires = expires - 61")

    (found,) = store.confirmations.pending(now)
    assert (found.state, found.prompt, found.call.arguments) == (
        "interrupted", "Now?", {"pin": "9999"},
    )  # fmt: skip
    assert store.confirmations.begin(runs, now, 60.0)
    store.confirmations.end("c-1", "approved")
    store.confirmations.end("c-1", "edited")
    found = store.confirmations.get("c-1", now)
    assert (found.state, found.call.arguments) == ("approved", {"pin": "•••"})


def test_pending_calls_are_found_by_tool_and_user_in_their_order(store: Store) -> None:
    for name, tool, user in (
        ("a", "act", "ana"), ("b", "act_more", "ana"), ("c", "act", "b%_!b"), ("d", "act", None),
    ):  # fmt: skip
        store.confirmations.add(one := confirmation(name, tool, user))

    def found(**which: object) -> str:
        return "".join(one.id for one in store.confirmations.pending(one.created, **which))

    assert (found(), found(tool="act"), found(user="ana")) == ("abcd", "acd", "ab")
    assert (found(user="b%_!b"), found(user="b"), found(user="%")) == ("c", "", "")
    first = next(store.confirmations.pending(one.created))
    assert found(after=(first.created, first.id)) == "bcd"
    store.confirmations.claim("b", "rejected", one.created)
    assert found() == "acd"


def test_many_pending_calls_are_read_in_parts(store: Store) -> None:
    now = time.time()
    for number in range(SOME + 5):
        store.confirmations.add(confirmation(f"{number:04}", created=now))

    names = [one.id for one in store.confirmations.pending(now)]

    assert names == sorted(names)
    assert len(names) == SOME + 5


def test_an_expired_call_is_cleaned_by_the_next_one_and_deleted_in_the_end(
    store: Store, change: Change
) -> None:
    store.confirmations.add(one := confirmation("old"))
    past = "UPDATE confirmation SET created = created - ?, expires = expires - ? WHERE id = 'old'"
    change(store, past, EXPIRES_S + 1, EXPIRES_S + 1)
    assert store.confirmations.get("old", one.created).state == "expired"
    assert [*store.confirmations.pending(one.created)] == []

    store.confirmations.add(confirmation("new"))
    found = store.confirmations.get("old", one.created)
    assert (found.state, found.call.arguments) == ("expired", {"pin": "•••"})
    change(store, past, KEPT_S, KEPT_S)
    store.confirmations.add(confirmation("newer"))
    assert store.confirmations.get("old", one.created) is None


# Keyed calls


def test_a_key_that_began_returns_what_is_known_of_its_call(store: Store) -> None:
    calls = store.keyed_calls
    assert calls.begin("one", 60.0) is None
    before = calls.begin("one", 60.0)
    assert 0 < before.left <= 60
    assert before.result is None
    calls.finish("one", '{"x": 1}')
    assert calls.begin("one", 60.0).result == '{"x": 1}'

    assert calls.begin("two", 60.0) is None
    calls.give_up("two")
    assert calls.begin("two", 60.0).left <= 0
    calls.forget("two")
    assert calls.begin("two", 60.0) is None


def test_a_key_is_forgotten_after_a_day(store: Store, change: Change) -> None:
    assert store.keyed_calls.begin("one", 60.0) is None
    assert change(store, "UPDATE keyed_call SET began = began - ?", KEY_KEPT_S) == 1

    assert store.keyed_calls.begin("one", 60.0) is None


# Crises, kept results and the secret


def test_a_flag_is_of_a_users_conversation_and_is_renewed(store: Store) -> None:
    crises = store.crises
    for since, user in ((1.0, "ana"), (2.0, None), (3.0, "ana")):
        crises.flag(Crisis("c1", user, since))

    assert crises.is_flagged("c1", "ana")
    assert not crises.is_flagged("c2", "ana")
    assert crises.flagged() == (Crisis("c1", None, 2.0), Crisis("c1", "ana", 3.0))
    assert crises.clear("c1", "ana")
    assert not crises.clear("c1", "ana")
    assert crises.flagged() == (Crisis("c1", None, 2.0),)


def test_a_kept_result_is_its_users_until_its_time_is_over(store: Store) -> None:
    results, data = store.results, bytes(range(256))
    assert results.open_until() == 0.0
    results.keep(KeptResult("r-1", "ana", "act", data, 100.0), 10.0)
    results.keep(KeptResult("r-2", None, "act", b"{}", 200.0), 10.0)

    assert results.find("r-1", "ana", 50.0).data == data
    assert results.find("r-2", None, 50.0) == KeptResult("r-2", None, "act", b"{}", 200.0)
    assert results.find("r-2", "", 50.0) is None
    assert results.find("r-1", "bob", 50.0) is results.find("r-1", "ana", 100.0) is None
    assert results.open_until() == 200.0
    results.keep(KeptResult("r-3", "ana", "act", b"{}", 300.0), 150.0)
    assert results.find("r-1", "ana", 50.0) is None


def test_all_servers_of_a_store_have_one_secret(shared_place: str, tmp_path) -> None:
    first = shared_secret(shared_place, tmp_path)

    assert len(bytes.fromhex(first)) == 32
    assert shared_secret(shared_place, tmp_path) == first


# Policy changes


def test_an_acceptance_counts_once(store: Store) -> None:
    changes = store.changes
    changes.propose([(PAY, b"{}", 0)])
    assert changes.accept(PAY, b"{}", 0) == changes.accept(PAY, b"{}", 0) == 1
    changes.propose([(PAY, b"{}", 0)])
    (accepted,) = changes.all().values()
    assert (accepted.key, accepted.accepted, accepted.spec) == (PAY, True, b"{}")

    # A process that took it already is asked again, and so is everybody else.
    changes.propose([(PAY, b"{}", 1)])
    assert [(one.accepted, one.number) for one in changes.all().values()] == [(False, 2)]
    other = PAY._replace(edit="other")
    assert changes.accept(other, b"{}", 0) == 3
    assert changes.accept(PAY._replace(name="ring"), b"{}", 7) == 8


def test_a_change_that_nobody_proposes_any_more_is_forgotten(store: Store, change: Change) -> None:
    store.changes.accept(PAY, b"{}", 0)
    change(store, "UPDATE policy_change SET since = since - ?", CHANGE_KEPT_S + 1)

    store.changes.propose([(PAY._replace(name="ring"), b"{}", 0)])

    assert [key.name for key in store.changes.all()] == ["ring"]


# Audit heads and pins


def test_the_newest_record_of_a_file_follows_the_one_before(store: Store) -> None:
    heads, first, second = store.audit_heads, ChainLine(1, "aa"), ChainLine(2, "bb")
    assert heads.get("file") is None
    assert heads.put("file", first, None)
    assert not heads.put("file", second, None)
    assert not heads.put("file", second, ChainLine(1, "zz"))
    assert heads.put("file", second, first)
    heads.put("more", first, None)

    assert (heads.get("file"), heads.all()) == (second, {"file": second, "more": first})
    heads.forget("file")
    assert heads.all() == {"more": first}


def test_machines_of_one_postgres_have_audit_files_of_their_own(postgres: str, tmp_path) -> None:
    here, there = Store(postgres, tmp_path / "here"), Store(postgres, tmp_path / "there")
    here.audit_heads.put("one", ChainLine(1, "aa"), None)
    there.audit_heads.put("two", ChainLine(2, "bb"), None)

    assert (*here.audit_heads.all(), *there.audit_heads.all()) == ("one", "two")
    here.close()
    there.close()


def test_a_tool_is_pinned_as_it_was_first_seen_until_it_is_accepted_anew(store: Store) -> None:
    pins = store.pins
    assert [*pins.see("s", {"a": "1", "b": "1"}, ["a", "c"])] == ["a"]
    assert not pins.of("s")["a"].is_changed
    seen = pins.see("s", {"a": "2"}, ["a"])
    assert (seen["a"].accepted, seen["a"].seen, seen["a"].is_changed) == ("1", "2", True)
    assert pins.see("s", {}, [])["a"].seen == GONE

    pins.accept("s", {"a": "2", "b": "1"})
    assert {name: pin.accepted for name, pin in pins.of("s").items()} == {"a": "2", "b": "1"}
    assert [*pins.of("s", ["b", "x"])] == ["b"]
    pins.accept("s", {"a": GONE})
    assert [*pins.of("s")] == ["b"]
    assert pins.of("t") == {}


def test_a_caller_is_stored_as_it_is(store: Store) -> None:
    caller = Caller("ana", {"patient": "P-1"}, "", "c1", crisis=True)
    one = confirmation("c-1")
    store.confirmations.add(one._replace(call=Call("act", {}, caller=caller)))

    assert store.confirmations.get("c-1", one.created).call.caller == caller
