"""Edits that weaken a policy, and the policy that stays live."""

from dataclasses import fields

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from policies import (
    FULL,
    edited,
    places,
    project_files,
    restricting_lines,
    spec_of,
    tool_of,
    without,
)

from toolmd import Parameter, Schema, SkillSpec, ToolSpec, parse_skill, parse_tool
from toolmd._load.weakening import comparisons, keep_stricter, list_weakened
from toolmd._types.call_spec import Limits, Safety, ToolCallSpec
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError, MalformedError

OLD = spec_of(FULL)
HARMLESS = {
    Safety: {"text"},
    ToolSpec: {"name", "title", "description", "notes", "when_to_use", "version", "category",
               "implemented_by",
               "tags", "examples", "sections", "extra", "source", "errors"},
    Schema: {"description", "has_default", "default", "from_caller", "unit", "has_example",
             "example", "discriminator", "accepts_handle", "sent_in", "to_model"},
    SkillSpec: {"name", "title", "description", "notes", "when_to_use", "version", "category",
                "tags", "required_tools", "required_skills", "output", "workflow", "sections",
                "extra", "source", "places", "schedule", "schedule_inputs"},
}  # fmt: skip
"""The fields that restrict nothing."""
COMPARED_APART = {
    ToolSpec: {"parameters", "returns", "given", "rules", "safety", "approvals", "limits"},
    Schema: {"items", "properties", "values", "one_of"},
    SkillSpec: {"parameters", "workflow_sections"},
}


@pytest.mark.parametrize("noun", [Safety, Limits, ToolSpec, Schema, SkillSpec])
def test_every_field_is_compared_or_known_to_restrict_nothing(noun) -> None:
    apart = HARMLESS.get(noun, set()) | COMPARED_APART.get(noun, set())
    table = comparisons(ToolCallSpec if noun is ToolSpec else noun)

    assert set(table) | apart == set(
        getattr(noun, "model_fields", None) or {f.name for f in fields(noun)}
    )
    assert not set(table) & apart


@pytest.mark.parametrize(
    ("line", "by", "place"),
    [
        ("- **Requires Auth**: true\n", "", "Metadata: Requires Auth"),
        ("- **Requires Context**: patient\n", "", "Metadata: Requires Context"),
        ("- **Category**: care\n", "- **Category**: care\n- **Unknown Parameters**: ignore\n",
         "Metadata: Unknown Parameters"),
        ("- **Category**: care\n", "- **Category**: care\n- **Read Only**: true\n",
         "Metadata: Read Only"),
        ("- **Category**: care\n", "- **Category**: care\n- **Idempotent**: yes\n",
         "Metadata: Idempotent"),
        ("- **Enum**: aspirin, ibuprofen\n", "- **Enum**: aspirin, ibuprofen, opium\n",
         "Parameters: drug: Enum"),
        ("- **Required**: true\n- **Description**: How much", "- **Description**: How much",
         "Parameters: dose: Required"),
        ("- **Type**: integer", "- **Type**: number", "Parameters: dose: Type"),
        ("- **Minimum**: 1\n", "- **Minimum**: 0\n", "Parameters: dose: Minimum"),
        ("- **Maximum**: 10\n", "- **Maximum**: 11\n", "Parameters: dose: Maximum"),
        ("`[a-z ]+`", "`[a-z]+`", "Parameters: note: Pattern"),
        ("  - **Format**: date\n", "", "Parameters: days: Items: Format"),
        ("    - **Required**: true\n", "", "Parameters: place: ward: Required"),
        ("    - **Max Length**: 20\n", "    - **Max Length**: 21\n",
         "Parameters: place: ward: Max Length"),
        ("- **Min Confidence**: 0.8", "- **Min Confidence**: 0.79", "Safety: Min Confidence"),
        ("- **Sensitivity**: high", "- **Sensitivity**: medium", "Safety: Sensitivity"),
        ("give, dose", "give, dose, please", "Safety: Intent Keywords"),
        ("`dose > 5`", "`dose > 6`", "Safety: Confirm When"),
        ("- `dose < 8 ||", "- `dose < 9 ||", "Rules"),
        ("**Rate**: 3/s", "**Rate**: 3/min", ""),
        ("**Rate**: 3/s", "**Rate**: 100/min", "Limits: Rate"),
        ("days by 4", "days by 5", "Limits: Max Batch"),
        (", *.care.example.org", ", *.example.org", "Limits: Allowed Domains"),
        (", *.care.example.org", ", x.care.example.org", ""),
    ],
)  # fmt: skip
def test_an_edit_that_allows_more_is_found_and_named(line, by, place) -> None:
    found = list_weakened(OLD, edited(line, by))

    assert places(found) == ({place} if place else set())


