"""Check a skill against its tools when it is loaded, to find errors before it runs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolmd._expressions import RESERVED
from toolmd._skills.plan import InvalidScheduleError, schedule_inputs
from toolmd._skills.scope import ANYTHING, Scope, StepFindings, mismatch
from toolmd._types.approval import Escalation
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Position, Severity
from toolmd._types.identity import ANYBODY, Identity
from toolmd._types.schema import Schema
from toolmd._types.skill import (
    Argument,
    Expression,
    Loop,
    OnError,
    SkillSpec,
    Step,
    StepKey,
    Template,
    Use,
    Way,
    WorkflowSection,
    folded,
)
from toolmd._types.tool import ToolSpec
from toolmd.errors import did_you_mean

_BOOLEAN = Schema(types=("boolean",))
_TIMES = (None, "date-time", "duration")
_LIST = Schema(types=("array",))
_OBJECT = Schema(types=("object",))
_COMPARE = "compare the value with something: `slots.size() > 0`"


def place(spec: SkillSpec, field: str, name: str = "") -> int | Position:
    """Return where the Metadata has it, as exactly as known; else the title."""
    known = spec.places.get(f"{field}/{name}") or spec.places.get(field)
    return known or spec.source.line


class Walk:
    """One walk over all sections; `used` contains the tools and skills that steps call."""

    def __init__(
        self,
        spec: SkillSpec,
        tools: Mapping[str, ToolSpec],
        skills: Mapping[str, SkillSpec],
        found: StepFindings,
        *,
        partial: bool,
    ) -> None:
        self.used: set[str] = set()
        self.spec = spec
        self.partial = partial
        self.tools = tools
        self.skills = skills
        self.found = found
        self._entries: dict[int, Scope] = {0: Scope.of(spec.parameters, found)}
        self._at = 0

    def run(self) -> None:
        """Check every step, also unreachable ones."""
        everything, seen = self._entries[0], set[str]()
        for index, section in enumerate(self.spec.workflow_sections):
            # Jumps and records name a section.
            if folded(section.name) in seen:
                message = f"two sections are called '{section.name}'"
                hint = "rename one of them"
                self.found.report(Code.DUPLICATE_SECTION, section.line, message, hint)
            seen.add(folded(section.name))
            self._at = index
            scope = self._entries.get(index)
            if scope is None:
                message = f"no `go to` leads to '{section.name}'"
                hint = f"write `go to {section.name}` in a step, or remove the section"
                self._unreachable(section.line, message, hint)
                scope = everything
            everything = everything.met(self._section(section, scope))

    def _section(self, section: WorkflowSection, scope: Scope) -> Scope:
        ended = False
        for step in section.steps:
            if not step.acts:
                continue
            if ended:
                message = f"'{step.title}' is never reached: the skill has ended"
                self._unreachable(step.line, message, "remove it, or move it above the end")
            scope = StepCheck(self, step, scope).run()
            ended = step.ends and step.when is None and step.if_no is None
        return scope

    def _unreachable(self, line: int, message: str, hint: str) -> None:
        self.found.report(Code.UNREACHABLE_STEP, line, message, hint, Severity.HINT)

    def jump(self, target: str, at: int | Position, scope: Scope) -> None:
        """Check a `go to`, and add the names with which it enters its section."""
        sections = self.spec.workflow_sections
        names, wanted = [folded(section.name) for section in sections], folded(target)
        if wanted not in names or not wanted:
            known = [section.name for section in sections if section.name]
            message = f"there is no section '{target}' to go to"
            hint = did_you_mean(target, known) or f"write `### {target}` below the steps"
            self.found.report(Code.UNKNOWN_JUMP, at, message, hint)
            return
        index = names.index(wanted)
        if index <= self._at:
            message = f"`go to {target}` leads back: steps run forward only"
            hint = f"put `### {target}` below this section"
            self.found.report(Code.JUMP_BACKWARDS, at, message, hint)
            return
        entry = self._entries.get(index)
        self._entries[index] = scope if entry is None else entry.met(scope)


class StepCheck:
    """The check of one step: a method for each kind of value, in the order of the step's keys."""

    def __init__(self, walk: Walk, step: Step, scope: Scope) -> None:
        self._walk = walk
        self._found = walk.found
        self._step = step
        self._scopes = {"outside": scope, "item": scope, "after": scope}
        self._result: Schema | None = None
        """The shape of the action's result, of one item in a loop."""

    def run(self) -> Scope:
        """Check the value of each key, and return the names that the next step can read."""
        for key in self._step.keys:
            getattr(self, f"_{key.kind}")(key, key.value(self._step))
        return self._scopes["after"]

    def _at(self, key: StepKey) -> int | Position:
        """Return where a key's value is, else the step's line."""
        return self._step.places.get(key.name, self._step.line)

    def _scope(self, key: StepKey) -> Scope:
        """Return the names that a key's value can read."""
        guarded = self._step.when is not None and key.name != "When"
        return self._scopes[key.reads].guarded(guarded or key.reads == "after")

    def _type(self, key: StepKey, expression: Expression) -> Schema | None:
        """Check an expression and return the shape of its value."""
        checked = self._scope(key).check(expression)
        return None if checked is None else checked.schema

    def _condition(self, key: StepKey, value: Expression) -> None:
        if reason := mismatch(self._type(key, value), _BOOLEAN):
            message = f"{key.name} must be true or false: {reason}"
            self._found.report(Code.NOT_A_CONDITION, value, message, _COMPARE)

    def _expression(self, key: StepKey, value: Expression) -> None:
        self._result = self._type(key, value)

    def _moment(self, key: StepKey, value: float | Expression) -> None:
        got = self._type(key, value) if isinstance(value, Expression) else None
        if got is None or not got.types or isinstance(value, float):
            return
        if "string" in got.types and got.format in _TIMES:
            return
        kind = got.format if "string" in got.types else " or ".join(got.types)
        message = f"{key.name} needs a duration or a time: `{value.cel}` gives {kind}"
        hint = 'write `2h`, `duration("2h")`, or `timestamp(…)` of text with a time zone'
        self._found.report(Code.NOT_A_TIME, value, message, hint)

    def _loop(self, key: StepKey, loop: Loop) -> None:
        self._new_name(key, loop.name)
        got = self._type(key, loop.over)
        if reason := mismatch(got, _LIST):
            message = f"the value of {key.name} is not a list: {reason}"
            hint = "write a list, such as a parameter of type array"
            self._found.report(Code.NOT_A_LIST, loop.over, message, hint)
        items = None if got is None or reason else got.items
        self._scopes["item"] = self._scopes["outside"].also(loop.name, items)

    def _text(self, key: StepKey, value: Template | None) -> None:
        self._scopes[key.reads].guarded(self._step.when is not None).template(value, self._at(key))

    _question = _text

    def _approvers(self, key: StepKey, value: tuple[str, ...] | Expression) -> None:
        if isinstance(value, Expression):
            scope = replace(self._scope(key), of_approver=True)
            checked = scope.check(value)
            if checked is not None and (reason := mismatch(checked.schema, _BOOLEAN)):
                message = f"{key.name} must be true or false: {reason}"
                self._found.report(Code.NOT_A_CONDITION, value, message, _COMPARE)
        else:
            self._check_roles(key, value)

    def _check_roles(self, key: StepKey, roles: Iterable[str]) -> None:
        known = self._found.roles
        for role in roles if known else ():
            if role not in known:
                message = f"the settings have no role '{role}'"
                hint = did_you_mean(role, known) or f"the roles are {', '.join(known)}"
                self._found.report(Code.UNKNOWN_ROLE, self._at(key), message, hint)

    def _term(self, key: StepKey, value: float) -> None:
        del value
        if self._step.timeout_s is not None and self._step.use is None:
            message, hint = "Expires and Timeout both end this Ask", "keep Expires"
            self._found.report(Code.INVALID_STEP, self._at(key), message, hint)

    def _escalations(self, key: StepKey, value: tuple[Escalation, ...]) -> None:
        approval = self._step.approval
        if approval is not None and any(one.after_s >= approval.expires_s for one in value):
            message, hint = "it escalates when the question has expired", "escalate earlier"
            self._found.report(Code.INVALID_STEP, self._at(key), message, hint)
        self._check_roles(key, [role for one in value for role in one.to])

    def _data(self, key: StepKey, value: tuple[Argument, ...]) -> None:
        self._text(key, self._step.message)
        scope = self._scopes["item"].guarded(self._step.when is not None)
        for argument in value:
            at = argument.value_place or self._step.line
            scope.value(argument.value, ANYTHING, argument.name, at)

    def _callee(self, key: StepKey, use: Use) -> None:
        self._result = self._call(key, use)

    def _call(self, key: StepKey, call: Use) -> Schema | None:
        """Check a call of a tool or skill and return the shape of its result."""
        walk, step, at = self._walk, self._step, self._at(key)
        walk.used.add(call.name)
        scope = self._scopes["item"]
        if not key.acts and step.save_as is not None:
            # It is bound when the step has succeeded.
            scope = scope.also(step.save_as, self._result)
        scope = scope.guarded(step.when is not None)
        callee = walk.tools.get(call.name) or walk.skills.get(call.name)
        required = (*walk.spec.required_tools, *walk.spec.required_skills)
        if call.name not in required:
            self._not_required(call, at, required, known=walk.partial or callee is not None)
        if callee is None:
            for argument in call.arguments:
                scope.value(argument.value, ANYTHING, argument.name, argument.value_place or at)
            return None
        scope.arguments(call.name, callee.parameters, call.arguments, at)
        return callee.returns if isinstance(callee, ToolSpec) else _OBJECT

    def _not_required(
        self, call: Use, at: int | Position, required: tuple[str, ...], *, known: bool
    ) -> None:
        walk, title = self._walk, self._step.title
        if known:
            kind = "Skills" if call.name in walk.skills else "Tools"
            message = f"'{title}' uses {call.name}, which Required {kind} does not name"
            hint = did_you_mean(call.name, required) or f"add {call.name} to Required {kind}"
            self._found.report(Code.NOT_REQUIRED, at, message, hint)
        else:
            message = f"'{title}' uses {call.name}, but the project has no such tool or skill"
            hint = did_you_mean(call.name, (*required, *walk.tools, *walk.skills))
            hint = hint or _write_file(call.name, "tool")
            self._found.report(Code.UNKNOWN_TOOL, at, message, hint)

    def _arguments(self, key: StepKey, value: Any) -> None:
        """Do nothing: the check of the key that it completes, or the parser, has checked it."""

    _count = _arguments

    def _duration(self, key: StepKey, value: float) -> None:
        del value
        use = self._step.use
        if use is not None and use.name in self._walk.skills:
            message = f"a {key.name} can't end the skill {use.name} half-way"
            hint = "put it on the steps of that skill"
            self._found.report(Code.INVALID_STEP, self._at(key), message, hint)

    def _name(self, key: StepKey, name: str) -> None:
        self._new_name(key, name)
        step, result = self._step, self._result
        if step.for_each is not None:
            result = Schema(types=("array",), items=result)
        ways = [step.if_no, step.on_error.then if step.on_error else None]
        left_open = any(way is not None and way.kind == "continue" for way in ways)
        sure = step.when is None and (not left_open or step.for_each is not None)
        self._scopes["after"] = self._scopes["outside"].also(name, result, sure=sure)

    def _new_name(self, key: StepKey, name: str) -> None:
        code, hint = Code.INVALID_NAME, "choose another name"
        if not name.isidentifier() or not name.isascii() or name.startswith("__"):
            problem, hint = "is not a valid name", "write a letter, then letters, digits and _"
        elif name in RESERVED:
            problem = "is a word of expressions"
        elif name in self._scopes["outside"].names:
            code, problem = Code.DUPLICATE_SAVE, "is already the name of something else"
        else:
            return
        self._found.report(code, self._at(key), f"{key.name}: '{name}' {problem}", hint)

    def _way(self, key: StepKey, way: Way) -> None:
        self._text(key, way.text)
        if way.kind == "go":
            self._walk.jump(way.target, self._at(key), self._scopes[key.reads])

    def _choice(self, key: StepKey, way: Way) -> None:
        self._way(key, way)
        if way.choose is not None and self._type(key, way.choose) != self._result:
            self._result = None

    def _failure(self, key: StepKey, value: OnError) -> None:
        self._way(key, value.then)
        if not value.retries:
            return
        use, walk = self._step.use, self._walk
        tool = None if use is None else walk.tools.get(use.name)
        if use is not None and tool is None and use.name not in walk.skills:
            return  # Another finding reports the missing tool.
        if tool is None or not tool.is_repeatable:
            name = f"'{self._step.title}'" if use is None else use.name
            message = f"{name} can't be tried again: it is neither Read Only nor Idempotent"
            hint = "a retry might act twice; if it can't, declare that in the tool's file"
            self._found.report(Code.UNSAFE_RETRY, self._at(key), message, hint)


