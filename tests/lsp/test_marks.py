"""An editor draws tokens, links, hints and lenses into a document."""

from language_client import Editor
from lsprotocol import types
from orchard import FILES, HARVEST, PICK

WHOLE = types.Range(types.Position(0, 0), types.Position(999, 0))


def test_names_and_expressions_have_semantic_tokens(orchard: Editor) -> None:
    legend = orchard.client.capabilities.semantic_tokens_provider.legend.token_types
    params = types.SemanticTokensParams(orchard.document(PICK))
    data = orchard.ask("text_document_semantic_tokens_full", params).data
    lines, line, column, found = FILES[PICK].split("\n"), 0, 0, []
    for down, right, length, kind, _ in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, right + (0 if down else column)
        found.append((lines[line][column : column + length], legend[kind]))
    assert found[:3] == [
        ("pick_fruit", "function"),
        ("treeName", "parameter"),
        ("amount", "parameter"),
    ]
    rule = found.index(("!", "operator"))
    assert found[rule + 1 : rule + 4] == [
        ("has", "method"),
        ("(", "operator"),
        ("basket", "parameter"),
    ]
    assert ("size", "property") in found
    assert ("20", "number") in found


def test_hints_show_defaults_and_limits_that_are_in_force(orchard: Editor) -> None:
    def hints(name: str) -> list[str]:
        params = types.InlayHintParams(orchard.document(name), WHOLE)
        return [hint.label for hint in orchard.ask("text_document_inlay_hint", params)]

    assert hints(PICK) == [
        "timeout 15s, min confidence 0.5",
        "optional, default 5, 1 to 50",
        "optional",
    ]
    text = FILES[HARVEST].replace("     - amount: `rounds * 5`\n", "")
    orchard.open(HARVEST)
    orchard.type(HARVEST, text)
    assert hints(HARVEST) == ["amount = 5, timeout 15s, min confidence 0.5"]
    orchard.type(HARVEST, "# Nothing\n")
    assert hints(HARVEST) == []


def test_tools_that_a_skill_names_are_links(orchard: Editor) -> None:
    params = types.DocumentLinkParams(orchard.document(HARVEST))
    found = orchard.ask("text_document_document_link", params)
    assert [link.target for link in found] == [orchard.uri(PICK)] * 2


def test_a_lens_runs_an_example(orchard: Editor) -> None:
    params = types.CodeLensParams(orchard.document(PICK))
    few, many = orchard.ask("text_document_code_lens", params)
    assert few.range.start.line == FILES[PICK].split("\n").index("### A few")
    told = []
    for lens in (few, many):
        command = types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
        told.append(orchard.ask("workspace_execute_command", command))
    assert [(one["passed"], one["how"]) for one in told] == [
        (True, "called"),
        (True, "validated"),
    ]
    assert "pick_fruit, A few: passed" in orchard.client.messages


def test_a_lens_accepts_a_policy_change_when_the_user_agrees(orchard: Editor) -> None:
    def lens() -> list[types.CodeLens]:
        params = types.CodeLensParams(orchard.document(PICK))
        found = orchard.ask("text_document_code_lens", params)
        return [one for one in found if one.command.command == "toolmd.acceptChange"]

    orchard.save(PICK, FILES[PICK].replace("amount > 20", "amount > 40"))
    (pending,) = lens()
    assert pending.command.title == "Accept policy change (1 weakened)"
    command = types.ExecuteCommandParams(pending.command.command, pending.command.arguments)
    orchard.client.answer = "Keep the old one"
    assert orchard.ask("workspace_execute_command", command) is False
    assert len(lens()) == 1
    orchard.client.answer = "Accept"
    assert orchard.ask("workspace_execute_command", command) is True
    assert lens() == []
    assert "+ Safety: Confirm When: amount > 40" in orchard.client.messages[-1]
