"""Hooks that return None are ignored; invalid values are reported with their plugin."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.definitions import tool
from workspace_shop import Shop, skill

from toolmd import Workspace
from toolmd._workspace.plugins import import_by_plugin
from toolmd.errors import NotFoundError, ToolmdError
from toolmd.hooks import hookimpl

GIVES = """
from toolmd.hooks import hookimpl
RAN = []
def greet(): return {{'said': 'given'}}
@hookimpl
def toolmd_implementation(spec):
    {body}
"""
NONE = GIVES.format(body="return None")
STEPS = "1. **Greet**.\n   - **Use**: greet"
BROKEN = "1. **Greet**.\n   - **Use**: greet\n   - **When**: nothing.here > 1"


def codes(ws: Workspace) -> list[str]:
    return sorted({str(found.code) for found in ws.diagnostics})


@pytest.mark.parametrize("body", ["return None", "pass", "return {}.get(spec.name)"])
def test_a_plugin_that_returns_none_leaves_a_skills_steps_in_use(shop: Shop, body: str) -> None:
    shop.write("tools_md/plugin.py", GIVES.format(body=body))
    shop.tool("greet", "def greet(): return {'said': 'beside'}")
    shop.write("skills_md/hello.skill.md", skill("hello", "greet", STEPS))
    ws = shop.open()

    assert ws.diagnostics == ()
    assert ws.run_sync("hello", {}).success
    assert ws.skills["hello"].binding.kind == "none"


def test_a_plugins_implementation_replaces_the_steps_of_a_skill(shop: Shop) -> None:
    body = "return greet if spec.name == 'hello' else None"
    shop.write("tools_md/plugin.py", GIVES.format(body=body))
    shop.tool("greet", "def greet(): return {'said': 'beside'}")
    shop.write("skills_md/hello.skill.md", skill("hello", "greet", BROKEN))
    ws = shop.open()

    assert ws.diagnostics == ()
    assert ws.run_sync("hello", {}).data == {"said": "given"}


def test_reading_a_project_runs_no_plugin_that_may_implement_its_skills(shop: Shop) -> None:
    shop.write("tools_md/plugin.py", "raise RuntimeError('ran')\n" + NONE)
    shop.tool("greet", "def greet(): return {}")
    shop.write("skills_md/hello.skill.md", skill("hello", "greet", STEPS))
    ws = shop.open()
    ws.reload()

    assert [*ws.registry.skills] == ["hello"]
    assert ws.registry.diagnostics == ()
    assert codes(ws) == ["broken-plugin"]
    assert not ws.run_sync("hello", {}).success


@pytest.mark.parametrize("value", ["5", "'greet'", "False", "{}"])
def test_an_implementation_that_is_not_a_function_is_reported(shop: Shop, value: str) -> None:
    shop.write("tools_md/plugin.py", GIVES.format(body=f"return {value}"))
    shop.write("skills_md/hello.skill.md", skill("hello", "greet", STEPS))
    shop.tool("greet", "def greet(): return {}")
    ws = shop.open()

    (found,) = ws.diagnostics

    assert found.code == "broken-implementation"
    assert f"toolmd_implementation gave {value}, which is not a function" in found.message
    assert "tools_md/plugin.py" in found.message


class Answers:
    """A plugin whose hooks all answer one value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @hookimpl
    def toolmd_definitions(self) -> Any:
        return self.value

    @hookimpl
    def toolmd_guards(self) -> Any:
        return self.value

    @hookimpl
    def toolmd_approved_origins(self) -> Any:
        return self.value

    @hookimpl
    def toolmd_resources(self) -> Any:
        return self.value

    @hookimpl
    def toolmd_dialects(self) -> Any:
        return self.value

    @hookimpl
    def toolmd_exporters(self) -> Any:
        return self.value

    @hookimpl
    def toolmd_before_call(self) -> Any:
        return self.value

    @hookimpl
    def toolmd_after_call(self) -> Any:
        return self.value

    @hookimpl
    def toolmd_implementation(self) -> Any:
        return None


def open_with(shop: Shop, value: Any) -> Workspace:
    shop.tool("greet", "def greet(): return {}")
    opened = Workspace.open(
        shop.root, overrides={"plugins": []}, plugins={"odd-one": Answers(value)}
    )
    shop.opened.append(opened)
    return opened