def check_skill(
    spec: SkillSpec,
    tools: Mapping[str, ToolSpec],
    skills: Mapping[str, SkillSpec],
    identity: Identity | None = None,
    *,
    implemented: bool = False,
    partial: bool = False,
) -> tuple[Diagnostic, ...]:
    """Return all findings in a skill's steps, in the file's order (format.md, "Steps").

    `tools` and `skills` are all of the project, or with `partial` the known ones: then calls of
    others are accepted. With `implemented` a Python sibling runs and the steps are documentation,
    so only the lists are checked. `identity` are the facts and roles that the settings know; None
    checks none of them.
    """
    caller = ANYBODY if identity is None else identity.shape(_facts(spec, tools))
    found = StepFindings(spec.source, caller, () if identity is None else identity.roles)
    runs = implemented or spec.executable
    if not partial:
        _check_lists(spec, tools, skills, found, Severity.ERROR if runs else Severity.HINT)
    _check_circle(spec, skills, found)
    _check_context(spec, tools, found)
    _check_schedule(spec, tools, found, runs=runs)
    if not runs:
        message = f"{spec.name} is not executable by itself: its workflow is prose"
        hint = "put a Python file of the same stem next to it, or give its steps keys such as "
        found.report(
            Code.NOT_EXECUTABLE, spec.source.line, message, f"{hint}**Use**", Severity.HINT
        )
    elif not implemented:
        walk = Walk(spec, tools, skills, found, partial=partial)
        walk.run()
        for kind, field, name in _required(spec):
            if name not in walk.used:
                message = f"the {kind} {name} is required, and no step uses it"
                hint = f"remove it from Required {kind.title()}s, or use it"
                at = place(spec, field, name)
                found.report(Code.UNUSED_REQUIREMENT, at, message, hint, Severity.WARNING)
    return found.sorted()


