"""Folders of definitions: whatever lies there, what can be read is read."""

import os
from pathlib import Path

import pytest
from bind_project import Project, tool

from toolmd._load.files import MAX_DEFINITION
from toolmd._workspace.reader import FileReader


def codes(project: Project) -> list[tuple[str, str]]:
    return [(d.code, d.span.path) for d in project.build().registry.diagnostics]


def test_definitions_are_found_at_any_depth_in_the_order_of_their_paths(project: Project) -> None:
    for path in ("b.tool.md", "a/z.tool.md", "a/b/c.tool.md"):
        project.write(f"tools_md/{path}", tool(Path(path).name[0] + "_tool"))

    snapshot = project.build()

    assert list(snapshot.registry.tools) == ["c_tool", "z_tool", "b_tool"]


def test_a_broken_file_next_to_good_ones_costs_only_itself(project: Project) -> None:
    project.tool("good")
    project.write("tools_md/bad.tool.md", "no title here")
    project.write("tools_md/ugly.tool.md", b"# Caf\xe9\n\nNot UTF-8.\n")
    project.write("tools_md/empty.tool.md", "")

    snapshot = project.build()

    assert list(snapshot.registry.tools) == ["good"]
    paths = {d.span.path for d in snapshot.registry.diagnostics}
    assert paths == {f"tools_md/{name}.tool.md" for name in ("bad", "ugly", "empty")}


def test_a_file_of_five_megabytes_is_reported_with_its_size_and_not_read(project: Project) -> None:
    project.write("tools_md/huge.tool.md", b"x" * 5_000_000)

    (found,) = project.build().registry.diagnostics

    assert found.code == "file-too-large"
    assert "5,000,000" in found.message


def test_a_large_script_of_a_skill_is_a_hint_and_other_large_python_an_error(
    project: Project,
) -> None:
    project.write("tools_md/pdf.skill.md", "no skill yet")
    for path in ("pdf/scripts/fill.py", "scripts/fill.py", "fill.py"):
        project.write(f"tools_md/{path}", b"x = 1\n" * 200_000)

    found = [d for d in project.build().registry.diagnostics if d.code == "file-too-large"]

    assert {d.span.path: d.severity for d in found} == {
        "tools_md/pdf/scripts/fill.py": "hint",
        "tools_md/scripts/fill.py": "error",
        "tools_md/fill.py": "error",
    }


def test_a_file_of_exactly_the_limit_is_read(project: Project) -> None:
    text = tool("big")
    project.write("tools_md/big.tool.md", text + "\n" * (MAX_DEFINITION - len(text)))

    assert list(project.build().registry.tools) == ["big"]


def test_a_folder_with_a_definitions_name_is_reported(project: Project) -> None:
    (project.root / "tools_md/odd.tool.md").mkdir()

    assert codes(project) == [("unreadable-file", "tools_md/odd.tool.md")]


def test_a_link_out_of_the_folder_is_not_followed(project: Project, tmp_path: Path) -> None:
    secret = project.write("elsewhere/secret.tool.md", tool("secret"))
    (project.root / "tools_md/leak.tool.md").symlink_to(secret)
    (project.root / "tools_md/folder").symlink_to(secret.parent)

    snapshot = project.build()

    assert not snapshot.registry.tools
    assert {d.code for d in snapshot.registry.diagnostics} == {"outside-root"}


def test_a_link_within_the_folder_is_followed(project: Project) -> None:
    project.write("tools_md/store/real.txt", tool("linked"))
    (project.root / "tools_md/linked.tool.md").symlink_to("store/real.txt")

    assert list(project.build().registry.tools) == ["linked"]


def test_a_circle_of_links_ends(project: Project) -> None:
    project.tool("good")
    (project.root / "tools_md/loop").symlink_to(project.root / "tools_md")
    (project.root / "tools_md/self.tool.md").symlink_to("self.tool.md")

    snapshot = project.build()

    assert list(snapshot.registry.tools) == ["good"]
    assert [d.code for d in snapshot.registry.diagnostics] == ["unreadable-file"]


