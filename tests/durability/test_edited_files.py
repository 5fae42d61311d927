"""A run keeps its own definitions, whatever happens to their files, and has today's Python."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests import warm_python
from tests.definitions import skill, tool

from toolmd import Workspace

ACT = tool(
    "act",
    "- **what** (string, required): What to do",
    metadata="- **Idempotent**: keyed\n",
)
UNDO = ACT.replace("Act", "Undo").replace("act", "undo")
PYTHON = '''"""Write down what is done."""

from .words import WORD
from .plugin import Notes


async def act(what: str, *, notes: Notes) -> dict[str, str]:
    return notes.write(f"{WORD} {what} by {notes.name}")
'''
WORDS = '"""The word."""\n\nWORD = "did"\n'
PLUGIN = '''"""Give the notes."""

from pathlib import Path

from toolmd.hooks import hookimpl


class Notes:
    def __init__(self, root: Path) -> None:
        self.name = "first"
        self.root = root

    def write(self, line: str) -> dict[str, str]:
        with (self.root / "notes.txt").open("a") as notes:
            notes.write(line + "\\n")
        return {"line": line}


@hookimpl
def toolmd_resources(registry, settings):
    registry.register_value(Notes, Notes(settings.root))
'''
GUARD = """

from toolmd import Action, Verdict


@hookimpl
def toolmd_guards(spec):
    def closed(call, arguments):
        return Verdict(Action.DENY, "closed", "closed today")

    return [closed] if spec.name == 'act' else []
"""
SKILL = skill(
    "job",
    "act, undo",
    """1. **Begin**.
   - **Use**: act
   - **With**:
     - what: begin
   - **Undo**: undo
     - what: begin

2. **Agree**.
   - **Ask**: Go on?

3. **Act**.
   - **Use**: act
   - **With**:
     - what: end
   - **Save as**: acted

4. **Return**:
   - line: `acted.line`""",
)
FILES = {
    "toolmd.toml": 'store = "sqlite"\nplugins = []\n',
    "tools_md/act.tool.md": ACT,
    "tools_md/act.py": PYTHON,
    "tools_md/undo.tool.md": UNDO,
    "tools_md/undo.py": PYTHON.replace("act(", "undo(").replace("{WORD}", "un{WORD}"),
    "tools_md/words.py": WORDS,
    "tools_md/plugin.py": PLUGIN,
    "skills_md/job.skill.md": SKILL,
}


class Project:
    """A project whose run waits for a person; each `open` is another process's view of it."""

    def __init__(self, root: Path, files: Mapping[str, str] = FILES) -> None:
        self.root = root
        self.run_id = "run-1"
        for path, text in files.items():
            self.write(path, text)
        if not (root / ".toolmd").exists():
            self.begin()

    def begin(self) -> None:
        """Run up to the question."""
        with self.open() as workspace:
            workspace.run_sync("job", {}, run_id=self.run_id)

    def open(self) -> Workspace:
        return Workspace.open(self.root, overrides={"store": "sqlite"})

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text("utf-8")
        assert old in text
        self.write(path, text.replace(old, new))

    def remove(self, *paths: str) -> None:
        for path in paths:
            (self.root / path).unlink()

    def answer(self, key: str = "2:ask", *, approved: bool = True) -> Any:
        """Answer the run's question, in a process that began after the edit."""
        with self.open() as workspace:
            name = f"{self.run_id}/{key}"
            return (
                workspace.confirmations.approve_sync(name)
                if approved
                else workspace.confirmations.reject_sync(name)
            )

    def asked(self) -> list[str]:
        with self.open() as workspace:
            return [question.key for question in workspace.runs.get_sync(self.run_id).questions]

    def result(self) -> Any:
        with self.open() as workspace:
            return workspace.runs.get_sync(self.run_id).result

    def notes(self) -> list[str]:
        return (self.root / "notes.txt").read_text("utf-8").splitlines()