def scopes_of(
    spec: SkillSpec, tools: Mapping[str, ToolSpec], skills: Mapping[str, SkillSpec]
) -> Mapping[tuple[int, int], Mapping[str, Schema]]:
    """Return the names that each expression of the steps can read, by its line and column."""
    found = StepFindings(spec.source, ANYBODY)
    Walk(spec, tools, skills, found, partial=True).run()
    return found.scopes


def _facts(spec: SkillSpec, tools: Mapping[str, ToolSpec]) -> set[str]:
    """Return the facts that a run has: those of its Context, and those that its tools require."""
    needed = [tools[name].requires_context for name in spec.required_tools if name in tools]
    return {*spec.context, *(fact for facts in needed for fact in facts)}


def _write_file(name: str, kind: str) -> str:
    return f"write the file `{name}.{kind}.md`, or name another {kind}"


def _required(spec: SkillSpec) -> Iterator[tuple[str, str, str]]:
    """Yield each required tool and skill: its kind, the field that names it, and its name."""
    yield from (("tool", "required_tools", name) for name in spec.required_tools)
    yield from (("skill", "required_skills", name) for name in spec.required_skills)


def _check_lists(
    spec: SkillSpec,
    tools: Mapping[str, ToolSpec],
    skills: Mapping[str, SkillSpec],
    found: StepFindings,
    severity: Severity,
) -> None:
    for kind, field, name in _required(spec):
        known: Mapping[str, object] = tools if kind == "tool" else skills
        if name not in known:
            code = Code.UNKNOWN_TOOL if kind == "tool" else Code.UNKNOWN_SKILL
            message = f"Required {kind.title()}s names {name}, but the project has no such {kind}"
            hint = did_you_mean(name, known) or _write_file(name, kind)
            found.report(code, place(spec, field, name), message, hint, severity)


