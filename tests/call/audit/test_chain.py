"""The lines of an audit file: which are records, and which are damaged, in both directions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._call.audit.log import (
    DamagedError,
    Record,
    beginning,
    lines,
    lines_backward,
    next_line,
    parsed,
    place_of,
)

MIB = 1024 * 1024


def line_with(number: str, digest: bytes = b"0" * 64) -> bytes:
    """Return a line that states a number and a hash."""
    return b'{"hash":"' + digest + b'","number":' + number.encode() + b',"tool":"ring"}\n'


def read(path: Path) -> list[bytes]:
    """Return the lines of a file, which are the same in both directions."""
    with path.open("rb") as file:
        forward, backward = list(lines(file)), list(lines_backward(file))
    assert backward == forward[::-1]
    return forward


def test_a_record_as_json_has_its_place_and_its_hash() -> None:
    assert Record("f", 3, {"tool": "ring"}, "00").to_dict() == {
        "id": "f:3", "number": 3, "file": "f", "tool": "ring", "hash": "00"
    }  # fmt: skip


def test_a_line_is_read_back_as_the_record_that_was_written() -> None:
    line, end = next_line(beginning("f"), '{"tool":"ring"}')

    assert parsed("f", line) == Record("f", 0, {"tool": "ring"}, end.hash)
    assert place_of(line) == end


@pytest.mark.parametrize("number", ["0", "7", "9" * 19])
def test_a_line_states_its_number(number: str) -> None:
    place = place_of(line_with(number))

    assert place is not None
    assert (place.number, place.hash) == (int(number), "0" * 64)


def test_a_stated_hash_may_be_any_bytes() -> None:
    place = place_of(line_with("7", b"\xff" * 64))

    assert place is not None
    assert place.number == 7


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", line_with("x"), line_with("-1"), line_with("9" * 20), line_with("7")[:85]],
    ids=["empty", "blank", "no number", "negative", "20 digits", "cut within the number"],
)
def test_a_line_that_states_no_number_has_no_place(line: bytes) -> None:
    assert place_of(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b"no json", b"[]", b"1", b"null", b'"text"', b"[" * 100_000, b"\xff",
        b"{}", b'{"number":1}', b'{"hash":"00"}',
        b'{"number":"1","hash":"00"}', b'{"number":1.5,"hash":"00"}', b'{"number":1,"hash":2}',
    ],
    ids=lambda line: line[:30].decode("ascii", "replace"),
)  # fmt: skip
def test_a_line_that_is_no_record_is_damaged(line: bytes) -> None:
    with pytest.raises(DamagedError, match="f: a line "):
        parsed("f", line)


@pytest.mark.parametrize("size", [16 * 1024 + change for change in range(-2, 3)])
def test_lines_around_the_size_of_a_block_are_whole(tmp_path: Path, size: int) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"\n" + b"x" * (size - 2) + b"\n")

    assert read(path) == [b"\n", b"x" * (size - 2) + b"\n"]


@given(st.lists(st.sampled_from([b"", b"x", b"y" * 9_000, b"z" * 20_000])), st.booleans())
def test_lines_are_the_same_in_both_directions(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], is_torn: bool
) -> None:
    path = tmp_path_factory.mktemp("audit") / "f.jsonl"
    path.write_bytes(b"".join(text + b"\n" for text in texts) + b"torn" * is_torn)

    assert read(path) == [text + b"\n" for text in texts]


def test_a_line_of_a_mebibyte_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"x" * (MIB - 1) + b"\n")

    assert [len(line) for line in read(path)] == [MIB]


def test_an_unfinished_line_of_less_than_a_mebibyte_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"x" * (MIB - 1))

    assert read(path) == []


@pytest.mark.parametrize("text", [b"x" * MIB, b"x" * MIB + b"\n", b"\n" + b"x" * 2 * MIB + b"\n"])
def test_a_line_of_more_than_a_mebibyte_is_damaged(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(text)

    for read_lines in (lines, lines_backward):
        with path.open("rb") as file, pytest.raises(DamagedError, match="more than 1048576 bytes"):
            list(read_lines(file))
