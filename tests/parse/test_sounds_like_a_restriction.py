"""An unknown key that sounds like a restriction is an error."""

import pytest
from field_places import Place, enforced, read
from hypothesis import given
from hypothesis import strategies as st

RESTRICTING = """
    Upper Limit|upper_limit|upperLimit|UPPER LIMIT|Lower Bound|At Most|atMost|At Least|No More Than|
    Not More Than|Must Match|Must Be|Must Not Be|Forbidden|Forbiden|Forbidden Values|Prohibited|
    Disallowed|Permitted Values|Allowed Regions|Only Allowed|Restricted To|Limited To|Whitelist|
    Blacklist|Never|Excluded Values|Spending Limit|Quota|Constraint|Constraints|Requires Login|
    Login Required|Signed In|Requires User|User Required|Needs User|Identified User|Required Role
""".replace("\n", "").split("|")
OF_A_VALUE = """
    Ceiling|Cap|Floor|Highest|Lowest|Largest|Between|Bounds|Valid Range|Less Than|Greater Than|
    Not Above|Accepted|Accepted Values|Supported Values|Matches|Validation|Validator|Rules|
    Required When|Not Empty|Exact Length|Digits|Positive
""".replace("\n", "").split("|")
OF_A_CALLER = """
    Roles|roles|Role|User Role|Allowed Roles|Access|Access Level|access_control|Accessible To|Scope|
    Scopes|OAuth Scopes|Permission|Permissions|Privileges|Visibility|Visible To|Available To|
    Audience|Private|Internal|Confidential|Admin Only|Owner Only|Staff Only|Who May Call|ACL|
    Authorization|Security
""".replace("\n", "").split("|")
HARMLESS = """
    Notes|Note|Source|Author|Author Name|License|Owner|Maintainer|See Also|Comment|Label|Title|
    Since|Deprecated|Precision|Order|Icon|Colour|Hint|Read Only Hint|Mustard|Overview|Limitations|
    Accessibility|Public Page|Private Notes|Inner Name|Administrator Guide|Access Notes
""".replace("\n", "").split("|")
OF_VALUES = ["parameter", "items", "returns", "returned field"]
TOOLS = [Place("tool", name) for name in (*OF_VALUES, "metadata", "limits", "safety")]
SKILLS = [Place("skill", name) for name in ("metadata", "input", "output schema")]
VALUE_PLACES = [*(Place("tool", name) for name in OF_VALUES), Place("skill", "input")]
HEADS = [Place("tool", "metadata"), Place("skill", "metadata")]
OPEN_PLACES = [*VALUE_PLACES, Place("tool", "metadata"), Place("skill", "metadata")]


def names(words):
    return st.sampled_from([word.strip() for word in words])


def put(place, key, value="5"):
    return read(place, place.text(f"- **{key}**: {value}")[0])


@given(st.sampled_from([*TOOLS, *SKILLS]), names(RESTRICTING))
def test_a_key_that_sounds_like_a_restriction_is_an_error_among_all_fields(place, key):
    spec, diagnostics = put(place, key)
    assert spec is None
    (found,) = [d for d in diagnostics if d.severity == "error"]
    assert key in found.message
    assert found.help


@given(st.sampled_from(HEADS), names(OF_A_CALLER), st.sampled_from(["admin", "yes", "u1, u2"]))
def test_a_key_that_reads_as_access_control_is_an_error_in_the_head_of_a_file(place, key, value):
    spec, diagnostics = put(place, key, value)
    assert spec is None
    (found,) = [d for d in diagnostics if d.severity == "error"]
    assert "Requires Auth" in found.help or "Only" in key or "Allowed" in key


@pytest.mark.parametrize(
    "lines", ["roles: admin", "roles: [admin, boss]", "access:\n  - admin", "access:\n  to: admin"]
)
def test_a_key_of_access_in_front_matter_is_an_error_in_each_form(lines):
    place = Place("tool", "")
    spec, (found,) = read(place, f"---\n{lines}\n---\n{place.text()[0]}")
    assert spec is None
    assert (found.severity, found.line) == ("error", 2)
    assert "Requires Auth" in found.help


@pytest.mark.parametrize("value", ["false", "no", "❌"])
@pytest.mark.parametrize("key", ["Public", "public", "Is Public", "Anonymous"])
def test_a_public_or_anonymous_key_restricts_if_it_says_no(key, value):
    place = Place("tool", "metadata")
    spec, (found,) = put(place, key, value)
    assert spec is None
    assert "Requires Auth" in found.help
    assert not found.fix, "the name alone would write 'Requires Auth: no'"
    assert put(place, key, "yes")[0] is not None


@pytest.mark.parametrize(
    ("key", "value"),
    [("Private", "no"), ("Access", "public"), ("Audience", "everyone"), ("Requires Login", "no")],
)
def test_a_key_of_access_that_opens_to_everyone_stays_a_warning(key, value):
    spec, (found,) = put(Place("tool", "metadata"), key, value)
    assert spec is not None
    assert found.severity == "warning"


def test_a_key_of_access_is_fixed_only_if_its_value_fits_requires_auth():
    place = Place("tool", "metadata")
    assert [edit.text for edit in put(place, "Private", "yes")[1][0].fix] == ["Requires Auth"]
    assert not put(place, "Roles", "admin")[1][0].fix