def _check_circle(spec: SkillSpec, skills: Mapping[str, SkillSpec], found: StepFindings) -> None:
    """Report the path from the skill back to itself, if there is one."""
    seen: set[str] = set()
    ways = [[spec.name, name] for name in spec.required_skills]
    while ways:
        way = ways.pop()
        if way[-1] == spec.name:
            at = place(spec, "required_skills", way[1])
            message = f"skills use each other in a cycle: {' → '.join(way)}"
            found.report(Code.SKILL_CIRCLE, at, message, "take one of them out of Required Skills")
            return
        if way[-1] in skills and way[-1] not in seen:
            seen.add(way[-1])
            ways += [[*way, name] for name in skills[way[-1]].required_skills]


def _check_context(spec: SkillSpec, tools: Mapping[str, ToolSpec], found: StepFindings) -> None:
    needing: dict[str, list[str]] = {}
    for name in spec.required_tools:
        for fact in tools[name].requires_context if name in tools else ():
            needing.setdefault(fact, []).append(name)
    for fact, names in needing.items():
        if fact not in spec.context:
            verb = "require" if len(names) > 1 else "requires"
            message = f"{', '.join(names)} {verb} the context `{fact}`, and no input supplies it"
            hint = (
                f"the caller should supply the {fact}, as the host does for a tool; "
                f"`**Context**: {fact} from INPUT` trusts the input, which a model may write"
            )
            at = place(spec, "required_tools", names[0])
            found.report(Code.CONTEXT, at, message, hint, Severity.HINT)
    inputs = {parameter.name: parameter for parameter in spec.parameters}
    for fact, named in spec.context.items():
        if named not in inputs:
            message = f"Context takes the {fact} from {named}, which is not an input"
            hint = did_you_mean(named, inputs)
        elif inputs[named].shape.types != ("string",):
            message = f"Context takes the {fact} from {named}, which is not a string"
            hint = f"make {named} a string, or name the input that holds the {fact}"
        else:
            continue
        found.report(Code.CONTEXT, place(spec, "context"), message, hint)


