"""The plugins of this repository, from their wheels."""

PLUGINS = {"toolmd-alara", "toolmd-litreview", "toolmd-simplescribe"}
LOADED = {"TOOLMD_LOAD_PLUGINS": ",".join(sorted(PLUGINS))}


def test_each_plugin_works_in_its_own_project(project) -> None:
    plugins = project.toolmd("plugins", "--json", **LOADED).json

    found = {plugin["name"]: plugin["state"] for plugin in plugins}
    assert {name: found.get(name) for name in PLUGINS} == dict.fromkeys(PLUGINS, "loaded")
    checked = project.toolmd("check", **LOADED)
    assert checked.code == 0, checked


def test_alara_logs_its_users_entry(project) -> None:
    caller = ("--confidence", "0.9", "--user", "ana")
    words = ("log_blood_pressure", "systolic=120", "diastolic=80", *caller)
    logged = project.toolmd("call", *words, **LOADED)

    assert logged.code == 0, logged
    summary = project.toolmd("call", "get_today_summary", *caller, **LOADED)
    assert "120" in summary.out, summary


def test_simplescribe_loads_indexes_and_returns_one_patients_record(project) -> None:
    for words in (
        ("samples", "bundles"),
        ("load", "bundles/avery-example.json"),
        ("index", "--all"),
    ):
        done = project.script("toolmd-simplescribe", *words, **LOADED)
        assert done.code == 0, done

    vitals = ("get_vitals", "--args-json", '{"patient_id": "123", "types": ["BP"], "limit": 1}')
    notes = ("get_notes_search_results", "patient_id=123", "query=ACE inhibitor", "top_k=1")
    (vital,) = project.toolmd("call", *vitals, "--context", "patient=123", **LOADED).json
    (note,) = project.toolmd("call", *notes, "--context", "patient=123", **LOADED).json
    other = project.toolmd(
        "call", "get_vitals", "patient_id=456", "--context", "patient=123", **LOADED
    )

    assert vital["value"] == "128/80"
    assert note["note_id"] == "note-cough"
    assert other.code != 0


def test_litreview_names_its_missing_settings(project) -> None:
    done = project.toolmd("call", "embed_text", "text=one", **LOADED)

    assert done.code != 0
    assert "LITREVIEW_EMBEDDINGS_URL" in done.out + done.err
