"""Steps that ask a person, and for which patient they call."""

import pytest
from run_world import MAKE_ONE, NO, YES, World, play_steps

from toolmd._types.call import Caller
from toolmd._types.run import Answer


def test_a_standalone_question_returns_the_answer(world: World) -> None:
    steps = (
        "1. **Ask**\n   - **Ask**: Which?\n   - **Save as**: said\n2. **Return**:\n"
        "   - said: `said`\n"
    )
    said = Answer(approved=True, text="the blue one")
    assert play_steps(world, steps, answers=(said,)).data == {"said": "the blue one"}
    assert play_steps(world, steps, answers=(YES,)).data == {"said": True}


def test_a_no_without_if_no_ends_the_skill(world: World) -> None:
    result = play_steps(world, "1. **Go on**\n   - **Ask**: Go on?\n", answers=(NO,))
    assert (result.code, result.message) == ("refused", "Declined: Go on.")


def test_a_guarded_tool_asks_with_its_own_prompt(world: World) -> None:
    steps = "1. **Do it**\n   - **Use**: guarded\n   - **With**:\n     - name: x\n"
    assert play_steps(world, steps, answers=(YES,)).success
    [question] = world.questions
    assert question.prompt == "Shall I guarded?"
    assert (question.tool, question.arguments) == ("guarded", {"name": "x"})
    assert world.called == ["guarded"]


def test_a_guarded_tool_that_a_person_declines_does_not_run(world: World) -> None:
    steps = "1. **Do it**\n   - **Use**: guarded\n   - **With**:\n     - name: x\n"
    assert play_steps(world, steps, answers=(NO,)).code == "refused"
    assert world.called == []
    assert world.rejected == ["held-2"]


def test_if_no_applies_to_the_confirmation_of_a_guarded_tool(world: World) -> None:
    steps = (
        "1. **Do it**\n   - **Use**: guarded\n   - **With**:\n     - name: x\n"
        '   - **If no**: stop "Left as it was."\n'
    )
    result = play_steps(world, steps, answers=(NO,))
    assert (result.code, result.message) == ("stopped", "Left as it was.")
    assert world.called == []


def test_an_approval_after_the_confirmation_expired_still_counts(world: World) -> None:
    world.lapsed.add("held-2")
    steps = "1. **Do it**\n   - **Use**: guarded\n   - **With**:\n     - name: x\n"
    assert play_steps(world, steps, answers=(YES,)).success
    assert len(world.questions) == 1
    assert world.calls == [("guarded", {"name": "x"})]


def test_the_step_s_question_is_the_guarded_tool_s_confirmation(world: World) -> None:
    steps = (
        "1. **Do it**\n   - **Ask**: Really?\n   - **Use**: guarded\n   - **With**:\n"
        "     - name: x\n"
    )
    assert play_steps(world, steps, answers=(YES,)).success
    [question] = world.questions
    assert question.prompt == "Really? I'd like to guarded: name: x. Is this correct?"
    assert question.sensitivity == "high"


@pytest.mark.parametrize(
    "use", ["", "   - **Use**: guarded\n   - **With**:\n     - name: `word`\n"]
)
def test_a_question_shows_what_cannot_be_seen_and_differs_for_other_values(
    world: World, use: str
) -> None:
    steps = f"1. **Do it**\n   - **Ask**: Really {{word}}?\n{use}"
    for word in ("Bob", "Bo\u200bb\nYes", "Bo<U+200B>b\\nYes"):
        assert play_steps(world, steps, {"word": word}, answers=(YES,)).success
    prompts = [question.prompt for question in world.questions]
    assert len(set(prompts)) == 3
    assert all(prompt.isprintable() for prompt in prompts)
    assert prompts[0].startswith("Really Bob?")
    assert all(("name: " in prompt) == bool(use) for prompt in prompts)


def test_a_person_may_approve_other_values(world: World) -> None:
    steps = (
        "1. **Do it**\n   - **Ask**: Really?\n   - **Use**: guarded\n   - **With**:\n"
        "     - name: x\n"
    )
    edited = Answer(approved=True, arguments={"name": "y"})
    assert play_steps(world, steps, answers=(edited,)).success
    assert world.calls == [("guarded", {"name": "y"})]


def test_a_run_without_a_person_waits(world: World) -> None:
    result = play_steps(world, MAKE_ONE + "2. **Go on**\n   - **Ask**: Go on?\n")
    assert (result.success, result.code, result.message) == (False, "waiting", "Go on?")
    assert world.called == ["make"]


# The patient


def test_the_patient_is_the_one_that_the_input_names(world: World) -> None:
    steps = "1. **Ward**\n   - **Use**: ward\n"
    named = "- **Patient From**: word\n"
    assert play_steps(world, steps, {"word": "p7"}, metadata=named).success
    assert play_steps(
        world, steps, {"word": "p7"}, metadata=named, caller=Caller("u", {"patient": "p7"})
    ).success
    assert [caller.context.get("patient") for caller in world.callers] == ["p7", "p7"]


def test_an_input_can_not_change_the_patient_of_the_session(world: World) -> None:
    steps = "1. **Ward**\n   - **Use**: ward\n"
    result = play_steps(world, steps, {"word": "p8"}, metadata="- **Patient From**: word\n",
                  caller=Caller("u", {"patient": "p7"}))  # fmt: skip
    assert result.code == "context_required"
    assert world.calls == []
