"""A guard reads the roles that the host states, whichever way a call comes."""

import json
import sys

from tests import warm_python
from workspace_shop import Shop, skill, word

GUARD = """
from toolmd import Action, Verdict, hookimpl

@hookimpl
def toolmd_guards(spec):
    return [only_staff]

def only_staff(call, arguments):
    if "staff" not in call.caller.roles:
        return Verdict(Action.DENY, "not_staff", "Only staff looks.")
"""
STEPS = "1. **Look**.\n   - **Use**: look\n   - **With**:\n     - word: `word`"


def test_every_way_of_calling_states_the_roles(shop: Shop) -> None:
    shop.tool("look", "def look(word):\n    return word\n", word("word"))
    shop.write("tools_md/plugin.py", GUARD)
    shop.write("skills_md/find.skill.md", skill("find", "look", STEPS, word("word")))
    reply = '[TOOL_CALL:{"id":"1","tool":"look","parameters":{"word":"a"}}]'
    with shop.open() as workspace:
        for roles, outcome in ((["staff", "guest"], "ok"), (["guest"], "denied"), ((), "denied")):
            called = workspace.call_sync("look", {"word": "a"}, user="ana", roles=roles)
            (turn,) = workspace.handle_sync(reply, "inline", user="ana", roles=roles).results
            ran = workspace.run_sync("find", {"word": "a"}, user="ana", roles=roles)

            assert (called.outcome, turn.outcome) == (outcome, outcome)
            assert ran.success is (outcome == "ok")
    for role, outcome in (("staff", "ok"), ("guest", "denied")):
        command = (
            sys.executable,
            "-m",
            "toolmd",
            "call",
            "look",
            "word=a",
            "--role",
            role,
            "--json",
        )
        told = warm_python.run(command, cwd=shop.root, capture_output=True, check=False)
        assert json.loads(told.stdout)["outcome"] == outcome