def test_a_required_parameter_must_not_be_removed() -> None:
    start, _, rest = FULL.partition("### dose")
    new = spec_of(start + "### note" + rest.partition("### note")[2].replace("dose", "size(drug)"))

    assert "Parameters: dose" in places(list_weakened(OLD, new))
    assert keep_stricter(OLD, new).spec.parameters == OLD.parameters


def test_a_renamed_parameter_keeps_its_restrictions() -> None:
    text = FULL.replace("dose", "amount").replace("give_amount", "give_dose")
    text = text.replace("give, amount", "give, dose")
    renamed = spec_of(text)
    wider = spec_of(text.replace("- **Maximum**: 10\n", ""))

    assert "Parameters: dose" not in places(list_weakened(OLD, renamed))
    assert "Parameters: amount: Maximum" in places(list_weakened(OLD, wider))


def test_a_new_parameter_a_new_description_and_examples_weaken_nothing() -> None:
    more = "### why\n\n- **Type**: string\n- **Description**: Why\n\n## Returns"
    new = spec_of(FULL.replace("## Returns", more).replace("a dose.", "one dose.", 1))

    assert list_weakened(OLD, new) == ()


def test_a_threshold_below_the_default_is_found() -> None:
    silent = edited("- **Min Confidence**: 0.8\n")
    low = edited("- **Min Confidence**: 0.8", "- **Min Confidence**: 0.5")

    assert list_weakened(silent, low) == ()
    assert places(list_weakened(silent, low, default_min=0.7)) == {"Safety: Min Confidence"}
    assert keep_stricter(silent, low, default_min=0.7).spec.safety.min_confidence is None
    (found,) = list_weakened(silent, low, default_min=0.7)
    assert (found.before, found.after) == (0.7, 0.5)


def test_a_threshold_of_at_least_the_default_weakens_nothing() -> None:
    silent = edited("- **Min Confidence**: 0.8\n")
    low = edited("- **Min Confidence**: 0.8", "- **Min Confidence**: 0.5")

    assert list_weakened(silent, low, default_min=0.5) == ()
    assert list_weakened(silent, silent, default_min=0.5) == ()
    assert list_weakened(silent, low, default_min=0.0) == ()
    assert list_weakened(low, OLD, default_min=0.9) == ()


def test_a_threshold_of_a_file_is_kept_for_any_default() -> None:
    low = edited("- **Min Confidence**: 0.8", "- **Min Confidence**: 0.5")

    held = keep_stricter(OLD, low, default_min=0.9)

    assert len(held.weakened) == 1
    assert held.spec.safety.min_confidence == 0.8


def test_a_result_that_is_no_longer_hidden_is_found() -> None:
    fields = (
        "- **Properties**:\n  - **ssn**:\n    - **Type**: string\n    - **Sensitive**: true\n"
        "  - **n**:\n    - **Type**: integer\n"
    )
    text = FULL.replace("What was given\n", "What was given\n" + fields)
    hidden = spec_of(text)
    shown = spec_of(text.replace("    - **Sensitive**: true\n", ""))

    assert places(list_weakened(hidden, shown)) == {"Returns: ssn: Sensitive"}
    assert list_weakened(keep_stricter(hidden, shown).spec, hidden) == ()
    assert "Returns: ssn: Sensitive" in places(list_weakened(hidden, OLD))


def test_stricter_parts_of_the_same_edit_are_live_at_once() -> None:
    text = FULL.replace("- **Min Confidence**: 0.8\n", "").replace("10\n", "5\n", 1)
    new = spec_of(text.replace("Give a patient a dose.", "Give it."))

    held = keep_stricter(OLD, new)

    assert places(held.weakened) == {"Safety: Min Confidence"}
    assert held.spec.safety.min_confidence == 0.8
    assert held.spec.parameters[1].shape.maximum == 5
    assert held.spec.description == "Give it."
    assert held.spec.hash not in (OLD.hash, new.hash)


