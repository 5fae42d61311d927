"""A full disk, at any byte: the live versions stay stored, and a cache is complete or absent."""

import pytest

from toolmd._load.baseline import FILE, LOCK, Baseline, LastLive
from toolmd._load.cache import Cache, CacheEntry

MOST = 10_000


def row(name, spec):
    return LastLive(name, "tool", f"tools_md/{name}.tool.md", "d" * 64, spec.encode())


STRICT, LOOSE, OTHER = row("a", '{"strict":true}'), row("a", "{}"), row("b", '{"b":1}')


@pytest.mark.process
def test_the_live_versions_stay_known_wherever_writing_stopped(limited_disk, tmp_path):
    for size in range(MOST):
        state = tmp_path / str(size)
        first = Baseline(state)
        for _ in range(3):
            assert first.save(first.load(), {"a": LOOSE, "b": OTHER})
            assert first.save(first.load(), {"a": STRICT, "b": OTHER})
        last = row("a", '{"strict":true,"more":true}')
        with limited_disk(size):
            known = first.load()
            assert first.save(known, {"a": last, "b": OTHER})
            trouble = first.problem
        fresh = Baseline(state).load().rows
        # The next process knows what was live before or what is now, and the rest in any case.
        assert fresh["a"] in (STRICT, last)
        assert fresh["b"] == OTHER
        assert bool(trouble) == (fresh["a"] != last)
        # Nothing that was cut off is left to be told as damage, and no draft either.
        again = Baseline(state)
        again.load()
        assert again.problem == ""
        assert {path.name for path in again.folder.iterdir()} == {FILE, LOCK}
        # With free space this process stores what it alone knew.
        assert first.save(first.load(), {"a": last, "b": OTHER})
        assert Baseline(state).load().rows == {"a": last, "b": OTHER}
        if not trouble:
            break
    assert 0 < size < MOST


@pytest.mark.process
def test_a_cache_is_complete_or_absent(limited_disk, tmp_path):
    entries = {
        "x.tool.md": CacheEntry("0" * 64, "x", b'{"x":1}'),
        "y.tool.md": CacheEntry("1" * 64, "", b""),
    }
    newer = {"x.tool.md": CacheEntry("2" * 64, "x", b'{"x":22}')}
    for size in range(MOST):
        folder = tmp_path / str(size)
        with limited_disk(size):
            Cache(folder, "p").save(entries, {})
        first = Cache.load(folder, "p").entries
        assert first in ({}, entries)
        Cache(folder, "p").save(entries, {})
        with limited_disk(size):
            Cache(folder, "p").save(newer, {})
        # A new payload beside an old index fits no sum: it is read anew.
        assert Cache.load(folder, "p").entries in ({}, entries, newer)
        assert [file for file in folder.iterdir() if file.name.startswith(".specs")] == []
        if first:
            break
    assert 0 < size < MOST
