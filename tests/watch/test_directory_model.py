"""After any changes of a file, the live version follows the rules."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from watched_shop import tool

from toolmd import Registry, Workspace
from toolmd._watch.watcher import SETTLE_S, FileEvent, Follower

RESTRICTIONS = {
    "auth": "- **Requires Auth**: true\n",
    "confirm": "- **Requires Confirmation**: true\n",
    "calls": "- **Max Calls**: 3\n",
}
Rules = frozenset[str]
NAMES = ("one", "two")
restrictions = st.frozensets(st.sampled_from(sorted(RESTRICTIONS)))
names = st.sampled_from(NAMES)


def text_of(name: str, rules: Rules, words: int) -> str:
    extra = "\n## Safety\n\n" + RESTRICTIONS["confirm"] if "confirm" in rules else ""
    extra += "\n## Limits\n\n" + RESTRICTIONS["calls"] if "calls" in rules else ""
    text = tool(name, extra=extra).replace(f"Does {name}.", f"Does {name} {words}.")
    auth = "- **Category**: test\n" + RESTRICTIONS["auth"]
    return text.replace("- **Category**: test\n", auth) if "auth" in rules else text


class Tool:
    """What the rules say of one file and its tool."""

    def __init__(self) -> None:
        self.file: tuple[Rules, int] | str = "gone"
        """What stands on the disk: restrictions and words, `broken`, or `gone`."""
        self.read: tuple[Rules, int] | str = "gone"
        """What stood there when it was read last."""
        self.policy: Rules | None = None
        """What was live last; it outlives the file."""
        self.words = 0
        self.live = False
        self.dirty = False

    def look(self) -> None:
        """Read the file."""
        self.read = self.file
        if isinstance(self.read, str):
            self.live = self.read == "broken" and self.policy is not None
            return
        rules, self.words = self.read
        self.policy = rules | (self.policy or frozenset())
        self.live = True

    def accept(self) -> None:
        if isinstance(self.read, tuple):
            self.policy = self.read[0]

    @property
    def held(self) -> bool:
        return isinstance(self.read, tuple) and self.policy != self.read[0]

    @property
    def stale(self) -> bool:
        return self.live and self.read == "broken"


class Directory(RuleBasedStateMachine):
    """A directory that people edit, a workspace that follows it, and the clock."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        (self.root / "tools_md").mkdir()
        self.tools = {name: Tool() for name in NAMES}
        self.now = 0.0
        self.changed_at: float | None = None
        self.git = False
        self.heard = 0
        self.swaps = 0
        self.open()

    def open(self) -> None:
        self.workspace = Workspace.open(self.root, overrides={"plugins": []})
        self.workspace.on_change(self.hear)
        self.follower = Follower(self.workspace, busy=lambda: self.git)
        self.changed_at = None
        self.look()

    def hear(self, old: Registry, new: Registry) -> None:
        assert old is not new
        assert new is self.workspace.registry
        self.heard += 1

    def look(self) -> None:
        for known in self.tools.values():
            known.look()

    def file(self, name: str) -> Path:
        return self.root / f"tools_md/{name}.tool.md"

    def change(self, name: str, kind: str = "modified") -> None:
        self.follower.hear(FileEvent(kind, str(self.file(name))), self.now)
        self.changed_at = self.now

    @rule(name=names, rules=restrictions, words=st.integers(0, 2))
    def save(self, name: str, rules: Rules, words: int) -> None:
        self.file(name).write_text(text_of(name, rules, words))
        self.tools[name].file = (rules, words)
        self.change(name)

    @rule(name=names, rules=restrictions, cut=st.integers(0, 120))
    def save_half(self, name: str, rules: Rules, cut: int) -> None:
        self.file(name).write_text(text_of(name, rules, 0)[:cut])
        self.tools[name].file = "broken"
        self.change(name)

    @rule(name=names)
    def delete(self, name: str) -> None:
        self.file(name).unlink(missing_ok=True)
        self.tools[name].file = "gone"
        self.change(name, "deleted")

    @rule()
    def read_only_events(self) -> None:
        self.follower.hear(FileEvent("opened", str(self.file("one"))), self.now)
        self.follower.hear(FileEvent("created", str(self.root / "tools_md/4913")), self.now)

    @rule(busy=st.booleans())
    def git_begins_or_ends(self, *, busy: bool) -> None:
        self.git = busy

    @rule(seconds=st.sampled_from([0.01, 0.1, SETTLE_S, 1.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        before = self.heard
        registry = self.workspace.registry
        self.follower.step(self.now)
        over = self.changed_at is not None and self.now >= self.changed_at + SETTLE_S
        if over and not self.git:
            self.look()
            self.changed_at = None
        assert self.heard - before == (self.workspace.registry is not registry)
        assert self.heard - before <= 1

    @rule()
    def restart(self) -> None:
        self.workspace.close()
        self.open()

    @rule(name=names)
    def accept(self, name: str) -> None:
        if any(edit.name == name for edit in self.workspace.changes.list_sync()):
            self.workspace.changes.accept_sync(name)
            self.tools[name].accept()
            # Whoever acknowledges sees what is live then, and so all files are read.
            self.look()

    @precondition(lambda self: self.changed_at is None)
    @rule()
    def look_again(self) -> None:
        registry = self.workspace.registry
        assert self.workspace.reload() is registry

    @invariant()
    def what_is_live_is_what_the_rules_say(self) -> None:
        tools = self.workspace.tools
        assert set(tools) == {name for name, known in self.tools.items() if known.live}
        for name, bound in tools.items():
            known, spec = self.tools[name], bound.spec
            enforced = {
                "auth": spec.requires_auth,
                "confirm": spec.safety.requires_confirmation,
                "calls": spec.limits.quotas,
            }
            assert {rule for rule, on in enforced.items() if on} == known.policy
            assert bound.stale == known.stale
            assert spec.description == f"Does {name} {known.words}."

    @invariant()
    def pending_changes_are_reported(self) -> None:
        held = {edit.name for edit in self.workspace.changes.list_sync()}
        assert held == {name for name, known in self.tools.items() if known.held}
        told = {d.code for d in self.workspace.registry.diagnostics}
        assert ("weakened-policy" in told) == bool(held)

    def teardown(self) -> None:
        self.workspace.close()
        shutil.rmtree(self.root)


Directory.TestCase.settings = settings(
    max_examples=settings.default.max_examples // 2, stateful_step_count=30
)
TestDirectory = Directory.TestCase