def test_an_edit_that_weakens_nothing_is_applied_unchanged() -> None:
    new = edited("- **Maximum**: 10", "- **Maximum**: 9")

    assert keep_stricter(OLD, new).spec is new


def test_a_finding_names_both_values() -> None:
    (found,) = list_weakened(OLD, edited("- **Timeout**: 10s\n"))

    assert str(found) == "Limits: Timeout: 10s → none"
    assert found.diff == "- Limits: Timeout: 10s\n+ Limits: Timeout: none"


@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        ("Rate", "3/s", "4/s"),
        ("Rate", "3/s", "100 per 90s"),
        ("Timeout", "10s", "20s"),
        ("Max Batch", "days by 4", "days by 5"),
        ("Allowed Domains", "api.example.org, *.care.example.org", "*.example.org"),
    ],
)
def test_a_finding_shows_values_as_the_file_has_them(field, before, after) -> None:
    new = edited(f"- **{field}**: {before}", f"- **{field}**: {after}")
    (found,) = list_weakened(OLD, new)

    assert str(found) == f"Limits: {field}: {before} → {after}"


@pytest.mark.parametrize(
    ("line", "before"),
    [
        ("- **Rate**: 3/s\n", {"calls": 3, "per_s": 1.0}),
        ("- **Max Batch**: days by 4\n", {"parameter": "days", "size": 4}),
        ("- **Enum**: aspirin, ibuprofen\n", ["aspirin", "ibuprofen"]),
        ("- **Allowed Domains**: api.example.org, *.care.example.org\n",
         ["api.example.org", "*.care.example.org"]),
        ("- **Max Calls**: 20\n",
         ["20 calls per conversation ever"]),
    ],
)  # fmt: skip
def test_a_finding_has_the_old_value_as_json_and_a_removed_one_as_none(line, before) -> None:
    (found,) = list_weakened(OLD, edited(line))

    assert (found.before, found.after) == (before, None)


def test_a_finding_has_the_new_value_as_json() -> None:
    (found,) = list_weakened(OLD, edited("- **Rate**: 3/s\n", "- **Rate**: 4/s\n"))

    assert found.after == {"calls": 4, "per_s": 1.0}


CUTS = [FULL, *(file.read_text("utf-8") for file in project_files())]


@pytest.mark.slow
def test_removing_a_restricting_line_weakens_or_breaks_and_adding_it_never_does() -> None:
    lines = [(text, number) for text in CUTS for number in restricting_lines(text)]
    assert len(lines) > 100
    for text, number in lines:
        whole, less = spec_of(text), parse_tool(without(text, number), "x.tool.md")[0]
        if less is None or less.hash == whole.hash:
            continue  # A broken file keeps what it said last; what others imply restricts nothing.
        line = text.splitlines()[number]
        assert list_weakened(whole, less), line
        assert list_weakened(less, whole) == (), line
        assert list_weakened(whole, keep_stricter(whole, less).spec) == (), line


def test_a_file_is_as_strict_as_itself() -> None:
    for text in CUTS:
        assert list_weakened(spec_of(text), spec_of(text)) == ()


@given(text=st.sampled_from(CUTS), data=st.data())
@settings(max_examples=3 * settings.default.max_examples)
def test_a_file_that_loses_any_part_leaves_the_live_policy_as_strict(text, data) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    old = spec_of(text)
    new, _ = parse_tool(text[:start] + text[end:], "x.tool.md")
    if new is None:
        return

    held = keep_stricter(old, new)

    assert list_weakened(old, held.spec) == ()
    assert keep_stricter(held.spec, new).spec.canonical == held.spec.canonical


