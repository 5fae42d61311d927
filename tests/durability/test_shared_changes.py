"""Policy changes wait in the store: each machine of a Postgres sees what another accepted."""

import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from tests import warm_python
from tests.command import Ended, run_command
from tests.definitions import tool

from toolmd import UnreachableError, Workspace
from toolmd._watch import Watcher

TOOL = tool("pay")
STRICT = TOOL + "\n## Safety\n\n- **Requires Confirmation**: true\n"
STRICTER = STRICT + "- **Min Confidence**: 0.5\n"


class Machine:
    """A project in a folder with a state folder of its own."""

    def __init__(self, root: Path, place: str) -> None:
        self.root, self.place = root, place
        (root / "tools_md").mkdir(parents=True)
        (root / "tools_md" / "pay.py").write_text("def pay() -> dict:\n    return {}\n")
        (root / "toolmd.toml").write_text("plugins = []\n")

    def write(self, text: str) -> None:
        (self.root / "tools_md" / "pay.tool.md").write_text(text)

    def open(self) -> Workspace:
        return Workspace.open(self.root, overrides={"store": self.place})

    def outcome(self) -> str:
        """Return how a call ends in a process that begins now."""
        with self.open() as workspace:
            return outcome(workspace)

    def weakened(self) -> Workspace:
        """Open the project, and drop the restriction that was live."""
        self.write(STRICT)
        workspace = self.open()
        self.write(TOOL)
        workspace.reload()
        assert outcome(workspace) == "confirm"
        return workspace

    def command(self, *words: str) -> Ended:
        """Run a command, which opens the project once more."""
        return run_command(self.root, *words, TOOLMD_STORE=self.place)


def outcome(workspace: Workspace) -> str:
    return workspace.call_sync("pay", {}, confidence=0.9).outcome


@pytest.fixture
def here(tmp_path: Path, postgres: str) -> Machine:
    return Machine(tmp_path / "here", postgres)


@pytest.fixture
def there(tmp_path: Path, postgres: str) -> Machine:
    return Machine(tmp_path / "there", postgres)


@pytest.fixture
def machine(tmp_path: Path, place: str) -> Machine:
    made = Machine(tmp_path / "shop", place)
    if place == "sqlite":
        (made.root / ".toolmd").mkdir()
        shutil.copy(tmp_path / "store.sqlite3", made.root / ".toolmd")
    return made


def test_an_acceptance_of_one_machine_is_live_on_another(here: Machine, there: Machine) -> None:
    with here.weakened() as first, there.weakened() as second:
        done = here.command("accept", "pay")
        assert done.code == 0, done.err
        for workspace in (first, second):
            workspace.reload()
            assert outcome(workspace) == "ok"
            assert workspace.changes.list_sync() == ()
    assert (here.outcome(), there.outcome()) == ("ok", "ok")


def test_an_acceptance_of_another_process_is_live_after_a_reload(machine: Machine) -> None:
    with machine.weakened() as workspace:
        assert machine.command("accept", "pay").code == 0
        assert outcome(workspace) == "confirm"
        workspace.reload()
        assert outcome(workspace) == "ok"


def test_a_machine_that_gets_the_edit_after_its_acceptance_does_not_ask_again(
    here: Machine, there: Machine
) -> None:
    there.write(STRICT)
    assert there.outcome() == "confirm"
    with here.weakened() as workspace:
        workspace.changes.accept_sync("pay")

    there.write(TOOL)
    assert there.outcome() == "ok"


def test_a_machine_without_memory_keeps_the_policy_that_others_wait_for(
    here: Machine, there: Machine
) -> None:
    there.write(TOOL)
    with here.weakened(), there.open() as fresh:
        assert outcome(fresh) == "confirm"
        (edit,) = fresh.changes.list_sync()
        assert edit.name == "pay"

        assert there.command("accept", "pay").code == 0
        fresh.reload()
        assert outcome(fresh) == "ok"
    assert here.outcome() == "ok"