@pytest.mark.parametrize(
    ("key", "value", "help_"),
    [
        ("Requires Tenant Context", "yes", "Requires Context"),
        ("Tenant Context Required", "yes", "Requires Context"),
        ("Deadline", "5s", "Timeout"),
        ("Throttle", "3/s", "Rate"),
        ("Concurrency", "2", "Max Concurrent"),
        ("Disabled", "yes", "move the file"),
        ("Enabled", "no", "move the file"),
    ],
)
def test_a_key_of_calls_in_other_words_is_an_error_in_the_head_of_a_file(key, value, help_):
    for place in HEADS:
        spec, (found,) = put(place, key, value)
        assert spec is None
        assert help_ in found.help
        assert put(place, key, "yes" if key == "Enabled" else "no")[0] is not None


@pytest.mark.parametrize("key", ["Secret", "PII", "contains_phi", "Redacted", "Masked", "Private"])
def test_a_secret_in_other_words_is_an_error_among_a_values_fields(key):
    for place in VALUE_PLACES:
        spec, (found,) = put(place, key, "yes")
        assert spec is None
        assert [edit.text for edit in found.fix] == ["Sensitive"]
        assert put(place, key, "no")[0] is not None


@pytest.mark.parametrize("word", ["secret", "PII", "masked", "confidential"])
def test_a_secret_in_other_words_is_an_error_next_to_a_type(word):
    place = Place("tool", "")
    text, *_ = place.text()
    start, end = text.index("## Parameters"), text.index("## Returns")
    spec, found = read(
        place, f"{text[:start]}## Parameters\n\n- `a` (string, {word}): The a\n\n{text[end:]}"
    )
    assert spec is None
    assert any(word in d.message and d.severity == "error" for d in found)


@given(st.sampled_from(VALUE_PLACES), names(OF_A_VALUE))
def test_a_bound_in_other_words_is_an_error_among_a_values_fields(place, key):
    spec, diagnostics = put(place, key)
    assert spec is None
    assert [d.severity for d in diagnostics] == ["error"]


@given(st.sampled_from(OPEN_PLACES), names(HARMLESS))
def test_a_key_that_restricts_nothing_stays_a_warning(place, key):
    spec, diagnostics = put(place, key)
    assert spec is not None
    assert [(d.code, d.severity) for d in diagnostics] == [("unknown-field", "warning")]


@given(st.sampled_from(OPEN_PLACES), names(RESTRICTING))
def test_a_restriction_of_none_stays_a_warning(place, key):
    spec, diagnostics = put(place, key, "N/A")
    assert spec is not None
    assert {d.severity for d in diagnostics} == {"warning"}


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("Upper Limit", "Maximum"),
        ("At Most", "Maximum"),
        ("No More Than", "Maximum"),
        ("Lower Bound", "Minimum"),
        ("At Least", "Minimum"),
        ("Must Match", "Pattern"),
    ],
)
def test_the_error_suggests_the_field_with_the_same_meaning(key, field):
    _, (found,) = put(Place("tool", "parameter"), key)
    assert found.help == f"did you mean '{field}'?"
    assert [edit.text for edit in found.fix] == [field]


def test_the_error_of_a_forbidden_value_suggests_a_rule():
    _, (found,) = put(Place("tool", "parameter"), "Forbidden", "7")
    assert "## Rules" in found.help


def test_a_marked_restriction_below_another_fields_text_is_not_prose():
    place = Place("tool", "parameter")
    spec, diagnostics = read(place, place.text("- **Unit**: EUR\n  **Upper Limit**: 500")[0])
    assert spec is None
    assert any("Upper Limit" in d.message for d in diagnostics)


@pytest.mark.parametrize(
    ("kind", "at", "line", "name"),
    [
        ("tool", "safety", "Confirm If**: `amount > 5.0`", "Confirm When"),
        ("tool", "safety", "confirm_if**: `amount > 5.0`", "Confirm When"),
        ("tool", "safety", "Ask When**: `amount > 5.0`", "Confirm When"),
        ("tool", "safety", "Review When**: `amount > 5.0`", "Escalate When"),
        ("tool", "safety", "Risk Level**: high", "Sensitivity"),
        ("tool", "safety", "Needs Approval**: yes", "Requires Confirmation"),
        ("tool", "limits", "Call Limit**: 3", "Max Calls"),
        ("tool", "limits", "Whitelisted Domains**: bank.example", "Allowed Domains"),
    ],
)
def test_another_word_for_a_restriction_is_read_with_a_warning_and_a_fix(kind, at, line, name):
    place = Place(kind, at)
    spec, (found,) = read(place, place.text(f"- **{line}")[0])
    assert (found.code, found.severity) == ("misspelt-field", "warning")
    assert [edit.text for edit in found.fix] == [name]
    canonical, none = read(place, place.text(f"- **{name}**{line.partition('**')[2]}")[0])
    assert not none
    assert enforced(spec) == enforced(canonical)


@pytest.mark.parametrize("below", ["    - **Type**: string\n", "  - **Type**: string\n@@items\n"])
def test_it_is_an_error_within_items_and_properties_too(below):
    place = Place("tool", "")
    text = place.text()[0]
    line = below.split("\n")[0]
    indent = line[: len(line) - len(line.lstrip())]
    at = text.index(f"\n{line}\n") + len(line) + 1
    spec, found = read(place, f"{text[:at]}\n{indent}- **Upper Limit**: 5{text[at:]}")
    assert spec is None
    assert any("Upper Limit" in d.message and d.severity == "error" for d in found)