texts = st.sampled_from(["", "a", "ab", "abc", "2026-01-02", "x"])
numbers = st.integers(-3, 3)
scalars = st.one_of(texts, numbers, st.booleans(), st.none(), st.sampled_from([0.5, 1.5]))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=6,
)
bounds = st.sampled_from([None, None, -1, 0, 2])
sizes = st.sampled_from([None, None, 0, 1, 2])
leaves = st.builds(
    Schema,
    types=st.sampled_from(
        [(), ("string",), ("integer",), ("number",), ("integer", "string"), ("boolean", "null")]
    ),
    enum=st.none() | st.lists(scalars, min_size=1, max_size=3).map(tuple),
    minimum=bounds,
    maximum=bounds,
    min_length=sizes,
    max_length=sizes,
    pattern=st.sampled_from([None, None, "[a-z]*", "a.*"]),
    format=st.sampled_from([None, None, "date"]),
)


def around(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    """Give arrays and objects of these shapes."""
    field = st.builds(Parameter, name=st.sampled_from("ab"), shape=inner, required=st.booleans())
    arrays = st.builds(
        Schema,
        types=st.just(("array",)),
        min_items=sizes,
        max_items=sizes,
        unique=st.booleans(),
        items=st.none() | inner,
    )
    objects = st.builds(
        Schema,
        types=st.just(("object",)),
        properties=st.none() | st.lists(field, max_size=2, unique_by=lambda f: f.name).map(tuple),
    )
    maps = st.builds(Schema, types=st.just(("object",)), values=inner)
    closed = objects.filter(lambda shape: shape.properties is not None)
    several = st.lists(
        st.builds(Parameter, name=st.sampled_from("stu"), shape=closed),
        min_size=1,
        max_size=3,
        unique_by=lambda p: p.name,
    )
    unions = st.builds(Schema, types=st.just(("object",)), one_of=several.map(tuple))
    return arrays | objects | maps | unions


shapes = st.recursive(leaves, around, max_leaves=3)


def takes(spec: ToolSpec, arguments: dict[str, object]) -> bool:
    try:
        ArgumentsValidator(spec.parameters, ignore_unknown=False).validate(arguments)
    except (InvalidArgumentsError, MalformedError):
        return False
    return True


@example(
    old=Schema(types=("object",), properties=()),
    new=Schema(types=("object",), values=Schema()),
    value={"a": None},
)
@given(old=shapes, new=shapes, value=values)
@settings(max_examples=4 * settings.default.max_examples)
def test_the_live_policy_stays_as_strict_at_every_depth(old, new, value) -> None:
    """A value that passes passed before, but for fields that the old object did not know."""
    before, after = tool_of(old), tool_of(new)
    held = keep_stricter(before, after)

    assert list_weakened(before, held.spec) == ()
    assert keep_stricter(held.spec, after).spec.parameters == held.spec.parameters
    if takes(held.spec, {"x": value}) and not new_fields(old, new):
        assert takes(before, {"x": value})


def new_fields(old: Schema | None, new: Schema | None) -> bool:
    """Tell whether an object got a field more at any depth."""
    if old is None or new is None:
        return False
    if new.one_of is not None:
        before = {each.name: each.shape for each in old.one_of or ()}
        same = [(before.get(p.name, old), p.shape) for p in new.one_of]
        return any(new_fields(one, other) for one, other in same)
    known = {field.name: field.shape for field in old.properties or ()}
    if old.properties is not None:
        for field in new.properties or ():
            if field.name not in known or new_fields(known[field.name], field.shape):
                return True
    return new_fields(old.items, new.items) or new_fields(old.values, new.values)


PAYMENT = """\
### payment

- **Type**: object
- **One Of**:
  - **card**:
    - **Properties**:
      - **kind** (string, required)
      - **number** (string, required, sensitive)
      - **months** (integer, maximum 12)
  - **iban**:
    - **Properties**:
      - **kind** (string, required)
      - **iban** (string, required)
- **Discriminator**: kind

### note
"""


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ("integer, maximum 12", "integer", ["payment: card: months: Maximum"]),
        ("string, required, sensitive", "string, required", ["payment: card: number: Sensitive"]),
        ("**number** (string, required, sensitive)", "**no** (string, sensitive)",
         ["payment: card: number"]),
        ("- **Discriminator**: kind", "",
         ["payment: card: kind: Enum", "payment: iban: kind: Enum"]),
        ("- **Discriminator**", "  - **cash**:\n    - kind (string, required)\n- **Discriminator**",
         ["payment: One Of"]),
        ("  - **iban**:\n", "  - **bic**:\n", ["payment: One Of"]),
        ("integer, maximum 12", "integer, maximum 6", []),
    ],
)  # fmt: skip
def test_a_weaker_shape_stays_pending_and_a_stricter_one_is_live(old, new, places) -> None:
    before = spec_of(FULL.replace("### note\n", PAYMENT))
    after = spec_of(FULL.replace("### note\n", PAYMENT.replace(old, new)))

    assert [one.place for one in list_weakened(before, after)] == [
        f"Parameters: {at}" for at in places
    ]


