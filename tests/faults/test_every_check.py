"""A failure anywhere in a call, in any function: the call is denied, recorded and not run.

The checks are not listed. Each call is made repeatedly, and each time the next function of
Toolmd that it enters raises, so a new check is covered without a change of this test.
"""

import asyncio
import gc
import hashlib
import logging
from importlib import import_module
from itertools import count
from operator import attrgetter

import pytest
from breaking import SECRET, Breaker, Fault

from toolmd import Caller, Workspace
from toolmd._auth import CALLER as CALLER_OF_A_REQUEST
from toolmd._auth import Addresses, Authentication, Tokens
from toolmd._call.audit.reader import AuditReader
from toolmd._types.settings import TokenSettings

TOOL = """\
# Say

Says it.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: test
- **Requires Auth**: true
- **Requires Patient Context**: true
- **Unknown Parameters**: ignore

## Parameters

### word

- **Type**: string
- **Required**: true
- **Description**: What to say
- **Verbatim**: true

## Returns

- **Type**: object
- **Description**: What was said

## Rules

- `size(word) > 0`: Give a word.

## Safety

- **Min Confidence**: 0.5
- **Explicit Intent**: yes
- **Intent Keywords**: say
- **Crisis When**: `word == 'help'`
- **Confirm When**: `word == 'ask'`

## Limits

- **Timeout**: 10s
{limits}"""
LIMITS = """\
- **Rate**: 100000/s
- **Max Calls**: 100000
- **Allowed Domains**: example.org
- **Max Rows**: 10
"""
PYTHON = """\
from pathlib import Path
from toolmd import Context

async def {name}(word: str{context}) -> dict[str, str]:
    with (Path(__file__).parent / "ran").open("a") as ran:
        ran.write("x")
    return {{"said": word}}
"""
GUARD = """\
from toolmd.hooks import hookimpl

@hookimpl
def toolmd_guards(spec):
    async def guard(call, arguments):
        return None

    return [guard]
"""
SKILL = """\
# Speak

Speaks.

## Metadata

- **Name**: speak
- **Version**: 1.0.0
- **Category**: test
- **Required Tools**: say
- **Patient From**: patient

## Workflow

1. **Say** it.
   - **Use**: say
   - **With**:
     - word: `word`

## Input Schema

### word

- **Type**: string
- **Required**: true

### patient

- **Type**: string
- **Required**: true

## Output Schema

- **Type**: object (SkillResult)
"""
SAID = {"message": "say hello, ask, help", "user": "u1", "conversation": "c1"}
CALLER = {**SAID, "context": {"patient": "p1"}, "confidence": 0.9}
LISTENING = {"_call/dispatcher.py:Dispatcher.finish", "_call/dispatcher.py:Dispatcher._observe"}
"""Functions that only observe: they deny nothing."""
RUNNING = {"_call/invoke.py:Invoker._run"}
"""The function after all checks."""
PROMISING = {
    "_call/dispatcher.py:Dispatcher.dispatch",
    "_call/confirmations.py:Confirmations.decide",
    "_call/confirmations.py:Confirmations._decide",
}
"""Functions that always return a result."""
REFUSING = {"_call/dispatcher.py:Dispatcher.denied", "_call/dispatcher.py:Dispatcher.finish"}
"""Functions that build such a result."""


class World:
    """A project with a tool that has every check, and one that has few."""

    def __init__(self, root, caplog, **overrides):
        self.root, self.caplog = root, caplog
        tools = root / "tools_md"
        tools.mkdir()
        (root / "skills_md").mkdir()
        (root / "skills_md" / "speak.skill.md").write_text(SKILL)
        (tools / "plugin.py").write_text(GUARD)
        for name, limits, context in (("say", LIMITS, ", *, context: Context"), ("tell", "", "")):
            (tools / f"{name}.tool.md").write_text(TOOL.format(name=name, limits=limits))
            (tools / f"{name}.py").write_text(PYTHON.format(name=name, context=context))
        given = {"plugins": [], "safety.crisis_words": ["no way out"], **overrides}
        self.ws = Workspace.open(root, overrides=given)
        assert self.ws.diagnostics == ()
        self.held = ""

    @property
    def ran(self):
        path = self.root / "tools_md" / "ran"
        return path.stat().st_size if path.exists() else 0

    @property
    def records(self):
        return sum(1 for _ in AuditReader(self.ws.settings).records())

    async def say(self, word="hello", name="say", **options):
        given = {"word": word, "more": 1}
        return await self.ws.call(name, given, **{**CALLER, **options})

    async def handle(self):
        call = '{"tool":"say","parameters":{"word":"hello"},"confidence":0.9}'
        turn = await self.ws.handle(
            f"[TOOL_CALL:{call}]", message=SAID["message"], user="u1", context={"patient": "p1"}
        )
        return turn.results[0]

    async def hold(self):
        self.held = (await self.say("ask")).confirmation.id


CALLS = {
    "a call": lambda world: world.say(),
    "a call with fewer limits": lambda world: world.say(name="tell"),
    "a dry run": lambda world: world.say(dry_run=True),
    "a call to be confirmed": lambda world: world.say("ask"),
    "a call to be looked at": lambda world: world.say("help"),
    "a model's reply": lambda world: world.handle(),
}
DECISIONS = {
    "an approval": lambda world: world.ws.confirmations.approve(world.held, user="u1"),
    "an edit": lambda world: world.ws.confirmations.approve(
        world.held, user="u1", edit={"word": "hello"}
    ),
    "a no": lambda world: world.ws.confirmations.reject(world.held, user="u1"),
    "an answer": lambda world: world.ws.confirmations.respond(world.held, "Said.", user="u1"),
}


