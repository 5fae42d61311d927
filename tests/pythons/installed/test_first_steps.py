"""From an empty folder to a tool and a skill of one's own, by the commands that a person types."""


def test_a_tool_is_made_checked_called_and_tested(empty) -> None:
    assert empty.toolmd("init").code == 0
    assert empty.toolmd("new", "tool", "count_words").code == 0

    checked = empty.toolmd("check")
    called = empty.toolmd("call", "count_words", "text=one two")
    greeted = empty.toolmd("call", "say_hello", "name=Ana")
    tested = empty.toolmd("test")
    pytest_ran = empty.python("-m", "pytest", "-q", "-p", "no:cacheprovider")

    assert (checked.code, checked.err) == (0, "All well: 2 tools, 0 skills.\n")
    assert called.json == {"text": "one two"}
    assert greeted.json == {"greeting": "Hello, Ana!"}
    assert tested.code == 0, tested
    assert pytest_ran.code == 0, pytest_ran


def test_a_call_is_denied_with_its_reason_and_recorded(project) -> None:
    denied = project.toolmd("call", "say_hello", "name=")

    assert denied.code != 0
    assert "name" in denied.err
    (record,) = project.toolmd("audit", "--json").json
    assert record["decision"] == "deny"
    assert project.toolmd("audit", "--verify").code == 0


def test_a_skill_is_made_and_run_and_its_run_is_kept(project) -> None:
    assert project.toolmd("new", "skill", "repeat_it").code == 0

    ran = project.toolmd("run", "repeat_it", "text=again")

    assert ran.json == {"text": "again"}
    assert [run["skill"] for run in project.toolmd("runs", "--json").json] == ["repeat_it"]
