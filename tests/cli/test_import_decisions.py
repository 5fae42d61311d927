"""`import`: one decision about a sentence of many drafts, and one line for what repeats."""

import json

import pytest

from toolmd._cli.verbs.importing import tell_imported

SCOPE = "OAuth tokens need the `{}` scope to use this."
TWICE = "You must never order more than twice a day."


def document(operations: int = 2, **more) -> str:
    paths = {
        f"/orders/{number}": {
            "get": {
                "operationId": f"order_{number}",
                "description": f"Find orders. {SCOPE.format(f'read:{number}')} {TWICE}",
                "externalDocs": {"url": f"https://docs.example/{number}"},
                "responses": {},
                **more,
            }
        }
        for number in range(operations)
    }
    servers = [{"url": "https://shop.example/v1"}]
    info = {"title": "shop", "version": "1"}
    return json.dumps({"openapi": "3.1.0", "info": info, "servers": servers, "paths": paths})


def decide(shop, *sentences: str) -> None:
    settings = shop.folder / "toolmd.toml"
    settings.write_text(f"{settings.read_text()}\n[imports]\ndecided = {json.dumps(sentences)}\n")


def drafts(shop) -> list[str]:
    return [path.read_text() for path in sorted(shop.folder.glob("tools_md/order-[0-9].tool.md"))]


def test_an_import_counts_the_sentences_that_somebody_must_decide_about(shop) -> None:
    shop.write("shop.json", document())
    typed = shop("import", "openapi", "shop.json")

    assert "Next: decide about 3 restricting sentences" in typed.err
    assert "list the sentence in `[imports] decided` and import again with --force" in typed.err


def test_a_check_names_the_ways_to_decide(shop) -> None:
    shop.write("shop.json", document())
    shop("import", "openapi", "shop.json")
    said = shop("check").out

    assert "error[unknown-field] 'Restriction 1' waits for a decision" in said
    assert "write a field or a rule instead of this line, or delete the line" in said


def test_a_decided_sentence_has_no_line_in_any_draft_and_a_note(shop) -> None:
    shop.write("shop.json", document())
    decide(shop, "oauth tokens need the * scope*")
    typed = shop("import", "openapi", "shop.json")

    assert [text.count("**Restriction ") for text in drafts(shop)] == [1, 1]
    assert all(f": {TWICE}\n" in text for text in drafts(shop))
    assert all(SCOPE.format(f"read:{at}") in text for at, text in enumerate(drafts(shop)))
    assert f"{SCOPE.format('read:1')!r} stays prose: `[imports] decided` names it" in typed.err
    assert shop("check").code == 1


def test_a_check_passes_once_all_sentences_are_decided(shop) -> None:
    shop.write("shop.json", document())
    shop("import", "openapi", "shop.json")
    assert shop("check").code == 1
    decide(shop, "OAuth tokens need the * scope*", TWICE)
    typed = shop("import", "openapi", "shop.json", "--force")

    assert "Next: review the drafts, then run toolmd check" in typed.err
    assert shop("check").code == 0


@pytest.mark.parametrize("sentence", ["OAuth tokens", "need the * scope", "[O]Auth*"])
def test_a_part_of_a_sentence_decides_nothing(shop, sentence: str) -> None:
    shop.write("shop.json", document())
    decide(shop, sentence)
    shop("import", "openapi", "shop.json")

    assert [text for text in drafts(shop) if text.count("**Restriction ") != 2] == []


def test_a_sentence_without_words_is_an_error_of_the_settings(shop) -> None:
    decide(shop, "*")
    shop.write("shop.json", document())
    typed = shop("import", "openapi", "shop.json")

    assert typed.code != 0
    assert "'*' has no words, so it would decide about everything" in typed.err


def test_a_key_that_each_draft_loses_takes_one_line(shop) -> None:
    shop.write("shop.json", document(7))
    typed = shop("import", "openapi", "shop.json")
    lines = [line for line in typed.err.splitlines() if "`url` is not kept" in line]

    names = "order_0, order_1, order_2, order_3, order_4 and 2 more"
    lost = '`url` is not kept: "https://docs.example/0" (--json has the other 6)'
    assert lines == [f"note: {names}: {lost}"]
    told = json.loads(shop("import", "openapi", "shop.json", "--force", "--json").out)
    assert sum("`url` is not kept" in note["text"] for note in told["notes"]) == 7


def test_the_url_of_the_service_is_not_reported_as_lost(shop) -> None:
    shop.write("shop.json", document())
    typed = shop("import", "openapi", "shop.json")

    assert "shop.example" not in typed.err
    assert 'url = "https://shop.example/v1"' in (shop.folder / "toolmd.toml").read_text()


def test_notes_on_lines_of_the_source_stay_apart(capsys) -> None:
    texts = [f"`x{at % 2}` is not kept: {at}" for at in range(14)]
    notes = [{"definition": "a", "path": "", "text": text, "line": 3} for text in texts]
    tell_imported({"files": {}, "notes": notes, "refused": []}, [], json=True)

    assert capsys.readouterr().err.count("is not kept") == 14