@pytest.fixture(scope="session")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose run waits."""
    return Project(tmp_path_factory.mktemp("waiting")).root


@pytest.fixture
def project(waiting: Path, tmp_path: Path) -> Project:
    """A copy of it, at another place, as on another machine."""
    shutil.copytree(waiting, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)


DONE = ["did begin by first", "did end by first"]


def test_edited_definitions_do_not_change_a_run_which_has_todays_python(project: Project) -> None:
    project.edit("tools_md/words.py", "did", "CHANGED")
    project.edit("tools_md/plugin.py", '"first"', '"second"')
    project.edit("tools_md/act.tool.md", "(string, required)", "(integer, required)")
    project.edit("skills_md/job.skill.md", "what: end", "what: another end")
    project.answer()
    assert project.notes() == [DONE[0], "CHANGED end by second"]
    assert project.result().data == {"line": "CHANGED end by second"}


def test_broken_definitions_do_not_strand_a_run(project: Project) -> None:
    broken = "# Act\n\n## Parameters\n\n### what\n\n- **Type**: strng\n"
    project.write("tools_md/act.tool.md", broken)
    project.write("skills_md/job.skill.md", "# Job\n")
    project.answer()
    assert project.notes() == DONE


def test_a_deleted_skill_does_not_strand_its_run(project: Project) -> None:
    project.remove("skills_md/job.skill.md")
    project.answer()
    assert project.notes() == DONE


def test_within_one_process_a_stricter_policy_applies_from_the_next_question(
    project: Project,
) -> None:
    with project.open() as workspace:
        run = workspace.run_sync("job", {}, run_id="run-2")
        project.write(
            "tools_md/act.tool.md", ACT + "\n## Safety\n\n- **Requires Confirmation**: true\n"
        )
        workspace.reload()
        workspace.confirmations.approve_sync(f"{run.run_id}/2:ask")
        assert [q.key for q in workspace.runs.get_sync("run-2").questions] == ["3:act:ask0"]
        workspace.confirmations.approve_sync("run-2/3:act:ask0")
    assert project.notes()[1:] == DONE


def test_a_run_whose_tool_was_deleted_waits_for_a_person(project: Project) -> None:
    definition = (project.root / "tools_md/act.tool.md").read_text("utf-8")
    project.remove("tools_md/act.tool.md")
    project.answer()
    assert project.asked() == ["python:gone"]
    assert project.result() is None
    project.write("tools_md/act.tool.md", definition)
    project.answer("python:gone")
    assert project.notes() == DONE


def test_a_run_whose_tool_was_deleted_undoes_its_steps_on_a_no(project: Project) -> None:
    project.remove("tools_md/act.tool.md")
    project.answer()
    project.answer("python:gone", approved=False)
    assert project.result().error.code == "cancelled"
    assert project.notes() == ["did begin by first", "undid begin by first"]


def test_a_policy_that_was_made_stricter_since_applies(project: Project) -> None:
    project.write(
        "tools_md/act.tool.md", ACT + "\n## Safety\n\n- **Requires Confirmation**: true\n"
    )
    project.answer()
    assert project.asked() == ["3:act:ask0"]
    assert project.notes() == DONE[:1]
    project.answer("3:act:ask0")
    assert project.notes() == DONE


def test_a_policy_that_was_weakened_since_stays_as_it_was(tmp_path: Path) -> None:
    firm = ACT + "\n## Safety\n\n- **Requires Confirmation**: true\n"
    project = Project(tmp_path, FILES | {"tools_md/act.tool.md": firm})
    project.write("tools_md/act.tool.md", ACT)
    with project.open() as workspace:
        workspace.changes.accept_sync("act")
        workspace.confirmations.approve_sync(f"{project.run_id}/1:act:ask0")
    project.answer()
    assert project.asked() == ["3:act:ask0"]


def test_a_guard_that_was_added_since_decides_too(project: Project) -> None:
    project.write("tools_md/plugin.py", PLUGIN + GUARD)
    project.answer()
    assert not project.result().success
    assert "closed today" in project.result().message


def test_a_library_that_is_gone_parks_the_run_instead_of_failing_it(tmp_path: Path) -> None:
    python = PYTHON.replace(
        "from .words",
        "from pathlib import Path\n\nif not Path(__file__).with_name('library.txt').exists():\n"
        "    raise ModuleNotFoundError('no library')\nfrom .words",
    )
    library = {"tools_md/library.txt": "here", "tools_md/act.py": python}
    project = Project(tmp_path, FILES | library)
    project.remove("tools_md/library.txt")
    project.answer()
    assert project.asked() == ["python:gone"]
    project.root.joinpath("tools_md/library.txt").touch()
    project.answer("python:gone")
    assert project.notes() == DONE


def test_check_names_the_runs_that_wait_on_changed_python(project: Project) -> None:
    words = [sys.executable, "-m", "toolmd", "check", "--project", str(project.root)]
    environment = {**os.environ, "TOOLMD_STORE": "sqlite"}

    def notes() -> str:
        done = warm_python.run(words, env=environment, capture_output=True, text=True, check=False)
        return done.stderr

    assert "today's Python" not in notes()
    project.edit("tools_md/words.py", "did", "CHANGED")
    assert "note: 1 run of job will go on with today's Python, which changed" in notes()
