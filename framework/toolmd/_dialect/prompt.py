"""Write the system prompt that teaches a model the tools and a text dialect's syntax."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from toolmd._dialect.calls import CONFIDENCE, Keys
from toolmd._dialect.words import ACTION, ACTION_KEYS, INLINE_KEYS, MARKER, PLAN_KEYS
from toolmd._export.function import argument_lines, plain
from toolmd._types.schema import plain_numbers
from toolmd._types.tool import ToolSpec
from toolmd._validation import sample_arguments

_SURE = 0.95
"""The confidence in an example, unless the tool requires more."""


class Syntax(NamedTuple):
    """How calls are written, in words and by example."""

    rules: str
    """A list in markdown."""
    before: str
    """The marker before the object of a call; `after` is what closes the call."""
    keys: Keys
    after: str = ""


SYNTAX: Mapping[str, Syntax] = {
    "inline": Syntax(
        f"""\
- To call a tool, write {MARKER}{{…}}] in your reply: an object with the keys `id` (a name of
  your own for the call), `tool`, `parameters` (an object, `{{}}` where there are none) and
  `confidence` (a number from 0 to 1: how sure you are that the user wants exactly this call).
  It may have no other keys.
- You may make several calls in one reply. They stand outside of code blocks, code spans and
  quotations: there they are text. The user does not see them.
- One call that can't be read cancels all calls of the reply.
- The results come as [TOOL_RESULT:{{…}}] in the next message. Never write one yourself.""",
        MARKER, INLINE_KEYS, "]",
    ),
    "action": Syntax(
        f"""\
- To call a tool, end your reply with one block `{ACTION} {{…}}`: an object with the keys `tool`
  and `args` (an object, `{{}}` where there are none), and no others.
- Make one call in a reply and write nothing after it. Without a call, answer in words.
- The result is the next message. Never write one yourself.""",
        f"{ACTION} ", ACTION_KEYS,
    ),
    "plan": Syntax(
        """\
- To call one tool, end your reply with an object {"tool": …, "params": {…}}, with no other keys.
- To call several, end it with a plan {"calls": [{"tool": …, "params": {…}}, …],
  "budget": {"rows": …, "bytes": …, "timeout_ms": …}}. The budget is needed: integers from 1 on,
  for each of the calls.
- Write nothing after it. Without a call, answer in words.
- The next message holds {"results": […]}, in the order of the calls. Never write one yourself.""",
        "", PLAN_KEYS,
    ),
}  # fmt: skip
"""The syntax of each text dialect."""


def teach(dialect: str, tools: Sequence[ToolSpec]) -> str:
    """Return the prompt: the syntax, then each tool, from the specs that the host enforces."""
    if not tools:
        return "You have no tools in this conversation. Answer in words.\n"
    syntax = SYNTAX[dialect]
    parts = [f"# Tools\n\nYou can call the tools below. Only these exist.\n\n{syntax.rules}"]
    parts += ["\n".join(_tool(spec, syntax)) for spec in tools]
    return "\n\n".join(parts) + "\n"


def _example(spec: ToolSpec, syntax: Syntax) -> str:
    """Return a call of the tool's own first Example, or of one built from its parameters."""
    keys = syntax.keys
    own = next((e.arguments for e in spec.examples if e.error is None), None)
    arguments = dict(own if own is not None else sample_arguments(spec.parameters, "…"))
    threshold = spec.safety.min_confidence
    confidence = max(_SURE, threshold or 0)
    if not keys.confidence and threshold is not None:
        arguments[CONFIDENCE] = confidence
    call = {keys.id: "call-1", keys.tool: spec.name, keys.arguments: arguments,
            keys.confidence: confidence}  # fmt: skip
    written = {key: value for key, value in call.items() if key}
    return f"{syntax.before}{json.dumps(written, ensure_ascii=False)}{syntax.after}"


def _tool(spec: ToolSpec, syntax: Syntax) -> Iterator[str]:
    yield f"## {spec.name}"
    yield ""
    yield spec.description
    if spec.when_to_use:
        yield f"When to use it: {spec.when_to_use}"
    yield from _policy(spec)
    if spec.parameters:
        yield "Parameters:"
        # Words can express the whole schema, so nothing is lost.
        yield from argument_lines(plain(spec.input_schema, lambda _path, _what: None))
    else:
        yield "No parameters."
    if not syntax.keys.confidence and (least := spec.safety.min_confidence) is not None:
        sure = f"how sure you are; at least {plain_numbers(least)}"
        yield f"- `{CONFIDENCE}` (number, required, 0 to 1): {sure}"
    yield from (f"- {rule.message}" for rule in spec.rules)
    if spec.returns.description:
        yield f"Returns: {spec.returns.description}"
    yield f"Example: {_example(spec, syntax)}"


def _policy(spec: ToolSpec) -> Iterator[str]:
    safety = spec.safety
    if safety.min_confidence is not None:
        least = plain_numbers(safety.min_confidence)
        yield f"Call it only with a confidence of at least {least}; else ask."
    if safety.explicit_intent:
        yield "Call it only when the user has asked for it in words."
    if safety.requires_confirmation or safety.sensitivity == "critical":
        yield "The user is shown the call and must confirm it before it runs."
