"""Verification finds each changed or missing record, and names it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from audit_project import Project, record

from toolmd._call.audit.log import beginning, next_line
from toolmd._call.audit.reader import CHANGED, CUT, GONE, UNKNOWN, AuditReader, Verified
from toolmd._store import STORE_FILE
from toolmd._types.settings import Settings

TAMPERINGS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "changed": lambda lines: [*lines[:2], lines[2].replace(b"run", b"ran"), *lines[3:]],
    "removed": lambda lines: [*lines[:2], *lines[3:]],
    "repeated": lambda lines: [*lines[:2], lines[1], *lines[2:]],
    "swapped": lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
    "renumbered": lambda lines: [*lines[:2], lines[2].replace(b'"number":2', b'"number":9'),
                                 *lines[3:]],
    "blank": lambda lines: [*lines[:2], b"\n", *lines[2:]],
    "rehashed": lambda lines: [*lines[:2], b'{"hash":"' + b"0" * 64 + lines[2][73:], *lines[3:]],
    "cut off": lambda lines: lines[:2],
    "cut within": lambda lines: [*lines[:2], lines[2][:-5]],
}  # fmt: skip
LEFT = {"removed": 3, "repeated": 5, "blank": 5, "cut off": 1, "cut within": 1}
"""How many lines of records there are then, where not four as before."""


@pytest.mark.parametrize("how", TAMPERINGS)
def test_a_changed_or_missing_record_is_found(project: Project, how: str) -> None:
    project.append(1, 2, 3, 4)

    project.rewrite(TAMPERINGS[how])

    name, problem = project.files()[0].stem, CUT if how.startswith("cut") else CHANGED
    assert project.reader.verify() == Verified(LEFT.get(how, 4), name, 2, problem)


def test_a_chain_that_was_made_anew_does_not_match_the_store(project: Project) -> None:
    project.append(1, 2, 3)
    path = project.files()[0]
    path.chmod(0o600)
    last, forged = beginning(path.stem), b""
    for text in ('{"at":"","file":""}', *map(record, (4, 5, 6))):
        line, last = next_line(last, text)
        forged += line
    path.write_bytes(forged)

    assert project.reader.verify().first_bad == 3


def test_a_removed_file_is_reported(project: Project) -> None:
    project.append(*range(50), max_file=4096)
    gone = project.files()[1]
    gone.unlink()

    left = len(project.numbers())
    assert 0 < left < 50
    assert project.reader.verify() == Verified(left, gone.stem, 1, GONE)


def test_files_that_the_store_does_not_know_are_reported(project: Project) -> None:
    project.append(1)
    project.age(0)
    project.remove_store()

    assert project.reader.verify() == Verified(1, project.files()[0].stem, 2, UNKNOWN)
    assert not (project.settings.state / STORE_FILE).exists()


def test_a_file_that_just_began_need_not_be_noted_yet(project: Project) -> None:
    project.append(1)
    project.remove_store()

    assert project.reader.verify() == Verified(1)


def test_a_store_in_memory_knows_no_file_of_an_earlier_process(project: Project) -> None:
    project.append(1)
    project.age(0)
    settings = Settings(root=project.settings.root, state=project.settings.state, store="memory")

    assert AuditReader(settings).verify() == Verified(1)


def test_each_of_two_damaged_files_counts_its_records_and_the_first_is_named(
    project: Project,
) -> None:
    project.append(*range(50), max_file=4096)
    for file in (0, 1):
        project.rewrite(TAMPERINGS["changed"], file)

    first = project.files()[0].stem
    assert project.reader.verify() == Verified(50, first, 2, CHANGED)


def test_a_renamed_file_is_reported(project: Project) -> None:
    project.append(1, 2)
    path = project.files()[0]
    path.rename(path.with_name("20200101T000000-00000000.jsonl"))

    assert not project.reader.verify().sound


def test_verifying_while_others_write_finds_nothing(project: Project) -> None:
    project.append(1)
    with ThreadPoolExecutor(4) as pool:
        doing = [pool.submit(project.append, *range(200)) for _ in range(3)]
        while not all(done.done() for done in doing):
            assert project.reader.verify().sound
        assert [done.result() for done in doing] == [None] * 3
    assert project.reader.verify() == Verified(601)
