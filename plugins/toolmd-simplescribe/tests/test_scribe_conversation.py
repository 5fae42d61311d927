"""`toolmd test` replays the questions of a clinician, on a FHIR server."""

from pathlib import Path

from tests.command import run_command

CHART = Path(__file__).parents[1] / "conversations" / "chart.chat.md"


def test_the_questions_of_a_clinician_are_replayed(tmp_path, server, make):
    (tmp_path / "toolmd.toml").write_text("tools = []\nskills = []\n")
    laboratory = [make.code("laboratory", system="x")]
    scan = [{"attachment": {"contentType": "application/pdf", "title": "Allergy letter"}}]
    drug = {"medicationCodeableConcept": {"text": "Penicillin V"}}
    high = [{"low": {"value": 4, "unit": "%"}, "high": {"value": 5.6, "unit": "%"}}]
    server.add(
        make.patient(),
        make.medication(),
        make.medication(**drug, doNotPerform=True),
        {**make.allergy(code={"text": "Penicillin"}), "subject": {"reference": "Patient/123"}},
        make.lab(7.1, category=laboratory, referenceRange=high),
        make.note("Rash after penicillin."),
        make.note(content=scan),
    )
    environ = {"SIMPLESCRIBE_FHIR_URL": server.url, "SIMPLESCRIBE_EMBEDDER": "none"}
    loaded = {"TOOLMD_LOAD_PLUGINS": "simplescribe", **environ}
    done = run_command(tmp_path, "test", str(CHART), **loaded)
    assert done.code == 0, done.out
    assert "5 examples, all passed" in done.out + done.err
