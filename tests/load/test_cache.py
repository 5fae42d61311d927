"""The cache of parsed specs: fast if it is valid, and not used if it may not be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bind_project import Project, parameter, tool
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.definitions import skill

from toolmd._load.cache import INDEX, PAYLOAD, Cache, CacheEntry
from toolmd._workspace.reader import PACKAGES, FileReader


class CountingReader(FileReader):
    """The real reader, and how often it parsed."""

    def __init__(self) -> None:
        super().__init__(None)
        self.parsed = 0
        self.checked = 0

    def parse(self, kind, data, path):
        self.parsed += 1
        return super().parse(kind, data, path)

    def check_skill(self, spec, tools, skills, *, implemented):
        self.checked += 1
        return super().check_skill(spec, tools, skills, implemented=implemented)


SKILL = skill(
    "greet_everyone",
    "one",
    """1. **Greet**.
   - **Use**: one
   - **With**:
     - date: today""",
)


@pytest.fixture
def filled(project: Project) -> Project:
    """A project with a warm cache."""
    project.reader = CountingReader()
    project.tool("one", parameter("date"))
    project.tool("two")
    project.write("tools_md/hinted.tool.md", tool("hinted", parameter("days", "array")))
    project.write("tools_md/bad.tool.md", "nothing")
    project.write("tools_md/greet-everyone.skill.md", SKILL)
    project.build(cached=True)
    return project


def again(project: Project) -> tuple[int, int, object]:
    """Build once more: how often it parsed and checked, and what came of it."""
    project.reader = CountingReader()
    snapshot = project.build(cached=True)
    return project.reader.parsed, project.reader.checked, snapshot


def test_a_file_that_was_read_before_is_not_parsed_again(filled: Project) -> None:
    fresh = filled.build()

    parsed, checked, kept = again(filled)

    assert (parsed, checked) == (0, 0)
    assert kept.registry.diagnostics == fresh.registry.diagnostics
    assert {d.code for d in kept.registry.diagnostics} >= {"array-without-items"}
    for side in ("tools", "skills"):
        ours, theirs = getattr(kept.registry, side), getattr(fresh.registry, side)
        assert {n: b.spec for n, b in ours.items()} == {n: b.spec for n, b in theirs.items()}


def test_only_changed_files_are_parsed(filled: Project) -> None:
    filled.tool("two", parameter("more"))

    parsed, checked, snapshot = again(filled)

    assert (parsed, checked) == (1, 0)
    assert snapshot.registry.tools["two"].spec.parameters[0].name == "more"


def test_a_skill_is_checked_again_when_a_tool_of_its_changed(filled: Project) -> None:
    filled.tool("one", parameter("day"))

    parsed, checked, snapshot = again(filled)

    assert (parsed, checked) == (1, 1)
    assert not snapshot.registry.skills


def test_the_same_bytes_at_another_path_are_parsed_again(filled: Project) -> None:
    (filled.root / "tools_md/two.tool.md").rename(filled.root / "tools_md/deux.tool.md")

    parsed, _, snapshot = again(filled)

    assert parsed == 1
    assert snapshot.registry.tools["two"].spec.source.path == "tools_md/deux.tool.md"


READ = """
import sys
from toolmd import parse_skill, parse_tool
parse_tool("# A", "a.tool.md"), parse_skill("# A", "a.skill.md")
import toolmd._skills.check
print(*{name.split(".")[1] for name in sys.modules if name.startswith("toolmd.")})
"""


def test_the_fingerprint_covers_every_package_that_reads_files() -> None:
    read = subprocess.run(
        [sys.executable, "-c", READ], capture_output=True, text=True, check=True
    ).stdout.split()

    assert set(PACKAGES) == set(read) - {"errors"}


def test_another_parser_does_not_use_it(filled: Project) -> None:
    class Newer(CountingReader):
        fingerprint = "newer"

    filled.reader = Newer()
    filled.build(cached=True)

    assert filled.reader.parsed == 5


@pytest.mark.parametrize("name", [INDEX, PAYLOAD])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="emptied"),
        pytest.param(lambda data: data[: len(data) // 2], id="halved"),
        pytest.param(lambda data: data[:-1], id="cut"),
        pytest.param(lambda data: data.replace(b"one", b"eno"), id="edited"),
        pytest.param(lambda data: b"\x00" * len(data), id="zeroed"),
        pytest.param(lambda data: b"[" * 200_000, id="nested"),
        pytest.param(lambda data: data + b"x", id="longer"),
    ],
)
def test_a_damaged_cache_is_built_again(filled: Project, name: str, damage) -> None:
    file = filled.root / ".toolmd" / name
    file.write_bytes(damage(file.read_bytes()))

    parsed, _, snapshot = again(filled)

    assert parsed == 5
    assert sorted(snapshot.registry.tools) == ["hinted", "one", "two"]
    assert again(filled)[0] == 0


def sealed(folder: Path, index: object, payload: bytes) -> None:
    """Write a cache whose hashes hold, whatever is in it."""
    import hashlib

    body = json.dumps(index).encode()
    seal = hashlib.sha256(body).hexdigest().encode()
    (folder / INDEX).write_bytes(seal + b"\n" + body)
    (folder / PAYLOAD).write_bytes(payload)


def with_entries(change):
    """Give what changes each entry of an index."""
    return lambda head: {**head, "entries": {p: change(e) for p, e in head["entries"].items()}}


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda head: [], id="a list"),
        pytest.param(lambda head: {}, id="nothing in it"),
        pytest.param(lambda head: {**head, "format": 99}, id="another format"),
        pytest.param(lambda head: {**head, "entries": []}, id="entries of another kind"),
        pytest.param(lambda head: {**head, "checks": 3}, id="checks of another kind"),
        pytest.param(with_entries(lambda e: e[:3]), id="entries too short"),
        pytest.param(with_entries(lambda e: [*e[:5], 7]), id="diagnostics of another kind"),
        pytest.param(with_entries(lambda e: [*e[:5], [{"path": 1}]]), id="diagnostics lacking"),
        pytest.param(with_entries(lambda e: [e[0], 5, *e[2:]]), id="a name of another kind"),
    ],
)
def test_an_invalid_cache_is_built_again(filled: Project, spoil) -> None:
    folder = filled.root / ".toolmd"
    head = json.loads((folder / INDEX).read_bytes().partition(b"\n")[2])
    sealed(folder, spoil(head), (folder / PAYLOAD).read_bytes())

    _, _, snapshot = again(filled)

    assert sorted(snapshot.registry.tools) == ["hinted", "one", "two"]
    assert [d.code for d in snapshot.registry.diagnostics if d.severity == "error"]


def test_a_spec_that_cannot_be_decoded_is_read_from_its_file(filled: Project) -> None:
    import hashlib

    folder = filled.root / ".toolmd"
    head = json.loads((folder / INDEX).read_bytes().partition(b"\n")[2])
    payload = b" " * len((folder / PAYLOAD).read_bytes())
    sealed(folder, {**head, "payload": hashlib.sha256(payload).hexdigest()}, payload)

    _, _, snapshot = again(filled)

    assert snapshot.registry.tools["one"].spec.parameters[0].name == "date"


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda payload: b" " * len(payload), id="nothing at all"),
        pytest.param(lambda payload: payload.replace(b'"title"', b'"tilte"'), id="no title"),
    ],
)
def test_the_hash_of_an_undecodable_spec_is_that_of_its_file(filled: Project, spoil) -> None:
    import hashlib

    before = again(filled)[2].registry.tools["one"].spec.hash
    folder = filled.root / ".toolmd"
    head = json.loads((folder / INDEX).read_bytes().partition(b"\n")[2])
    payload = spoil((folder / PAYLOAD).read_bytes())
    sealed(folder, {**head, "payload": hashlib.sha256(payload).hexdigest()}, payload)

    parsed, _, snapshot = again(filled)

    assert parsed == 0
    assert snapshot.registry.tools["one"].hash == before


def test_a_cache_that_others_can_write_is_not_used(filled: Project) -> None:
    (filled.root / ".toolmd").chmod(0o777)

    assert again(filled)[0] == 5


def test_links_in_place_of_the_cache_are_not_followed(filled: Project) -> None:
    folder = filled.root / ".toolmd"
    (folder / INDEX).rename(filled.root / "elsewhere")
    (folder / INDEX).symlink_to(filled.root / "elsewhere")

    assert again(filled)[0] == 5
    assert not (folder / INDEX).is_symlink()


def test_a_state_folder_that_cannot_be_made_costs_only_time(project: Project) -> None:
    project.write(".toolmd", "a file in its place")
    project.tool("one")

    assert list(project.build(cached=True).registry.tools) == ["one"]
    assert (project.root / ".toolmd").read_text() == "a file in its place"


def test_only_the_user_enters_the_state_folder(filled: Project) -> None:
    folder = filled.root / ".toolmd"

    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / INDEX).stat().st_mode & 0o777 == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"
    assert not list(folder.glob(".specs*"))


def test_a_removed_file_leaves_the_cache(filled: Project) -> None:
    (filled.root / "tools_md/two.tool.md").unlink()
    again(filled)

    assert b"two" not in (filled.root / ".toolmd" / PAYLOAD).read_bytes()


paths = st.text(min_size=1, max_size=20).filter(lambda text: max(text) < "\ud800")


@settings(max_examples=settings.default.max_examples // 2)
@given(
    entries=st.dictionaries(
        paths,
        st.builds(
            CacheEntry,
            st.text("0123456789abcdef", min_size=64, max_size=64),
            st.text("abc_", max_size=8),
            st.binary(max_size=50),
            st.lists(st.text("abc"), max_size=3).map(tuple),
            st.just(()),
        ),
        max_size=8,
    )
)
def test_a_loaded_cache_equals_the_saved_one(tmp_path_factory, entries) -> None:
    folder = tmp_path_factory.mktemp("state")
    folder.chmod(0o700)
    Cache(folder, "p").save(entries, {"key": []})

    loaded = Cache.load(folder, "p")

    assert loaded.entries == entries
    assert loaded.checks == {"key": []}


@given(data=st.binary(max_size=400), payload=st.binary(max_size=100))
def test_no_bytes_in_its_place_raise(tmp_path_factory, data: bytes, payload: bytes) -> None:
    folder = tmp_path_factory.mktemp("state")
    folder.chmod(0o700)
    (folder / INDEX).write_bytes(data)
    (folder / PAYLOAD).write_bytes(payload)

    assert Cache.load(folder, "p").entries == {}
