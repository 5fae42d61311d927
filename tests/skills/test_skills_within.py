"""A skill within a skill: the run reports and undoes its steps."""

import asyncio

from run_world import MAKE, skill, small_world

INNER = skill(
    MAKE.replace("{n}", "1") + "2. **Look**\n   - **Use**: read\n   - **Save as**: look\n"
    '   - **If empty**: stop "Nothing to see."\n'
    "3. **Return**:\n   - id: `made1.id`\n   - who: `who`\n",
    "make, drop, read",
    "- `who` (string, required)",
    name="inner",
)
OUTER = (
    "1. **Inside**\n   - **Use**: inner\n   - **With**:\n     - who: me\n   - **Save as**: got\n"
    "2. **Return**:\n   - id: `got.id`\n   - who: `got.who`\n"
)
USING = "- **Required Skills**: inner\n"


def test_a_skill_uses_another_and_sees_its_data() -> None:
    world = small_world(inner=INNER)
    result = asyncio.run(world.run(skill(OUTER, metadata=USING), run_id="r"))
    assert result.data == {"id": "id-n1", "who": "me"}
    assert world.keys == ["r/1:inner/1:make", "r/1:inner/2:read"]


def test_a_skill_that_stops_inside_another_undoes_its_own_and_fails_the_step() -> None:
    world = small_world(inner=INNER)
    world.functions["read"] = dict
    result = asyncio.run(world.run(skill(OUTER, metadata=USING)))
    assert result.message == "Step 1 (Inside) failed: Nothing to see."
    assert world.called == ["make", "read", "drop"]


def test_skills_that_use_themselves_come_to_an_end() -> None:
    loop = skill("1. **Again**\n   - **Use**: inner\n", metadata=USING, name="inner")
    world = small_world(inner=loop)
    result = asyncio.run(world.run(loop))
    assert not result.success
    assert "skills use one another" in result.message
