"""`list`, `show`, `export`, `rule`, `plugins`, `doctor`."""

import json

import pytest
from jsonschema import Draft202012Validator


def test_list_is_a_tidy_table(shop, as_golden) -> None:
    typed = shop("list")
    as_golden(typed.out, "list.txt")
    assert (typed.err, typed.code) == ("3 tools, 1 skill.\n", 0)


def test_list_as_json_names_each_implementation(shop) -> None:
    entries = json.loads(shop("list", "--json").out)
    runs = {entry["name"]: entry["implementation"]["kind"] for entry in entries}
    assert runs == {
        "count_flowers": "sibling",
        "order_vase": "none",
        "sell_flowers": "sibling",
        "make_bouquet": "steps",
    }


@pytest.mark.parametrize("name", ["count_flowers", "sell_flowers", "make_bouquet"])
def test_show_is_the_canonical_form(shop, name: str) -> None:
    shown = shop("show", name)
    again = shop("show", "--file", "-", stdin=shown.out)
    assert shown.out.startswith(f"# {name.replace('_', ' ').title()}\n")
    assert again.out == shown.out
    assert "runs: s" in shown.err


TOOL_KEYS = [
    "kind",
    "name",
    "title",
    "description",
    "when_to_use",
    "version",
    "category",
    "tags",
    "requires_auth",
    "read_only",
    "idempotent",
    "unknown_parameters",
    "input_schema",
    "output_schema",
    "rules",
    "safety",
    "limits",
    "examples",
    "sections",
    "extra",
    "hash",
    "source",
    "implementation",
]


@pytest.mark.parametrize("name", ["count_flowers", "sell_flowers"])
def test_show_as_json_is_canonical(shop, name: str) -> None:
    shown = json.loads(shop("show", name, "--json").out)
    assert list(shown) == [key for key in TOOL_KEYS if key in shown]
    Draft202012Validator.check_schema(shown["input_schema"])
    assert shown["implementation"] == {"kind": "sibling", "target": f"tools_md/{name}.py:{name}"}


@pytest.mark.parametrize(
    "file", ["tools_md/count-flowers.tool.md", "skills_md/make-bouquet.skill.md"]
)
def test_show_file_prints_the_same_without_a_project(shop, file: str) -> None:
    name = file.partition("/")[2].partition(".")[0].replace("-", "_")
    (shop.folder / "toolmd.toml").unlink()
    alone = json.loads(shop("show", "--file", file, "--json").out)
    shop.write("toolmd.toml", "")
    assert alone == json.loads(shop("show", name, "--json").out)


def test_show_file_runs_no_python(shop) -> None:
    shop.write("tools_md/sell_flowers.py", "raise SystemExit('ran')\ndef sell_flowers(): ...\n")
    shown = json.loads(shop("show", "--file", "tools_md/sell-flowers.tool.md", "--json").out)
    assert shown["implementation"]["kind"] == "sibling"


def test_show_reads_stdin_as_a_tool_or_a_skill(shop) -> None:
    text = (shop.folder / "skills_md/make-bouquet.skill.md").read_text()
    assert json.loads(shop("show", "--file", "-", "--json", stdin=text).out)["kind"] == "skill"
    text = (shop.folder / "tools_md/order-vase.tool.md").read_text()
    assert json.loads(shop("show", "--file", "-", "--json", stdin=text).out)["kind"] == "tool"


def test_show_of_a_broken_file_prints_its_errors(shop) -> None:
    file = shop.write("x.tool.md", "# X\n")
    typed = shop("show", "--file", str(file), "--json")
    assert (json.loads(typed.out)["error"]["code"], typed.code) == ("failed", 1)
    assert "error[missing-section]" in typed.err


def test_show_of_an_unknown_name_suggests_near_ones(shop) -> None:
    typed = shop("show", "sell-flower")
    assert typed.code == 5
    assert typed.err == (
        "error: no tool or skill 'sell-flower'\nhelp: did you mean 'sell_flowers'?\n"
    )


def test_a_definition_with_errors_is_reported_as_not_loaded(shop) -> None:
    shop.write("tools_md/water-plants.tool.md", "# Water Plants\n")
    help_ = "help: its file has errors: toolmd check tools_md/water-plants.tool.md"
    for words in (("show", "water_plants"), ("call", "water_plants")):
        typed = shop(*words)
        assert help_ in typed.err
        assert typed.code == 5