def test_another_edit_than_the_accepted_one_waits(here: Machine, there: Machine) -> None:
    with here.weakened() as workspace:
        workspace.changes.accept_sync("pay")
    there.write(STRICT)
    there.outcome()
    there.write(TOOL.replace("Does pay.", "Pays."))

    assert there.outcome() == "confirm"


def test_an_acceptance_over_another_policy_does_not_count(here: Machine, there: Machine) -> None:
    with here.weakened() as workspace:
        workspace.changes.accept_sync("pay")
    there.write(STRICTER)
    there.outcome()
    there.write(TOOL)

    with there.open() as workspace:
        assert [edit.name for edit in workspace.changes.list_sync()] == ["pay"]


def test_an_acceptance_counts_once(machine: Machine) -> None:
    with machine.weakened() as workspace:
        for _ in range(3):
            workspace.changes.accept_sync("pay")
            assert outcome(workspace) == "ok"
            machine.write(STRICT)
            workspace.reload()
            machine.write(TOOL)
            workspace.reload()
            assert outcome(workspace) == "confirm"
    assert machine.outcome() == "confirm"


def test_a_server_follows_the_acceptance_of_another_machine(here: Machine, there: Machine) -> None:
    with here.weakened() as first, there.weakened() as second, Watcher(second):
        first.changes.accept_sync("pay")
        until = time.monotonic() + 60
        while outcome(second) != "ok" and time.monotonic() < until:
            time.sleep(0.05)
        assert outcome(second) == "ok"


def test_a_change_stays_pending_while_the_store_can_not_be_read(
    here: Machine, there: Machine
) -> None:
    there.write(STRICT)
    assert there.outcome() == "confirm"
    with here.weakened() as workspace:
        workspace.changes.accept_sync("pay")
    there.write(TOOL)
    there.place = "postgresql://nobody@127.0.0.1:1/none"

    with there.open() as cut_off:
        # A call that waits for a person needs the store, too.
        assert outcome(cut_off) == "denied"
        assert [edit.name for edit in cut_off.changes.list_sync()] == ["pay"]
        said = [found.message for found in cut_off.registry.diagnostics]
        assert any("the store can't say which edits were accepted" in one for one in said)
        with pytest.raises(UnreachableError):
            cut_off.changes.accept_sync("pay")
        assert [edit.name for edit in cut_off.changes.list_sync()] == ["pay"]
    there.place = here.place
    assert there.outcome() == "ok"


def test_a_new_machine_asks_again_what_an_unreachable_store_could_not_say(
    here: Machine, there: Machine
) -> None:
    there.write(TOOL)
    there.place = "postgresql://nobody@127.0.0.1:1/none"
    with here.weakened():
        there.open().close()
        there.place = here.place
        assert there.outcome() == "confirm"


ACCEPT = """
import sys
from toolmd import Workspace
with Workspace.open(sys.argv[1], overrides={"store": sys.argv[2]}) as workspace:
    workspace.changes.list_sync()
    print("ready", flush=True)
    sys.stdin.readline()
    workspace.changes.accept_sync("pay")
    print("done", flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system ends processes otherwise")
def test_an_acceptance_that_is_killed_at_any_moment_is_whole_or_absent(machine: Machine) -> None:
    words = [sys.executable, "-c", ACCEPT, str(machine.root), machine.place]
    ends = set()
    for turn in (0, 1, 3, 6):
        machine.weakened().close()
        with warm_python.Popen(words, stdin=-1, stdout=-1, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            process.stdin.write("\n")
            process.stdin.flush()
            time.sleep(turn * 0.003)
            process.kill()
            done = process.stdout.read() == "done\n"
        ends.add(done)
        found = machine.outcome()
        assert found == "ok" if done else found in {"ok", "confirm"}
        if found == "confirm":
            assert machine.command("accept", "pay").code == 0
            assert machine.outcome() == "ok"
    assert False in ends