def test_shapes_that_an_object_may_share_are_kept_whole() -> None:
    """Without the second shape, an object that fitted both would fit one."""
    text = PAYMENT.replace(" (string, required)", " (string)").replace(
        "- **Discriminator**: kind\n", ""
    )
    text = text.replace("string, required, sensitive", "string")
    before = spec_of(FULL.replace("### note\n", text))
    after = spec_of(FULL.replace("### note\n", text.replace("maximum 12", "maximum 6")))
    same = spec_of(FULL.replace("### note\n", text.replace("**iban**:\n", "**iban**: A bank\n")))

    assert [one.place for one in list_weakened(before, after)] == ["Parameters: payment: One Of"]
    assert list_weakened(before, same) == ()


def test_a_sensitive_field_of_a_results_shape_must_stay_sensitive() -> None:
    head, _, returns = FULL.partition("## Returns\n")
    _, _, tail = returns.partition("\n## ")
    shapes = PAYMENT.partition("\n\n")[2].rpartition("### note")[0]
    before = spec_of(f"{head}## Returns\n\n{shapes}\n## {tail}")
    for new in (shapes.replace(", sensitive", ""), "- **Type**: object\n"):
        after = spec_of(f"{head}## Returns\n\n{new}\n## {tail}")
        assert list_weakened(before, after)
        held = keep_stricter(before, after).spec
        assert isinstance(held, ToolSpec)
        assert held.returns == before.returns


SKILL = """\
# Say Hello

Says hello.

## Metadata

- **Name**: say_hello
- **Version**: 1.0.0
- **Category**: test
- **Required Tools**: greet, wave

## Workflow

1. **Greet** them.
   - **Ask**: Greet {who}?
   - **Use**: greet
   - **With**:
     - name: `who`
   - **Save as**: said
   - **Check**: `size(said) > 0`

2. **Wave**.
   - **Use**: wave

## Input Schema

### who

- **Type**: string
- **Required**: true
- **Description**: Who
- **Max Length**: 20

## Output Schema

- **Type**: object (SkillResult)
"""


def skill_of(text: str) -> SkillSpec:
    spec, said = parse_skill(text, "skills_md/say-hello.skill.md")
    assert spec is not None, said
    return spec


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("   - **Ask**: Greet {who}?\n", "Workflow: greet"),
        ("   - **Check**: `size(said) > 0`\n", "Workflow: greet"),
        ("- **Max Length**: 20\n", "Input Schema: who: Max Length"),
        ("- **Required**: true\n", "Input Schema: who: Required"),
    ],
)
def test_a_skill_that_asks_or_checks_less_is_a_pending_change(line: str, place: str) -> None:
    old, new = skill_of(SKILL), skill_of(SKILL.replace(line, ""))

    held = keep_stricter(old, new)

    assert places(held.weakened) == {place}
    assert held.spec is old
    assert list_weakened(new, old) == ()


@pytest.mark.parametrize(
    ("step", "instead"),
    [
        ("**Ask**: Greet?", ""),
        ("**Ask**: Greet?", "**Ask**: Greet?\n   - **When**: `size(who) > 3`"),
        ("**Ask**: Greet?", "**Ask**: Greet?\n   - **If no**: continue"),
        ('**Stop**: "No."\n   - **When**: `size(who) > 3`', ""),
        ("**Choose**: `who`\n   - **Check**: `size(who) > 3`", "**Choose**: `who`"),
    ],
)
def test_a_step_before_a_use_keeps_what_it_asks_or_checks(step: str, instead: str) -> None:
    wave = "2. **Wave**"
    asked, less = (
        skill_of(SKILL.replace(wave, f"2. {one}\n\n3. **Wave**" if one else wave))
        for one in (step, instead)
    )

    assert places(list_weakened(asked, less)) == {"Workflow: wave"}
    assert list_weakened(less, asked) == ()
    assert list_weakened(asked, asked) == ()


