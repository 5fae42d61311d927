"""The lines of an audit file: which are records, and which are damaged, in both directions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._call.audit.log import DamagedError, lines, lines_backward, parsed

MIB = 1024 * 1024


def test_a_line_that_is_no_record_is_damaged() -> None:
    for line in (
        b"no json", b"[]", b"1", b"null", b'"text"', b"[" * 100_000, b"\xff",
        b"{}", b'{"number":1}', b'{"hash":"00"}',
        b'{"number":"1","hash":"00"}', b'{"number":1.5,"hash":"00"}', b'{"number":1,"hash":2}',
    ):  # fmt: skip
        with pytest.raises(DamagedError, match="f: a line "):
            parsed("f", line)


SIZES = [0, 1, 9_000, *(16 * 1024 + change for change in range(-3, 2)), 20_000, MIB - 1]


@given(st.lists(st.sampled_from(SIZES)), st.booleans())
def test_lines_are_the_same_in_both_directions(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], is_torn: bool
) -> None:
    path = tmp_path_factory.mktemp("audit") / "f.jsonl"
    whole = [b"x" * size + b"\n" for size in sizes]
    path.write_bytes(b"".join(whole) + b"torn" * is_torn)

    with path.open("rb") as file:
        assert list(lines(file)) == whole
        assert list(lines_backward(file)) == whole[::-1]


@pytest.mark.parametrize("text", [b"x" * MIB, b"x" * MIB + b"\n", b"\n" + b"x" * 2 * MIB + b"\n"])
def test_a_line_of_more_than_a_mebibyte_is_damaged(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(text)

    for read_lines in (lines, lines_backward):
        with path.open("rb") as file, pytest.raises(DamagedError, match="more than 1048576 bytes"):
            list(read_lines(file))