def test_none_is_no_answer_in_every_hook(shop: Shop) -> None:
    ws = open_with(shop, None)

    assert ws.diagnostics == ()
    assert ws.call_sync("greet", {}).success
    with pytest.raises(NotFoundError):
        ws.export("pigeon")


@pytest.mark.parametrize("value", [0, False, 5, "abc", "", {"a": 1}, object()])
def test_an_invalid_answer_is_reported_with_its_plugin_and_denies_calls(
    shop: Shop, value: Any
) -> None:
    ws = open_with(shop, value)

    told = [found for found in ws.diagnostics if "odd-one" in found.message]
    assert len(told) == 2
    assert ["definitions" in found.message for found in told].count(True) == 1
    assert ws.call_sync("greet", {}).error.code == "internal_guard_error"
    if not isinstance(value, Mapping):
        with pytest.raises(ToolmdError, match="odd-one"):
            ws.export("pigeon")


IMPORTS = """
from toolmd.hooks import hookimpl
@hookimpl
def toolmd_importers(): return {value}
@hookimpl
def toolmd_exporters(): return {value}
"""


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("5", "gives no functions by name in toolmd_importers: 5"),
        ("1 / 0", "fails in toolmd_importers: ZeroDivisionError"),
        ("{'pigeon': lambda source: 5}", "can't import x"),
        ("{'pigeon': 5}", "can't import x"),
    ],
)
def test_an_importer_with_an_invalid_answer_is_reported(
    shop: Shop, value: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLMD_LOAD_PLUGINS", "")
    shop.write("tools_md/plugin.py", IMPORTS.format(value=value))

    with pytest.raises(ToolmdError, match=r"plugin\.py") as raised:
        import_by_plugin(shop.root, "pigeon", "x")

    assert says in str(raised.value)


@pytest.mark.parametrize("value", ["lambda tools, skills: None", "lambda: []", "5"])
def test_an_exporter_with_an_invalid_answer_is_reported(shop: Shop, value: str) -> None:
    shop.write("tools_md/plugin.py", IMPORTS.format(value=f"{{'pigeon': {value}}}"))

    with pytest.raises(ToolmdError, match=r"plugin\.py can't export pigeon"):
        shop.open().export("pigeon")


HELD = """
from toolmd import Action, Verdict, hookimpl
def greet(): return {}
@hookimpl
def toolmd_guards(spec):
    return [lambda call, arguments: Verdict(Action.DENY, "closed", "Closed.")]
"""


def test_a_guard_next_to_an_implementation_holds_from_the_first_call(shop: Shop) -> None:
    shop.tool("greet", HELD)
    shop.tool("wave", "def wave(): return {}")
    for name in ("wave", "greet"):
        for dry_run in (True, False):
            result = shop.open().call_sync(name, {}, dry_run=dry_run)
            assert (result.outcome, result.error.code) == ("denied", "closed")


@pytest.mark.parametrize("broken", ["plugin.py", "greet.py"])
def test_tools_of_a_service_are_denied_where_a_guard_of_their_folder_does_not_load(
    shop: Shop, broken: str
) -> None:
    shop.write("toolmd.toml", '[services.bells]\nurl = "http://127.0.0.1:9"\n')
    shop.tool("greet", "def greet(): return {}")
    remote = tool("ring").replace(
        "- **Version**", "- **Implemented By**: http GET /\n- **Version**"
    )
    shop.write("tools_md/ring.tool.md", remote)
    assert shop.open().call_sync("ring", {}, dry_run=True).outcome == "allowed"

    shop.write(f"tools_md/{broken}", f"{HELD}\n1 / 0\n")
    for dry_run in (True, False):
        result = shop.open().call_sync("ring", {}, dry_run=dry_run)
        assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")


@pytest.mark.parametrize("place", ["plugin.py", "greet.py"])
@pytest.mark.parametrize("hook", ["default_min", "crisis_words"])
def test_a_restriction_that_only_a_package_may_have_is_not_silently_dropped(
    shop: Shop, place: str, hook: str
) -> None:
    shop.tool("greet", "def greet(): return {}")
    code = f"from toolmd import hookimpl\n@hookimpl\ndef toolmd_{hook}(): return []\n"
    shop.write(f"tools_md/{place}", f"{code}def greet(): return {{}}\n")
    ws = shop.open()

    assert ws.call_sync("greet", {}).outcome == "denied"
    assert any(f"`safety.{hook}`" in (found.help or "") for found in ws.diagnostics)