@pytest.mark.parametrize("words", [("show",), ("show", "x", "--file", "y")])
def test_show_requires_a_name_or_a_file(shop, words: tuple[str, ...]) -> None:
    assert shop(*words).code == 2


def test_show_of_a_file_that_is_not_there_is_not_found(shop) -> None:
    typed = shop("show", "--file", "none.tool.md")
    assert (typed.err, typed.code) == ("error: none.tool.md: no such file\n", 5)


def test_export_prints_data_and_reports_losses_separately(shop) -> None:
    typed = shop("export", "openai")
    assert [item["function"]["name"] for item in json.loads(typed.out)] == [
        "count_flowers",
        "order_vase",
        "sell_flowers",
        "make_bouquet",
    ]
    assert typed.err.splitlines() == [
        "lost in openai: count_flowers.kinds: uniqueItems",
        "lost in openai: count_flowers.least: default 0",
        "lost in openai: sell_flowers.note: minLength 2",
        "note: openai can't hold Rules, Timeout; `toolmd serve` and `handle` enforce them",
    ]
    assert typed.code == 0


def test_export_names_the_restrictions_that_only_toolmd_enforces_in_one_line(shop) -> None:
    path = shop.folder / "tools_md/count-flowers.tool.md"
    text = path.read_text("utf-8").replace(
        "- **Read Only**", "- **Requires Auth**: yes\n- **Read Only**"
    )
    limits = "\n## Limits\n\n- **Rate**: 3/s\n- **Retries**: 2\n"
    path.write_text(f"{text}\n## Safety\n\n- **Confirm When**: `least > 3`\n{limits}", "utf-8")
    for target in ("openai", "openai-responses", "anthropic", "gemini", "prompt", "openapi"):
        (line,) = [
            line
            for line in shop("export", target, "count_flowers").err.splitlines()
            if "hold" in line
        ]
        assert line == (
            f"note: {target} can't hold Requires Auth, Confirm When, Rate; "
            "`toolmd serve` and `handle` enforce them"
        )
    assert "hold" not in shop("export", "mcp").err, "its policy is under `_meta`"
    assert "hold" not in shop("export", "openai", "order_vase").err


def test_export_accepts_names_and_omits_skills(shop) -> None:
    named = json.loads(shop("export", "mcp", "make-bouquet", "order_vase").out)
    assert {item["name"] for item in named} == {"order_vase", "make_bouquet"}
    tools = json.loads(shop("export", "mcp", "--no-skills").out)
    assert "make_bouquet" not in {item["name"] for item in tools}


def test_export_of_a_file_needs_no_project(shop) -> None:
    (shop.folder / "toolmd.toml").unlink()
    typed = shop("export", "anthropic", "--file", "tools_md/count-flowers.tool.md")
    (item,) = json.loads(typed.out)
    assert item["input_examples"] == [{"kinds": ["rose", "iris"]}]


def test_export_of_a_skill_without_steps_or_python_is_reported(shop) -> None:
    text = (shop.folder / "skills_md/make-bouquet.skill.md").read_text()
    start, end = text.index("1. **Count"), text.index("## Input Schema")
    file = shop.write("prose.skill.md", text[:start] + "Just sell.\n\n" + text[end:])
    typed = shop("export", "openai", "--file", str(file))
    assert json.loads(typed.out) == []
    assert "left out: the skill 'make_bouquet' has neither steps nor Python" in typed.err


def test_export_prompt_is_text(shop, as_golden) -> None:
    as_golden(shop("export", "prompt").out, "prompt.md")
    assert json.loads(shop("export", "prompt", "--json").out).startswith("# Tools")


@pytest.mark.parametrize("words", [("opnai",), ("openai", "sell_flower")])
def test_export_of_an_unknown_target_or_name_is_not_found(shop, words: tuple[str, ...]) -> None:
    typed = shop("export", *words)
    assert (typed.out, typed.code) == ("", 5)
    assert "openai" in typed.err or "sell_flowers" in typed.err


def test_rule_explains_a_code(shop) -> None:
    typed = shop("rule", "unknown-type")
    assert typed.out.splitlines()[0] == "unknown-type"
    assert len(typed.out.splitlines()) == 2
    assert json.loads(shop("rule", "unknown-type", "--json").out)["code"] == "unknown-type"


def test_rule_names_near_codes(shop) -> None:
    typed = shop("rule", "unknwn_type")
    assert typed.code == 5
    assert "'unknown-type'" in typed.err


def test_rule_lists_every_code(shop) -> None:
    assert "unknown-type" in shop("rule").out
    assert all({"code", "says"} == set(rule) for rule in json.loads(shop("rule", "--json").out))


