"""The three catalogues are read whole: each tool, each parameter, and nothing that is not there."""

from pathlib import Path
from typing import Any

import catalog_truth as truth
import pytest

from toolmd import Severity, ToolSpec, parse_tool
from toolmd.importing import Imported
from toolmd_catalog.reader import read as read_catalog

HERE = Path(__file__).parent
DOCUMENTS = HERE.parents[2].parent / "shared" / "seeds"
"""The complete documents, next to the repository if available."""
SOURCES = [
    pytest.param(name, whole, id=f"{name}-{'whole' if whole else 'short'}")
    for name in truth.CATALOGS
    for whole in (False, True)
]


def imported(name: str, *, whole: bool = False) -> Imported:
    file = HERE / "catalogs" / f"{name}.md"
    if whole:
        file = DOCUMENTS / truth.CATALOGS[name][1]
        if not file.is_file():
            pytest.skip("the whole document is not here")
    return read_catalog(file.read_text("utf-8"), file.name)


def specs(read: Imported) -> dict[str, ToolSpec]:
    made = {}
    for draft in read.drafts:
        spec, found = parse_tool(draft.text, f"{draft.name.replace('_', '-')}.tool.md")
        assert spec is not None, found
        made[spec.name] = spec
    return made


def bare(schema: Any) -> Any:
    """Return a schema without its words."""
    if isinstance(schema, list):
        return [bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {k: v for k, v in schema.items() if k not in {"description", "x-unit"}}
    return {
        k: {name: bare(field) for name, field in v.items()} if k == "properties" else bare(v)
        for k, v in kept.items()
    }


@pytest.mark.parametrize(("name", "whole"), SOURCES)
def test_every_parameter_is_found_and_none_invented(name: str, whole: bool) -> None:
    found = {
        tool: {p.name: (p.required, bare(p.shape.json_schema)) for p in spec.parameters}
        for tool, spec in specs(imported(name, whole=whole)).items()
    }

    assert found == truth.CATALOGS[name][0]


@pytest.mark.parametrize(("name", "whole"), SOURCES)
def test_the_drafts_have_no_error(name: str, whole: bool) -> None:
    read = imported(name, whole=whole)

    assert read.refused == ()
    for draft in read.drafts:
        path = f"{draft.name.replace('_', '-')}.tool.md"
        _, found = parse_tool(draft.text, path)
        # Whether what is to be tried again may be, only a person can say.
        said = [d for d in found if d.severity is not Severity.HINT and d.code != "unsafe-retry"]
        assert said == []


def test_guards_are_read_from_bullets_and_table() -> None:
    for name, spec in specs(imported("health")).items():
        held = {key: getattr(spec.safety, key) for key in truth.SAFETY[name]}
        assert held == truth.SAFETY[name], name
        assert bool(spec.safety.intent_keywords) is truth.SAFETY[name]["explicit_intent"]


def test_a_comparison_with_another_parameter_becomes_a_rule() -> None:
    (rule,) = specs(imported("health"))["log_blood_pressure"].rules

    assert rule.expression == "diastolic < systolic"
    assert rule.message == "Diastolic must be below systolic."


def test_each_example_of_a_call_is_kept() -> None:
    for name in truth.CATALOGS:
        for spec in specs(imported(name)).values():
            if name != "reviews":
                assert len(spec.examples) == 1, spec.name


def test_an_example_of_how_to_add_a_tool_is_not_a_tool() -> None:
    read = imported("health")

    assert "log_symptom" not in specs(read)
    assert any(note.definition == "log_symptom" for note in read.notes)


def test_only_tools_that_the_text_calls_read_only_are() -> None:
    marked = [name for name, spec in specs(imported("health")).items() if spec.read_only]

    assert marked == ["get_today_summary"]


def test_a_statement_about_all_tools_applies_to_each() -> None:
    for spec in specs(imported("records")).values():
        assert spec.read_only
        assert spec.requires_context == ("patient",)
        assert spec.unknown_parameters == "ignore"


def test_the_items_of_a_response_become_the_result() -> None:
    returns = specs(imported("records"))["get_labs"].returns

    assert returns.types == ("array",)
    assert returns.items is not None
    assert returns.items.properties is not None
    fields = {p.name: p.required for p in returns.items.properties}
    assert fields["referenceRange"] is False
    assert list(fields)[:4] == ["code", "display", "value", "unit"]


def test_limits_are_read_in_their_places() -> None:
    found = specs(imported("reviews"))
    rate, batch = found["search_pubmed"].limits.rate, found["embed_text"].limits.max_batch

    assert rate is not None
    assert (rate.calls, rate.per_s) == (3, 1)
    assert batch is not None
    assert (batch.parameter, batch.size) == ("text", 256)
    for spec in found.values():
        assert spec.limits.retries == 3
        assert spec.limits.allowed_domains == ("ncbi.nlm.nih.gov", "api.crossref.org")


def test_two_shapes_of_arguments_become_a_rule() -> None:
    spec = specs(imported("reviews"))["run_pico"]

    assert [rule.expression for rule in spec.rules] == ["has(cluster_id) != has(pmid_list)"]
    assert spec.safety.confirm_when == "!has(pmid_list) || size(pmid_list) > 800"


def test_helpers_that_are_not_exposed_stay_hidden() -> None:
    assert not {"add_papers", "compute_metrics"} & specs(imported("reviews")).keys()


def test_every_guess_is_noted_with_its_place() -> None:
    notes = [str(note) for note in imported("health").notes]

    assert "line 15: log_blood_pressure: no result in the text: any value" in notes
    assert any("days" in note and "every value there is" in note for note in notes)
    assert any("log_blood_pressure.notes: only an example has it" in note for note in notes)
    assert any("Intent Keywords were guessed" in note for note in notes)


def test_signs_in_the_wrong_encoding_are_never_read_as_signs() -> None:
    text = (HERE / "catalogs" / "health.md").read_text("utf-8")
    garbled = text.replace("≥", "≥".encode().decode("mac_roman")).replace("| 0.7 |", "| - |")
    read = read_catalog(garbled, "health.md")
    found = specs(read)

    assert found["log_hydration"].safety.min_confidence is None
    assert found["add_care_log"].safety.min_confidence == 0.9  # the table has it too
    assert any("can't be read" in note.text for note in read.notes)
