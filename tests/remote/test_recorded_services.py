"""`test --record` keeps what a service answers to the examples, and `test` replays it offline."""

import json
from pathlib import Path
from typing import Any

from echo_service import EchoService, ServiceProject
from hypothesis import given
from hypothesis import strategies as st
from tests.command import run_command

from toolmd._types.schema import Schema
from toolmd._validation.redact import HIDDEN, Secrets
from toolmd._workspace.recorded.values import restored, same, shown_value

TEXT = "- **Type**: string\n"
NEEDED = f"{TEXT}- **Required**: true\n"
ALLOWED = {"allowed": True, "echo": ["correct-token"]}
SECRET = 'auth = {type = "query", name = "key", value = "$SHOP_TOKEN"}'


def _example(title: str, arguments: Any, result: Any = None, error: str = "") -> str:
    text = f"\n## Examples\n\n### {title}\n\n```json\n{json.dumps(arguments)}\n```\n\n"
    expected = f"- **Error**: {error}\n" if error else f"```json\n{json.dumps(result)}\n```\n"
    return text + expected


def _tried(folder: Path, *words: str, **environ: str) -> list[tuple[bool, str]]:
    ended = run_command(folder, "test", *words, "--json", **environ)
    return [(one["passed"], one.get("message", one["how"])) for one in json.loads(ended.out)]


def test_answers_of_a_service_are_recorded_and_replayed_without_it(
    tmp_path: Path, service: EchoService
) -> None:
    project = ServiceProject(tmp_path, {"shop": f'url = "{service.url}"'})
    arguments = {"kind": "text", "day": "a b"}
    example = _example("Words", arguments, "plain words")
    project.tool("ask", "http GET /answer/{kind}", {"kind": NEEDED, "day": TEXT}, example)
    project.tool("gone", "http GET /answer/404", {}, _example("Gone", {}, error="tool_error"))
    project.tool("busy", "http GET /answer/503", {}, _example("Busy", {}, error="api_offline"))

    recorded = _tried(tmp_path, "--record")

    assert recorded[0] == recorded[2] == (True, "recorded")
    assert not recorded[1][0]
    assert "can't be recorded: The service answered 503" in recorded[1][1]
    asked = len(service.received)
    assert _tried(tmp_path, "ask", "gone") == [(True, "replayed")] * 2
    assert len(service.received) == asked
    _, line = (tmp_path / "tools_md/ask.answers.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["arguments"] == arguments
    assert json.loads(line)["result"] == "plain words"


def test_another_place_of_an_argument_or_another_address_makes_an_answer_stale(
    tmp_path: Path, service: EchoService
) -> None:
    def project(url: str, sent_in: str) -> None:
        (tmp_path / "toolmd.toml").write_text(f'[services.shop]\nurl = "{url}"\n')
        fields = {"day": f"{TEXT}- **Sent In**: {sent_in}\n"}
        made.tool("ask", "http GET /answer/text", fields, example)

    example = _example("Words", {"day": "a"}, "plain words")
    made = ServiceProject(tmp_path, {})
    project(service.url, "query")
    assert _tried(tmp_path, "--record") == [(True, "recorded")]
    for url, sent_in in ((service.url, "header"), (f"{service.url}/v2", "query")):
        project(url, sent_in)
        ((passed, why),) = _tried(tmp_path)
        assert not passed
        assert "the settings or the places of the arguments" in why
    project(service.url, "query")
    assert _tried(tmp_path) == [(True, "replayed")]


def test_an_argument_that_can_not_be_sent_is_denied_in_a_replay_too(
    tmp_path: Path, service: EchoService
) -> None:
    project = ServiceProject(tmp_path, {"shop": f'url = "{service.url}"'})
    example = _example("Up", {"kind": ".."}, error="invalid_arguments")
    project.tool("ask", "http GET /answer/{kind}", {"kind": NEEDED}, example)

    assert _tried(tmp_path) == [(True, "called")]
    assert service.received == []


def test_no_credential_of_a_service_is_written(tmp_path: Path, service: EchoService) -> None:
    project = ServiceProject(tmp_path, {"shop": f'url = "{service.url}"\n{SECRET}'})
    hidden = {"allowed": True, "echo": ["[hidden]"]}
    project.tool("ask", "http GET /guarded", {}, _example("In", {}, hidden))
    ((passed, why),) = _tried(tmp_path, "--record")
    assert not passed
    assert "SHOP_TOKEN" in why

    recorded = _tried(tmp_path, "--record", SHOP_TOKEN="correct-token")

    assert recorded == [(True, "recorded")]
    assert "correct-token" not in (tmp_path / "tools_md/ask.answers.jsonl").read_text("utf-8")
    assert _tried(tmp_path) == [(True, "replayed")]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["s3cret", "x s3cret y", "plain"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_VALUES, st.sampled_from([Schema(), Schema(sensitive=True)]), st.integers())
def test_a_recorded_value_has_no_secret_and_is_restored_by_the_example(
    value: Any, shape: Schema, number: int
) -> None:
    secrets = Secrets()
    secrets.learn_result(["s3cret", number], Schema(sensitive=True))

    recorded = shown_value(value, shape, secrets)

    assert "s3cret" not in json.dumps(recorded)
    assert same(restored(recorded, value, secrets), value)
    assert shape.sensitive is (recorded == HIDDEN) or value in ("s3cret", number)