def test_plugins_without_any_explains_plugins(shop) -> None:
    typed = shop("plugins", "--json")
    assert isinstance(json.loads(typed.out), list)


def test_graph_draws_a_skill(shop) -> None:
    assert shop("graph", "make-bouquet").out.startswith("flowchart")
    assert shop("graph", "make_bouquet", "--svg").out.startswith("<svg")
    assert json.loads(shop("graph", "make_bouquet", "--json").out)["format"] == "mermaid"
    assert shop("graph", "make_boquet").code == 5


PLUGIN = '''"""Count things."""

from toolmd.hooks import hookimpl


@hookimpl
def toolmd_commands(app):
    @app.command("greet")
    def greet(name: str = "you") -> None:
        """Greet."""
        print(f"Hello, {name}")

    @app.command("list")
    def other() -> None:
        """Not reached: the name is taken."""
        print("taken")
'''


def test_a_plugin_adds_a_command_and_replaces_none(shop) -> None:
    shop.write("tools_md/plugin.py", PLUGIN)
    assert shop("greet", "--name", "Ana").out == "Hello, Ana\n"
    assert "taken" not in shop("list").out
    assert "They add these commands: greet, list." in shop("plugins").err


PAUSED = """from toolmd.hooks import hookimpl


@hookimpl
def toolmd_commands(app):
    @app.command()
    def pause() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("release unlocked lock")
"""


def test_an_error_that_ctrl_c_led_to_is_no_crash(shop) -> None:
    """Python raises such an error where Ctrl-C comes while a thread starts."""
    shop.write("tools_md/plugin.py", PAUSED)

    assert shop("pause")[1:] == ("", 130)


def test_a_broken_plugin_is_reported_and_the_rest_works(shop) -> None:
    shop.write("tools_md/plugin.py", "import nothing_of_this_name\n")
    typed = shop("greet")
    assert typed.code == 2
    assert "nothing_of_this_name" in typed.err
    assert shop("list").code == 0


def test_doctor_passes_in_a_valid_project(shop) -> None:
    signs = json.loads(shop("doctor", "--json").out)
    assert [sign for sign in signs if sign["state"] == "bad"] == []
    assert {"python", "toolmd", "project", "state", "store", "definitions"} <= {
        sign["about"] for sign in signs
    }


def test_doctor_prints_what_is_wrong_and_one_line_for_the_rest(shop) -> None:
    typed, every = shop("doctor"), shop("doctor", "--all")
    signs = json.loads(shop("doctor", "--json").out)
    assert typed.err == f"All well: {len(signs)} parts; --all shows each.\n"
    assert "ok" not in typed.out
    assert len(every.out.splitlines()) >= len(signs)


def test_doctor_names_the_missing_part_and_the_remedy(shop, console, monkeypatch) -> None:
    monkeypatch.delenv("TOOLMD_STORE", raising=False)
    shop.write("toolmd.toml", 'store = "mysql"\n')
    typed = shop("doctor")
    assert typed.code == 1
    assert "must be sqlite, memory or a postgresql:// URL" in typed.out
    assert "help: fix that setting" in typed.out


def test_doctor_outside_a_project_says_how_to_make_one(console) -> None:
    typed = console("doctor")
    assert typed.code == 1
    assert "help: run `toolmd init`" in typed.out


def test_a_tool_that_the_projects_own_plugin_implements_is_listed_as_such(shop) -> None:
    shop.write(
        "tools_md/plugin.py",
        "from toolmd import hookimpl\n\n"
        "@hookimpl\ndef toolmd_implementation(spec):\n"
        "    return (lambda: 'made') if spec.name == 'order_vase' else None\n",
    )
    listed = {line.split()[0]: line.split()[4] for line in shop("list").out.splitlines()}
    assert listed["order_vase"] == "plugin"
    assert listed["sell_flowers"] == "python"


@pytest.mark.parametrize("verb", ["list", "plugins"])
def test_a_name_that_two_definitions_have_is_noted_with_both_places(shop, verb):
    first = next(shop.folder.glob("tools_md/*.tool.md"))
    shop.write("tools_md/zz-copy.tool.md", first.read_text("utf-8"))
    shop.write("tools_md/plugin.py", '"""Shop."""\n\ntoolmd_hooks = ()\n')
    ended = shop(verb)
    assert ended.code == 0
    assert f"tools_md/{first.name} stays, tools_md/zz-copy.tool.md does not load" in ended.err
