"""`check` and `fmt`."""

import json
from pathlib import Path

import pytest

BROKEN = """\
# Find Weather

Find the weather.

## Metadata

- **Name**: find_weather
- **Version**: 1.0.0
- **Categroy**: sky

## Parameters

### city

- **Type**: strng
- **Requried**: true
- **Description**: Where

## Returns

- **Type**: string
- **Description**: The weather
"""


BARE = "1 tool has no Python yet, so calls fail: order_vase."
WRITE = "help: write tools_md/order_vase.py\n"


def test_a_project_without_findings_exits_with_0(shop) -> None:
    shop.write("tools_md/order_vase.py", "async def order_vase(): ...\n")
    typed = shop("check", "tools_md/order-vase.tool.md")
    assert (typed.out, typed.err, typed.code) == ("", "All well: 1 file.\n", 0)


def test_the_last_line_names_tools_without_python_and_exits_with_0(shop) -> None:
    typed = shop("check")
    assert (typed.out, typed.code) == ("", 0)
    assert typed.err == f"No errors: 3 tools, 1 skill. {BARE}\n{WRITE}"
    assert shop("check", "tools_md/order-vase.tool.md").err == f"No errors: 1 file. {BARE}\n{WRITE}"


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_tools_without_python_are_named_on_stderr_in_each_form_of_the_findings(shop, form) -> None:
    typed = shop("check", "--output-format", form)
    assert "no Python" not in typed.out
    assert (typed.err, typed.code) == (f"{BARE}\n", 0)


def test_full_shows_line_caret_and_help(shop, as_golden) -> None:
    shop.write("tools_md/find-weather.tool.md", BROKEN)
    typed = shop("check")
    as_golden(typed.out, "check-full.txt")
    assert typed.err == (
        f"Found 1 error, 2 warnings in 1 file. {BARE}\n{WRITE}"
        "3 fixes are known: run it again with --fix.\n"
    )
    assert typed.code == 1


def test_the_text_is_that_of_the_interface(shop) -> None:
    shop.write("tools_md/find-weather.tool.md", BROKEN)
    lines = shop("check", "tools_md/find-weather.tool.md").out.splitlines()
    said = "error[unknown-type] unknown type 'strng' for parameter 'city'"
    assert f"tools_md/find-weather.tool.md:15:13: {said}" in lines
    assert "help: did you mean 'string'?" in lines


def test_a_path_limits_the_findings(shop) -> None:
    shop.write("tools_md/find-weather.tool.md", BROKEN)
    assert shop("check", "tools_md/sell-flowers.tool.md").code == 0
    assert shop("check", "tools_md/sell-flowers.tool.md").err == "All well: 1 file.\n"
    assert shop("check", "skills_md").code == 0
    assert shop("check", "tools_md").code == 1


def test_a_path_includes_the_findings_of_its_python(shop) -> None:
    shop.write("tools_md/sell_flowers.py", "async def sell_flowers(kind: int) -> str: ...\n")
    codes = {d["code"] for d in json.loads(shop("check", "tools_md", "--json").out)}
    assert codes
    typed = shop("check", "tools_md/sell-flowers.tool.md", "--output-format", "json")
    assert {d["code"] for d in json.loads(typed.out)} == codes


def test_a_path_leaves_the_python_of_other_files_unread(shop) -> None:
    code = "open('sold', 'a').close()\nasync def sell_flowers(kind: str) -> str: ...\n"
    shop.write("tools_md/sell_flowers.py", code.replace("sold", str(shop.folder / "sold")))
    assert shop("check", "tools_md/count-flowers.tool.md").err == "All well: 1 file.\n"
    assert not (shop.folder / "sold").exists()

    shop("check", "tools_md/sell_flowers.py")
    assert (shop.folder / "sold").exists()


def test_a_file_outside_a_project_is_read_by_itself(console) -> None:
    console.write("find-weather.tool.md", BROKEN)
    typed = console("check", "find-weather.tool.md", "--output-format", "concise")
    assert typed.code == 1
    assert len(typed.out.splitlines()) == 4
    assert typed.out.startswith("find-weather.tool.md:9:5: warning[misspelt-field]")


def test_a_file_outside_the_folders_of_a_project_is_read_by_itself(shop) -> None:
    shop.write("drafts/find-weather.tool.md", BROKEN)
    assert shop("check").code == 0
    assert shop("check", "drafts").code == 1
    both = shop("check", "drafts", "tools_md", "--json")
    assert {d["path"].rpartition("/")[2] for d in json.loads(both.out)} == {"find-weather.tool.md"}