def approving(*groups: str) -> ToolSpec:
    titled = (f"### Group {number}\n\n{one}\n" for number, one in enumerate(groups))
    return spec_of(f"{FULL}\n## Approval\n\n{''.join(titled)}")


def test_each_approval_needs_one_of_its_own() -> None:
    head = "- **When**: always\n- **By**: head\n"
    large = "- **When**: `dose > 7`\n- **By**: head\n"

    for two, one in ((approving(head, head), approving(head)),
                     (approving(head, large), approving(head))):  # fmt: skip
        assert places(list_weakened(two, one)) == {"Approval"}
        assert list_weakened(one, two) == ()
        assert len(keep_stricter(two, one).spec.approvals) == 2
    assert list_weakened(approving(large, head), approving(head, large)) == ()


def test_a_changed_approval_is_found_by_its_field() -> None:
    old = approving("- **When**: `dose > 7`\n- **By**: head\n- **Expires**: 2 hours\n")
    new = approving("- **When**: `dose > 8`\n- **By**: head\n- **Expires**: 3 hours\n")

    assert {(one.place, one.before, one.after) for one in list_weakened(old, new)} == {
        ("Approval: When", "dose > 7", "dose > 8"), ("Approval: Expires", "2 hours", "3 hours"),
    }  # fmt: skip


def test_a_model_sees_no_more_of_a_result_at_once() -> None:
    few = spec_of(FULL.replace("What was given\n", "What was given\n- **To Model**: id\n"))

    assert places(list_weakened(few, OLD)) == {"Returns: To Model"}
    assert list_weakened(OLD, few) == ()


def test_a_skill_may_get_other_words_and_more_steps() -> None:
    more = "2. **Wave**.\n   - **Use**: wave\n\n3. **Wave** again.\n   - **Use**: wave\n"
    new = skill_of(SKILL.replace("2. **Wave**.\n   - **Use**: wave\n", more).replace("?", "now?"))

    assert list_weakened(skill_of(SKILL), new) == ()


def test_a_skill_may_use_another_tool_and_a_tool_as_freely_as_before() -> None:
    freely = SKILL.replace("   - **Use**: wave", "   - **Use**: greet")
    other = SKILL.replace("greet, wave", "greet, nod").replace("**Use**: wave", "**Use**: nod")
    unasked = freely.replace("   - **Ask**: Greet {who}?\n", "")

    assert list_weakened(skill_of(SKILL), skill_of(other)) == ()
    assert list_weakened(skill_of(freely), skill_of(unasked)) == ()


def test_a_finding_names_the_least_policy_of_a_tool_before_and_now() -> None:
    greet = "\n2. **Greet** again.\n   - **Use**: greet\n   - **Check**: `true`\n"
    guarded = SKILL.replace("\n2. **Wave**", greet + "\n3. **Wave**")
    asked = guarded.replace("   - **Check**: `size(said) > 0`\n", "")
    free = asked.replace("   - **Ask**: Greet {who}?\n", "")

    (less,) = list_weakened(skill_of(guarded), skill_of(asked))
    (least,) = list_weakened(skill_of(guarded), skill_of(free))

    assert (less.before, less.after) == (["Check: true"], ["Ask"])
    assert (least.before, least.after) == (["Check: true"], None)


@pytest.mark.parametrize(
    ("field", "old", "new"), [("durable", True, False), ("context", {"patient": "who"}, {})]
)
def test_a_skill_keeps_the_requirements_for_its_runs(field: str, old: object, new: object) -> None:
    before = skill_of(SKILL).model_copy(update={field: old})
    after = before.model_copy(update={field: new})

    held = keep_stricter(before, after)

    assert places(held.weakened) == {f"Metadata: {field.replace('_', ' ').title()}"}
    assert held.spec is before
    assert list_weakened(after, before) == ()


def test_a_tool_is_not_compared_with_a_skill() -> None:
    with pytest.raises(TypeError):
        list_weakened(OLD, skill_of(SKILL))
    with pytest.raises(TypeError):
        list_weakened(skill_of(SKILL), OLD)
