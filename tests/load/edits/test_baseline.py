"""The live versions are stored safely with concurrent writers and after crashes."""

import threading
from pathlib import Path

from toolmd._load.baseline import Baseline, LastLive


def row(name: str, text: str = "{}", path: str = "") -> LastLive:
    return LastLive(name, "tool", path or f"tools_md/{name}.tool.md", "d" * 64, text.encode())


def saved(state: Path, *rows: LastLive) -> Baseline:
    kept = Baseline(state)
    assert kept.save(kept.load(), {one.name: one for one in rows})
    return kept


def test_the_next_process_reads_the_stored_baseline(tmp_path: Path) -> None:
    odd = row("b", '{"a": "\\t\\n"}', 'tools_md/x\ty\n"z".tool.md')
    first = saved(tmp_path, row("a"), odd)
    assert first.save(first.load(), {"a": row("a", "[1]")}, ["b"])

    assert dict(Baseline(tmp_path).load().rows) == {"a": row("a", "[1]")}
    assert dict(first.load().rows) == {"a": row("a", "[1]")}


def test_an_acceptance_of_an_outdated_change_is_reported(tmp_path: Path) -> None:
    one, other = saved(tmp_path, row("a")), Baseline(tmp_path)
    known = other.load()
    assert one.save(one.load(), {"b": row("b")})

    assert not other.save(known, {"c": row("c")})
    assert other.save(other.load(), {"c": row("c")})
    assert set(one.load().rows) == {"a", "b", "c"}


def test_a_line_that_a_crash_cut_off_costs_that_line_alone(tmp_path: Path) -> None:
    kept = saved(tmp_path, row("a"), row("b"))
    whole = kept.file.read_bytes()
    for cut in range(1, len(whole)):
        kept.file.write_bytes(whole[:cut])
        again = Baseline(tmp_path)
        known = again.load()
        assert set(known.rows) <= {"a", "b"}
        assert again.save(known, {"c": row("c")})
        assert Baseline(tmp_path).load().rows["c"] == row("c")


def test_damage_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    kept = saved(tmp_path, row("a"), row("b"))
    data = kept.file.read_bytes()
    kept.file.write_bytes(data.replace(b"tools_md/a", b"tools_md/x"))
    again = Baseline(tmp_path)

    assert set(again.load().rows) == {"b"}
    assert "damaged" in again.problem


def test_a_file_without_definitions_is_not_an_empty_file(tmp_path: Path) -> None:
    kept = Baseline(tmp_path)
    assert kept.save(kept.load(), {"a": row("a")})
    assert kept.save(kept.load(), {}, ["a"])

    assert kept.file.stat().st_size > 0
    assert Baseline(tmp_path).load().rows == {}


def test_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    def write(name: str) -> None:
        kept = Baseline(tmp_path)
        for number in range(20):
            while not kept.save(kept.load(), {name: row(name, f"[{number}]")}):
                pass

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {r.spec for r in Baseline(tmp_path).load().rows.values()} == {b"[19]"}
    assert set(Baseline(tmp_path).load().rows) == set("abcd")