def test_a_dangling_link_is_reported(project: Project) -> None:
    (project.root / "tools_md/gone.tool.md").symlink_to("nowhere")

    assert codes(project) == [("unreadable-file", "tools_md/gone.tool.md")]


def test_a_pipe_of_a_definitions_name_does_not_block(project: Project) -> None:
    os.mkfifo(project.root / "tools_md/pipe.tool.md")

    assert codes(project) == [("unreadable-file", "tools_md/pipe.tool.md")]


def test_hidden_files_and_folders_are_left_out(project: Project) -> None:
    project.write("tools_md/.hidden.tool.md", tool("hidden"))
    project.write("tools_md/.git/x.tool.md", tool("x"))
    project.write("tools_md/__pycache__/y.tool.md", tool("y"))
    (project.root / "tools_md/.#lock.tool.md").symlink_to("user@host.1234")

    assert not project.build().registry.tools
    assert codes(project) == []


def test_a_name_that_is_not_utf8_is_reported_and_can_be_printed(project: Project) -> None:
    try:
        Path(os.fsdecode(os.fsencode(project.root) + b"/tools_md/caf\xe9.tool.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 only")

    ((code, path),) = codes(project)

    assert code == "unreadable-file"
    assert path.encode()


@pytest.mark.parametrize("name", ["x.tools.md", "X.Tool.MD", "x.tool.markdown"])
def test_a_file_that_is_nearly_a_definition_is_reported(project: Project, name: str) -> None:
    project.write(f"tools_md/{name}", tool("x"))

    assert codes(project) == [("ignored-file", f"tools_md/{name}")]


def test_of_two_definitions_of_one_name_the_first_is_kept_and_both_paths_are_reported(
    project: Project,
) -> None:
    project.write("tools_md/a.tool.md", tool("same"))
    project.write("tools_md/b.tool.md", tool("same"))

    snapshot = project.build()
    (found,) = (d for d in snapshot.registry.diagnostics if d.code == "duplicate-name")

    assert snapshot.registry.tools["same"].spec.source.path == "tools_md/a.tool.md"
    assert found.span.path == "tools_md/b.tool.md"
    assert "tools_md/a.tool.md" in found.message


def test_a_folder_inside_another_is_read_once(project: Project) -> None:
    project.write("toolmd.toml", 'tools = ["."]\nskills = ["tools_md"]')
    project.tool("once")

    snapshot = project.build()

    assert list(snapshot.registry.tools) == ["once"]
    assert not snapshot.registry.diagnostics


def test_a_missing_folder_of_the_settings_is_reported(project: Project) -> None:
    project.write("toolmd.toml", 'tools = ["tools_md", "more"]')

    (found,) = project.build().registry.diagnostics

    assert found.code == "missing-folder"
    assert "'more'" in found.message


def test_a_fault_of_the_reader_in_one_file_costs_only_that_file(project: Project) -> None:
    class Faulty(FileReader):
        def parse(self, kind, data, path):
            if "two" in path:
                raise RecursionError("too deep")
            return super().parse(kind, data, path)

    project.reader = Faulty(None)
    for name in ("one", "two", "three"):
        project.tool(name)

    assert list(project.build().registry.tools) == ["one", "three"]
    assert codes(project) == [("reader-failed", "tools_md/two.tool.md")]


def test_a_fault_of_the_checker_in_one_skill_costs_only_that_skill(project: Project) -> None:
    class Faulty(FileReader):
        def check_skill(self, spec, tools, skills, *, implemented):
            if spec.name == "two":
                raise ZeroDivisionError
            return super().check_skill(spec, tools, skills, implemented=implemented)

    project.reader = Faulty(None)
    for name in ("one", "two"):
        text = (
            f"# {name}\n\nDoes.\n\n## Metadata\n\n- **Name**: {name}\n- **Version**: 1.0.0\n"
            "- **Category**: test\n\n## Workflow\n\n1. **Return**:\n   - n: 1\n\n"
            "## Input Schema\n\nNone\n\n## Output Schema\n\n- **Type**: object (SkillResult)\n"
        )
        project.write(f"tools_md/{name}.skill.md", text)

    assert list(project.build().registry.skills) == ["one"]
    assert ("reader-failed", "tools_md/two.skill.md") in codes(project)
