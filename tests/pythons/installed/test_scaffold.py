"""A plugin as `new plugin` writes it is installed by pip and used, with nothing of strangers."""

import pytest

PIP = ("-m", "pip", "--disable-pip-version-check")


@pytest.fixture
def weather(project):
    """Install a new plugin: without an index, so that what it requires must be this Toolmd."""
    made = project.toolmd("new", "plugin", "weather")
    assert made.code == 0, made
    words = ("install", "--no-index", "--no-build-isolation", "./weather")
    installed = project.python(*PIP, *words)
    assert installed.code == 0, installed
    yield project
    project.python(*PIP, "uninstall", "--yes", "weather")


def test_a_new_plugin_is_installed_called_and_tested(weather) -> None:
    loaded = {"TOOLMD_LOAD_PLUGINS": "weather"}

    plugins = weather.toolmd("plugins", "--json", **loaded).json
    called = weather.toolmd("call", "weather", "text=sunny", **loaded)
    tested = weather.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "weather/tests")

    assert {p["name"]: p["state"] for p in plugins}["weather"] == "loaded"
    assert called.json == {"text": "sunny"}
    assert tested.code == 0, tested
