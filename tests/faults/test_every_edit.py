"""A failure while an edit is read never makes the live or the stored policy weaker."""

import gc
import logging
from collections.abc import Iterator
from itertools import count

import pytest
from breaking import SECRET, Breaker, Fault

from toolmd import Workspace
from toolmd._load.baseline import Baseline
from toolmd._load.cache import decode
from toolmd.errors import ConfigError

TOOL = """# {title}

Do it, for the {number}. time.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: test

## Parameters

### word

- **Type**: string
- **Required**: true
- **Description**: What
- **Max Length**: {length}

## Returns

- **Type**: object
- **Description**: What came of it

## Safety

{safety}
"""
SETTINGS = """tools = ["tools_md"]
skills = []
plugins = []
audit = {audit}
[safety]
default_min = {least}
"""
STRICT = {"length": 5, "safety": "- **Requires Confirmation**: true\n- **Sensitivity**: {how}"}
LOOSE = {"length": 50, "safety": "- **Explicit Intent**: false"}


class World:
    """A project whose files are edited while it is open."""

    def __init__(self, root):
        self.root, self.number = root, 0
        (root / "tools_md").mkdir()
        for name in ("say", "keep"):
            self.write(name, how="critical" if name == "keep" else "high")
            (root / "tools_md" / f"{name}.py").write_text(f"async def {name}(word): return {{}}\n")
        self.settings(least=0.6, audit="true")

    def write(self, name, file="", how="high", policy=STRICT):
        self.number += 1
        safety = policy["safety"].format(how=how)
        text = TOOL.format(
            title=name.title(), name=name, number=self.number, length=policy["length"],
            safety=safety,
        )  # fmt: skip
        (self.root / "tools_md" / f"{file or name}.tool.md").write_text(text)

    def settings(self, least, audit):
        self.number += 1
        text = SETTINGS.format(least=least, audit=audit) + f"# {self.number}\n"
        (self.root / "toolmd.toml").write_text(text)

    def remembered(self):
        """Give what the next process will know to have been live: specs by their names."""
        rows = Baseline(self.root / ".toolmd").load().rows
        return {name: decode(row.kind, row.spec) for name, row in rows.items()}


def edit_weakens(world):
    world.write("say", policy=LOOSE)


def edit_renames_and_weakens(world):
    (world.root / "tools_md" / "say.tool.md").unlink(missing_ok=True)
    world.write("say", file=f"say{world.number % 2}", policy=LOOSE)
    (world.root / "tools_md" / f"say{world.number % 2}.tool.md").unlink(missing_ok=True)


def edit_breaks(world):
    world.write("say", policy={"length": 50, "safety": "- **Sensitivity**: odd"})
    world.write("keep", policy={"length": 50, "safety": "- **Sensitivity**: odd"})


def edit_weakens_settings(world):
    world.settings(least=0.1, audit="false")


EDITS = [edit_weakens, edit_renames_and_weakens, edit_breaks, edit_weakens_settings]
FIRST = [pytest.param(edit, marks=[pytest.mark.slow] if number else [])
         for number, edit in enumerate(EDITS)]  # fmt: skip
"""The first edit each time, and the others once a day."""


def chosen():
    """Yield the calls to break: each of the first hundred, then every thirteenth.

    With the store, an edit makes thousands of calls.
    """
    yield from range(1, 101)
    yield from count(101, 13)


def is_strict(workspace):
    """See that all that was restricted is."""
    assert workspace.settings.audit.enabled
    assert workspace.settings.safety.default_min == 0.6
    for name, how in (("say", "high"), ("keep", "critical")):
        # A tool that is not there can't be called.
        if (bound := workspace.tools.get(name)) is not None:
            hold_to(bound.spec, how)
            hold_to(bound.call_spec, how)


def hold_to(said, how):
    assert (said.safety.requires_confirmation, said.safety.sensitivity) == (True, how)
    assert said.parameters[0].shape.max_length == 5


# What is cleared away meanwhile is broken as well.
ODD_ENDS = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Clear away here what was broken, so that no later test is told of it."""
    yield
    gc.collect()


@ODD_ENDS
@pytest.mark.parametrize("edit", FIRST)
def test_a_reload_that_fails_anywhere_weakens_no_live_policy(tmp_path, caplog, edit):
    caplog.set_level(logging.CRITICAL)
    world = World(tmp_path)
    workspace = Workspace.open(tmp_path)
    assert workspace.diagnostics == ()
    for at in chosen():
        edit(world)
        breaker = Breaker(at, once="_parse/")
        try:
            with breaker:
                workspace.reload()
        except Fault:
            pass
        is_strict(workspace)
        remembered = world.remembered()
        hold_to(remembered["say"], "high")
        hold_to(remembered["keep"], "critical")
        if not breaker.chain:
            break
    assert at > 100
    told = " ".join(str(found) for found in workspace.diagnostics)
    assert SECRET not in told
    if edit is not edit_weakens_settings:  # which a new start takes
        with Workspace.open(tmp_path) as fresh:
            is_strict(fresh)
    # Nothing was left behind that keeps the next edit out.
    for name, how in (("say", "high"), ("keep", "critical")):
        world.write(name, how=how)
    for file in ("say0", "say1"):
        (tmp_path / "tools_md" / f"{file}.tool.md").unlink(missing_ok=True)
    world.settings(least=0.6, audit="true")
    workspace.reload()
    assert workspace.diagnostics == ()
    assert set(workspace.tools) == {"say", "keep"}
    is_strict(workspace)
    workspace.close()


@ODD_ENDS
@pytest.mark.slow
def test_an_acceptance_that_fails_anywhere_applies_only_the_accepted_change(tmp_path, caplog):
    caplog.set_level(logging.CRITICAL)
    world = World(tmp_path)
    workspace = Workspace.open(tmp_path)
    for at in chosen():
        if not any(edit.name == "say" for edit in workspace.changes.list_sync()):
            # The last one was agreed to: back to where this began.
            world.write("say")
            workspace.reload()
            for name in ("say", "keep"):
                world.write(name, policy=LOOSE)
            workspace.reload()
        breaker = Breaker(at, once="_parse/")
        try:
            with breaker:
                workspace.changes.accept_sync("say")
        except Fault:
            pass
        # A tool that is not there can't be called.
        if (kept := workspace.tools.get("keep")) is not None:
            assert kept.call_spec.safety.sensitivity == "critical", breaker.chain
        if not breaker.chain:
            break
    assert at > 100
    assert [edit.name for edit in workspace.changes.list_sync()] == ["keep"]
    assert workspace.tools["say"].call_spec.safety.sensitivity is None
    workspace.close()


@ODD_ENDS
@pytest.mark.slow
def test_a_project_that_fails_to_open_anywhere_is_closed_or_as_strict(tmp_path, caplog):
    caplog.set_level(logging.CRITICAL)
    world = World(tmp_path)
    with Workspace.open(tmp_path):
        pass
    for edit in EDITS[:2]:
        edit(world)
    for at in chosen():
        breaker = Breaker(at, once="_parse/")
        try:
            with breaker:
                workspace = Workspace.open(tmp_path)
        except (Fault, ConfigError):
            continue
        with workspace:
            is_strict(workspace)
        if not breaker.chain:
            break
    assert at > 100