def test_a_folder_outside_a_project_has_its_skills_checked_against_its_tools(shop) -> None:
    (shop.folder / "toolmd.toml").unlink()
    (shop.folder / "tools_md").rename(shop.folder / "a")
    skill = (shop.folder / "skills_md/make-bouquet.skill.md").read_text()
    shop.write("a/make-bouquet.skill.md", skill.replace("- number: `number`", "- nmuber: `number`"))
    assert shop("check", "a").code == 1
    assert "nmuber" in shop("check", "a").out
    assert shop("check", "a/make-bouquet.skill.md").code == 0


def test_a_folder_with_a_definitions_name_is_reported(console) -> None:
    (console.folder / "a/x.tool.md").mkdir(parents=True)
    for path in ("a", "a/x.tool.md"):
        typed = console("check", path)
        assert "a/x.tool.md:1:1: error[unreadable-file]" in typed.out
        assert typed.code == 1


def test_a_folder_without_definitions_is_reported(console) -> None:
    (console.folder / "a").mkdir()
    typed = console("check", "a")
    assert typed.err == "Nothing to check: there are no `*.tool.md` or `*.skill.md` files.\n"
    assert typed.code == 0


def test_stdin_is_read_as_a_definition(console) -> None:
    typed = console("check", "-", stdin=BROKEN)
    assert "<stdin>:15:13: error[unknown-type]" in typed.out
    assert "15 | - **Type**: strng" in typed.out


def test_a_missing_path_is_not_found(shop) -> None:
    typed = shop("check", "tools_md/none.tool.md")
    assert typed.code == 5
    assert typed.err == "error: tools_md/none.tool.md: no such file or folder\n"


def test_outside_a_project_check_says_how_to_make_one(console) -> None:
    typed = console("check")
    assert typed.code == 2
    assert "toolmd init" in typed.err


def test_hints_are_not_findings(shop) -> None:
    text = BROKEN.replace("Categroy", "Category").replace("Requried", "Required")
    shop.write("tools_md/find-weather.tool.md", text.replace("strng", "array"))
    found = json.loads(shop("check", "--json").out)
    assert [d["severity"] for d in found] == ["hint"]
    assert shop("check").code == 0


def test_settings_leave_out_findings_by_code_and_by_name(shop) -> None:
    text = BROKEN.replace("- **Categroy**", "- **Colour**: red\n- **Category**")
    text = text.replace("Requried", "Required")
    shop.write("tools_md/find-weather.tool.md", text.replace("strng", "string"))
    settings = (Path(__file__).parent / "shop/toolmd.toml").read_text("utf-8")
    (code,) = {one["code"] for one in json.loads(shop("check", "--json").out)}

    for ignored in (code, f"{code}:find_weather"):
        shop.write("toolmd.toml", f'{settings}\n[check]\nignore = ["{ignored}"]\n')
        checked = shop("check")
        assert (checked.code, checked.out) == (0, "")
        assert "1 finding left out by check.ignore." in checked.err
    shop.write("toolmd.toml", f'{settings}\n[check]\nignore = ["{code}:order_vase"]\n')
    assert shop("check").code == 1


def test_an_error_is_never_left_out(shop) -> None:
    shop.write("tools_md/find-weather.tool.md", BROKEN)
    settings = (Path(__file__).parent / "shop/toolmd.toml").read_text("utf-8")
    shop.write("toolmd.toml", f'{settings}\n[check]\nignore = ["unknown-type"]\n')
    assert "unknown-type" in shop("check").out
    for wrong in ("unknown-tpye", "weakened-policy"):
        shop.write("toolmd.toml", f'{settings}\n[check]\nignore = ["{wrong}"]\n')
        assert shop("check").code == 2


def test_fix_applies_the_known_fixes_and_reports_them(shop) -> None:
    file = shop.write("tools_md/find-weather.tool.md", BROKEN)
    typed = shop("check", "--fix")
    assert typed.err.splitlines()[0] == (
        "fixed tools_md/find-weather.tool.md: misspelt-field, unknown-type"
    )
    assert typed.code == 0
    mended = file.read_text()
    assert "**Category**: sky" in mended
    assert "**Type**: string" in mended
    assert "**Required**: true" in mended


def test_fix_keeps_findings_without_a_fix(console) -> None:
    file = console.write("x.tool.md", BROKEN.replace("## Returns", "## Outcome"))
    typed = console("check", str(file), "--fix")
    assert typed.code == 1
    assert "fixed " in typed.err


@pytest.mark.parametrize("form", ["json", "sarif", "github", "concise", "full"])
def test_every_form_ends_the_same(shop, form: str) -> None:
    assert shop("check", "--output-format", form).code == 0
    shop.write("tools_md/find-weather.tool.md", BROKEN)
    typed = shop("check", "--output-format", form)
    assert typed.code == 1
    if form in {"json", "sarif"}:
        json.loads(typed.out)


def test_project_may_stand_before_the_verb_or_behind_it(shop, tmp_path_factory) -> None:
    elsewhere = type(shop)(tmp_path_factory.mktemp("elsewhere"))
    assert elsewhere("--project", str(shop.folder), "check").code == 0
    assert elsewhere("check", "--project", str(shop.folder)).code == 0