def _check_schedule(
    spec: SkillSpec, tools: Mapping[str, ToolSpec], found: StepFindings, *, runs: bool
) -> None:
    """Check the Schedule and its inputs; `runs` says whether the skill can run."""
    at = place(spec, "schedule")
    inputs_at = place(spec, "schedule_inputs") if spec.schedule_inputs else at
    if spec.schedule is None:
        if spec.schedule_inputs:
            message = "Schedule Inputs are for a Schedule, which is missing"
            found.report(Code.INVALID_SCHEDULE, inputs_at, message, "add **Schedule**")
        return
    if not runs or not spec.durable:
        why = "is not durable, so each process would run it" if runs else "can't run"
        message = f"Schedule starts no runs: {spec.name} {why}"
        hint = "remove **Durable**" if runs else "give its steps keys such as **Use**"
        found.report(Code.INVALID_SCHEDULE, at, message, hint)
    try:
        schedule_inputs(spec)
    except InvalidScheduleError as error:
        hint = "write `- input: value` below **Schedule Inputs**"
        found.report(Code.INVALID_SCHEDULE, inputs_at, f"Schedule Inputs: {error}", hint)
    for why in _needs_of_a_person(spec, tools):
        message = f"a run of the Schedule has no user: {why}"
        hint = "somebody must decide it under `toolmd pending`, or take that out of the skill"
        found.report(Code.UNATTENDED, at, message, hint, Severity.WARNING)


def _needs_of_a_person(spec: SkillSpec, tools: Mapping[str, ToolSpec]) -> Iterator[str]:
    """Yield each reason why a run needs a person."""
    for part in spec.workflow_sections:
        for step in part.steps:
            if step.ask is not None:
                yield f"step {step.id} ({step.title}) asks"
    for tool in [tools[name] for name in spec.required_tools if name in tools]:
        safety = tool.safety
        if safety.explicit_intent:
            yield f"{tool.name} has Explicit Intent, so it is denied"
        elif tool.requires_auth:
            yield f"{tool.name} Requires Auth, so it is denied"
        elif safety.requires_confirmation or safety.sensitivity == "critical":
            yield f"{tool.name} needs a confirmation"