@pytest.fixture
def world(tmp_path, caplog):
    made = World(tmp_path, caplog)
    caplog.set_level(logging.ERROR)
    yield made
    made.ws.close()


async def broken(world, make, known):
    """Make a call with one more function that breaks; give its result, or what it raised."""
    world.caplog.clear()
    breaker = Breaker(1, known=known)
    try:
        with breaker:
            return breaker, await make(world)
    except Fault as error:
        return breaker, error


def check_outcome(world, breaker, result, ran, records, *, unrecorded):
    """Hold what came of a broken call to what is promised."""
    times = world.ran - ran
    assert times <= 1, breaker.chain
    if breaker.dropped:
        return
    if isinstance(result, Fault):
        # A function that broke before its first line can't return anything.
        refusing = (REFUSING & {*breaker.chain}) or breaker.chain[0] in PROMISING
        assert refusing or not PROMISING & {*breaker.chain[1:]}, breaker.chain
        return
    assert SECRET not in str(result.to_dict()), breaker.chain
    crashes = [r for r in world.caplog.records if r.exc_info and SECRET in str(r.exc_info[1])]
    assert len(crashes) == 1, breaker.chain
    if times:
        # Behind the effect nothing says that nothing happened.
        assert result.outcome in {"ok", "failed", "unknown"}, breaker.chain
    elif not set(breaker.chain[1:]) & LISTENING:
        if result.outcome == "failed":
            # All gates let it through, and its run was made ready.
            assert set(breaker.chain[1:]) & RUNNING, breaker.chain
            return
        audited = any(place.startswith("_call/audit/") for place in breaker.chain)
        if not (audited and result.error.code == "rejected"):
            assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
            assert "Nothing happened" in result.error.message
        assert unrecorded or audited or world.records > records, breaker.chain


def test_every_named_function_exists():
    for place in LISTENING | RUNNING | PROMISING | REFUSING:
        file, _, name = place.partition(":")
        module = import_module(f"toolmd.{file.removesuffix('.py').replace('/', '.')}")
        assert attrgetter(name)(module)


# A coroutine that was made and then not awaited, since what makes it up was broken.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("calls", [CALLS, DECISIONS], ids=["calls", "decisions"])
def test_a_call_that_fails_anywhere_is_denied_recorded_and_not_run(world, calls):
    known = set()

    async def break_all():
        for name, make in calls.items():
            await break_everywhere(world, make, name, known)

    asyncio.run(break_all())
    assert len(known) > 100
    gc.collect()  # What was never awaited ends here, and in no later test.


async def break_everywhere(world, make, name, known):
    for _ in range(2):  # what is made on its first use is made
        await world.hold()
        await make(world)
    await world.hold()

    while True:
        if name in DECISIONS:
            await world.hold()
        ran, records = world.ran, world.records
        breaker, result = await broken(world, make, known)
        if not breaker.chain:
            break
        check_outcome(world, breaker, result, ran, records, unrecorded=name == "a dry run")
    for crisis in await world.ws.crises.list():
        await world.ws.crises.clear(crisis.conversation, user=crisis.user)
    # Nothing was left behind that keeps the next one out.
    assert (await world.say()).success


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_skill_that_fails_anywhere_runs_its_step_at_most_once(tmp_path, caplog):
    world = World(tmp_path, caplog, store="memory", audit=False)
    asyncio.run(break_a_skill_everywhere(world))
    world.ws.close()
    gc.collect()


async def break_a_skill_everywhere(world):
    def make(world):
        inputs = {"word": "hello", "patient": "p1"}
        return world.ws.run("speak", inputs, confidence=0.9, user="u1", message=SAID["message"])

    assert (await make(world)).success
    known = set()
    while True:
        ran = world.ran
        breaker, result = await broken(world, make, known)
        if not breaker.chain:
            break
        times = world.ran - ran
        assert times <= 1, breaker.chain
        if not isinstance(result, Fault):
            assert SECRET not in str(result.to_dict()), breaker.chain
            assert times or not result.success, breaker.chain
    assert len(known) > 100
    assert (await make(world)).success


def test_a_request_whose_authentication_fails_anywhere_reaches_no_tool():
    known = [TokenSettings(hashlib.sha256(b"the-token-of-ana-which-is-long").hexdigest(), "ana")]
    reached = []

    async def app(scope, receive, send):
        reached.append(scope["state"][CALLER_OF_A_REQUEST])

    async def send(message):
        pass

    gate = Authentication(
        app,
        addresses=Addresses.of("127.0.0.1", 8787),
        tokens=Tokens(lambda: known, own="a-token-of-this-start", caller=Caller()),
    )
    headers = [
        (b"host", b"127.0.0.1:8787"),
        (b"origin", b"http://127.0.0.1:8787"),
        (b"authorization", b"Bearer the-token-of-ana-which-is-long"),
        (b"content-type", b"application/json"),
    ]

    async def ask(breaker):
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
        try:
            with breaker:
                await gate(scope, None, send)
        except Fault:
            pass
        return breaker

    for at in count(1):
        if not asyncio.run(ask(Breaker(at))).chain:
            break
        assert reached == []
    assert at > 5
    assert len(reached) == 1