UGLY = (
    BROKEN.replace("Categroy", "Category").replace("Requried", "required").replace("strng", "str")
)


def test_fmt_writes_the_canonical_form(shop) -> None:
    file = shop.write("tools_md/find-weather.tool.md", UGLY)
    before = json.loads(shop("show", "find_weather", "--json").out)
    assert shop("fmt", "--check").code == 1
    assert file.read_text() == UGLY
    typed = shop("fmt")
    assert typed.err.splitlines() == [
        "written tools_md/find-weather.tool.md",
        "1 file rewritten, 4 files already canonical.",
    ]
    assert typed.code == 0
    assert shop("fmt", "--check").code == 0
    assert json.loads(shop("show", "find_weather", "--json").out) == before


def test_fmt_keeps_the_line_ends_of_a_windows_checkout(shop) -> None:
    file = shop.write("tools_md/find-weather.tool.md", UGLY)
    assert shop("fmt").code == 0
    checked_out = file.read_bytes().replace(b"\n", b"\r\n")
    file.write_bytes(checked_out)
    assert shop("fmt", "--check").code == 0
    file.write_bytes(UGLY.replace("\n", "\r\n").encode())
    assert shop("fmt").code == 0
    assert file.read_bytes() == checked_out


def test_fmt_diff_shows_and_writes_nothing(shop) -> None:
    file = shop.write("tools_md/find-weather.tool.md", UGLY)
    typed = shop("fmt", "--diff", "tools_md")
    assert "-- **Type**: str" in typed.out.replace("- - ", "-- ").splitlines()
    assert "+- **Type**: string" in typed.out.splitlines()
    assert typed.code == 1
    assert file.read_text() == UGLY


def test_fmt_leaves_a_broken_file_alone(shop) -> None:
    file = shop.write("tools_md/find-weather.tool.md", BROKEN)
    typed = shop("fmt")
    assert typed.code == 1
    assert "error[unknown-type]" in typed.err
    assert file.read_text() == BROKEN


def test_fmt_reads_stdin_and_writes_stdout(shop) -> None:
    typed = shop("fmt", "-", stdin=UGLY)
    assert "- **Type**: string" in typed.out
    assert shop("fmt", "-", stdin=typed.out).out == typed.out
    checked = shop("fmt", "--check", "-", stdin=UGLY)
    assert (checked.out, checked.code) == ("<stdin>: would change\n", 1)


def test_fmt_reports_its_changes_as_json(shop) -> None:
    shop.write("tools_md/find-weather.tool.md", UGLY)
    shop.write("tools_md/odd.tool.md", BROKEN)
    files = ("tools_md/find-weather.tool.md", "tools_md/odd.tool.md")
    would = shop("fmt", "--diff", "--json", *files)
    assert would.code == 1
    ugly, broken = json.loads(would.out)
    assert (ugly["path"], ugly["state"]) == (files[0], "changes")
    assert "+- **Type**: string" in ugly["diff"].splitlines()
    assert broken["state"] == "broken"
    assert "unknown-type" in {error["code"] for error in broken["errors"]}
    did = shop("fmt", "--json", *files)
    assert [f["state"] for f in json.loads(did.out)] == ["written", "broken"]
    assert [f["state"] for f in json.loads(shop("fmt", "--json", files[0]).out)] == ["canonical"]
    piped = json.loads(shop("fmt", "--json", "-", stdin=UGLY).out)
    assert shop("fmt", "-", stdin=UGLY).out == piped["text"]


def test_a_project_without_definitions_is_told_where_they_are_looked_for(project) -> None:
    (project.folder / "tools_md/say-hello.tool.md").unlink()
    typed = project("check")
    looked = ", ".join(f"{project.folder}/{name}_md" for name in ("tools", "skills"))
    assert typed.err == (
        "Nothing to check yet: `toolmd new tool NAME` writes the first one.\n"
        f"note: no `*.tool.md` and no `*.skill.md` is in {looked}\n"
    )
    assert (typed.out, typed.code) == ("", 0)


@pytest.mark.parametrize("others", [False, True])
def test_a_definition_with_another_name_is_a_warning(project, others) -> None:
    sample = project.folder / "tools_md/say-hello.tool.md"
    project.write("tools_md/book-table.md", sample.read_text("utf-8"))
    project.write("tools_md/README.md", "# About\n")
    if not others:
        sample.unlink()
    typed = project("check")
    assert "book-table.md is not read, because its name does not end with .tool.md" in typed.out
    assert "rename it to book-table.tool.md" in typed.out
    assert ("no `*.tool.md`" in typed.err) is not others
    assert ("README" in typed.out, typed.code) == (False, 1)
