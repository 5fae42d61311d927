"""Walk through a skill's steps as a run would, tracking the names that each step can read."""

from collections.abc import Mapping

from toolmd._expressions import RESERVED
from toolmd._skills.check.findings import StepFindings
from toolmd._skills.check.fit import mismatch
from toolmd._skills.check.scope import ANYTHING, Scope
from toolmd._skills.check.values import ValueCheck
from toolmd._skills.section import folded
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import Expression, SkillSpec, Step, Use, Way, WorkflowSection
from toolmd._types.source import Position
from toolmd._types.tool import ToolSpec
from toolmd.errors import did_you_mean

_BOOLEAN = Schema(types=("boolean",))
_TIMES = (None, "date-time", "duration")
_LIST = Schema(types=("array",))
_OBJECT = Schema(types=("object",))


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
        self._spec = spec
        self._partial = partial
        self._tools = tools
        self._skills = skills
        self._found = found
        self._sections = spec.workflow_sections
        self._entries: dict[int, Scope] = {0: Scope.of(spec.parameters)}
        self._at = 0

    def run(self) -> None:
        """Check every step, also unreachable ones."""
        self._check_names()
        everything = self._entries[0]
        for index, section in enumerate(self._sections):
            self._at = index
            scope = self._entries.get(index)
            if scope is None:
                message = f"no `go to` leads to '{section.name}'"
                hint = f"write `go to {section.name}` in a step, or remove the section"
                self._unreachable(section.line, message, hint)
                scope = everything
            everything = everything.met(self._section(section, scope))

    def _check_names(self) -> None:
        """Check that section names are unique: jumps and records use them."""
        seen: set[str] = set()
        for section in self._sections:
            if folded(section.name) in seen:
                message = f"two sections are called '{section.name}'"
                hint = "rename one of them"
                self._found.error(Code.DUPLICATE_SECTION, section.line, message, hint)
            seen.add(folded(section.name))

    def _section(self, section: WorkflowSection, scope: Scope) -> Scope:
        ended = False
        for step in section.steps:
            if ended and step.acts:
                message = f"'{step.title}' is never reached: the skill has ended"
                self._unreachable(step.line, message, "remove it, or move it above the end")
                ended = False
            if step.acts:
                scope = self._step(step, scope)
                ended = _ends(step)
        return scope

    def _unreachable(self, line: int, message: str, hint: str) -> None:
        self._found.add(Code.UNREACHABLE_STEP, Severity.HINT, line, message, hint)

    def _step(self, step: Step, scope: Scope) -> Scope:
        """Check one step and return the names that the next one can read."""
        if step.when is not None:
            self._condition(step.when, scope, "When")
        inner = self._loop(step, scope)
        check = ValueCheck(inner, self._found, tolerant=step.when is not None)
        self._wait(step, inner)
        for key, text in (("Ask", step.ask), ("Stop", step.stop), ("Return", step.message)):
            check.template(text, _place(step, key))
        for argument in step.returns or ():
            check.value(argument.value, ANYTHING, argument.name, argument.value_place or step.line)
        result = self._result(step, inner, check)
        after = self._saved(step, scope, result)
        self._undo(step, inner, result)
        if step.check is not None:
            self._condition(step.check, after, "Check", tolerant=True)
        self._ways(step, inner, after)
        return after

    def _condition(
        self, expression: Expression, scope: Scope, key: str, *, tolerant: bool = False
    ) -> None:
        checked = scope.check(expression, self._found, tolerant=tolerant)
        if checked is not None and (reason := mismatch(checked.schema, _BOOLEAN)):
            message = f"{key} must be true or false: {reason}"
            self._found.at(expression, Code.NOT_A_CONDITION, Severity.ERROR, message)

    def _wait(self, step: Step, scope: Scope) -> None:
        if not isinstance(step.wait, Expression):
            return
        checked = scope.check(step.wait, self._found, tolerant=step.when is not None)
        got = checked.schema if checked is not None else None
        if got is None or not got.types or ("string" in got.types and got.format in _TIMES):
            return
        kind = got.format if "string" in got.types else " or ".join(got.types)
        message = f"Wait needs a duration or a time: `{step.wait.cel}` gives {kind}"
        hint = 'write `2h`, `duration("2h")`, or `timestamp(…)` of text with a time zone'
        self._found.at(step.wait, Code.NOT_A_TIME, Severity.ERROR, message, hint)

    def _loop(self, step: Step, scope: Scope) -> Scope:
        loop = step.for_each
        if loop is None:
            return scope
        self._new_name(loop.name, step, scope, "For each")
        checked = scope.check(loop.over, self._found, tolerant=step.when is not None)
        items = None
        if checked is not None:
            if reason := mismatch(checked.schema, _LIST):
                message = f"the value of For each is not a list: {reason}"
                self._found.at(loop.over, Code.NOT_A_LIST, Severity.ERROR, message)
            elif checked.schema is not None:
                items = checked.schema.items
        return scope.also(loop.name, items)

    def _result(self, step: Step, scope: Scope, check: ValueCheck) -> Schema | None:
        """Check a step's action and return the shape of its result, of one item in a loop."""
        tolerant = step.when is not None
        if step.use is not None:
            return self._called(step.use, step, check)
        if step.choose is not None:
            checked = scope.check(step.choose, self._found, tolerant=tolerant)
            if step.or_else is not None and step.or_else.choose is not None:
                other = scope.check(step.or_else.choose, self._found, tolerant=tolerant)
                if checked is None or other is None or checked.schema != other.schema:
                    return None
            return checked.schema if checked is not None else None
        return None

    def _called(self, call: Use, step: Step, check: ValueCheck) -> Schema | None:
        """Check a call of a tool or skill and return the shape of its result."""
        self.used.add(call.name)
        if call.name in self._skills and step.timeout_s is not None and call is step.use:
            message = f"a Timeout can't end the skill {call.name} half-way"
            hint = "put it on the steps of that skill"
            self._found.error(Code.INVALID_STEP, _place(step, "Timeout"), message, hint)
        required = (*self._spec.required_tools, *self._spec.required_skills)
        callee = self._tools.get(call.name) or self._skills.get(call.name)
        if call.name not in required:
            self._not_required(call, step, known=self._partial or callee is not None)
        place = _place(step, "Use" if call is step.use else "Undo")
        if callee is None:
            for argument in call.arguments:
                check.value(argument.value, ANYTHING, argument.name, argument.value_place or place)
            return None
        parameters: tuple[Parameter, ...] = callee.parameters
        file = f"{callee.source.path}:{callee.source.line}"
        check.arguments(call.name, parameters, call.arguments, place, file)
        return callee.returns if isinstance(callee, ToolSpec) else _OBJECT

    def _not_required(self, call: Use, step: Step, *, known: bool) -> None:
        required = (*self._spec.required_tools, *self._spec.required_skills)
        kind = "Skills" if call.name in self._skills else "Tools"
        place = _place(step, "Use" if call is step.use else "Undo")
        if known:
            message = f"'{step.title}' uses {call.name}, which Required {kind} does not name"
            hint = did_you_mean(call.name, required) or f"add {call.name} to Required {kind}"
            self._found.error(Code.NOT_REQUIRED, place, message, hint)
        else:
            message = f"'{step.title}' uses {call.name}, but the project has no such tool or skill"
            hint = did_you_mean(call.name, (*required, *self._tools, *self._skills))
            self._found.error(Code.UNKNOWN_TOOL, place, message, hint)

    def _saved(self, step: Step, scope: Scope, result: Schema | None) -> Scope:
        if step.save_as is None:
            return scope
        self._new_name(step.save_as, step, scope, "Save as")
        if step.for_each is not None:
            result = Schema(types=("array",), items=result)
        ways = [step.if_no, step.on_error.then if step.on_error else None]
        left_open = any(way is not None and way.kind == "continue" for way in ways)
        sure = step.when is None and (not left_open or step.for_each is not None)
        return scope.also(step.save_as, result, sure=sure)

    def _new_name(self, name: str, step: Step, scope: Scope, key: str) -> None:
        if not name.isidentifier() or not name.isascii() or name.startswith("__"):
            message = f"{key}: '{name}' is not a valid name"
            hint = "write a letter, then letters, digits and _"
            self._found.error(Code.INVALID_NAME, _place(step, key), message, hint)
        elif name in RESERVED:
            message = f"{key}: '{name}' is a word of expressions"
            self._found.error(Code.INVALID_NAME, _place(step, key), message, "choose another name")
        elif name in scope.names:
            message = f"{key}: '{name}' is already the name of something else"
            self._found.error(
                Code.DUPLICATE_SAVE, _place(step, key), message, "choose another name"
            )

    def _undo(self, step: Step, scope: Scope, result: Schema | None) -> None:
        if step.undo is None:
            return
        if step.save_as is not None:
            scope = scope.also(step.save_as, result)
        check = ValueCheck(scope, self._found, tolerant=step.when is not None)
        self._called(step.undo, step, check)

    def _ways(self, step: Step, before: Scope, after: Scope) -> None:
        self._way(step.if_no, step, "If no", before)
        self._way(step.or_else, step, "Or else", before)
        self._way(step.if_empty, step, "If empty", after)
        if step.on_error is not None:
            self._way(step.on_error.then, step, "On error", before)
            if step.on_error.retries:
                self._retry(step)

    def _way(self, way: Way | None, step: Step, key: str, scope: Scope) -> None:
        if way is None:
            return
        check = ValueCheck(scope, self._found, tolerant=step.when is not None)
        check.template(way.text, _place(step, key))
        if way.kind == "go":
            self._jump(way.target, _place(step, key), scope)

    def _jump(self, target: str, place: int | Position, scope: Scope) -> None:
        names = [folded(section.name) for section in self._sections]
        wanted = folded(target)
        if wanted not in names or not wanted:
            known = [section.name for section in self._sections if section.name]
            message = f"there is no section '{target}' to go to"
            hint = did_you_mean(target, known) or f"write `### {target}` below the steps"
            self._found.error(Code.UNKNOWN_JUMP, place, message, hint)
            return
        index = names.index(wanted)
        if index <= self._at:
            message = f"`go to {target}` leads back: steps run forward only"
            hint = f"put `### {target}` below this section"
            self._found.error(Code.JUMP_BACKWARDS, place, message, hint)
            return
        entry = self._entries.get(index)
        self._entries[index] = scope if entry is None else entry.met(scope)

    def _retry(self, step: Step) -> None:
        tool = self._tools.get(step.use.name) if step.use is not None else None
        if tool is not None and tool.is_repeatable:
            return
        name = step.use.name if step.use is not None else f"'{step.title}'"
        if step.use is not None and tool is None and step.use.name not in self._skills:
            return  # Another finding reports the missing tool.
        message = f"{name} can't be tried again: it is neither Read Only nor Idempotent"
        hint = "a retry might act twice; if it can't, declare that in the tool's file"
        self._found.error(Code.UNSAFE_RETRY, _place(step, "On error"), message, hint)


def _place(step: Step, key: str) -> int | Position:
    """Return where a key's value is, else the step's line."""
    return step.places.get(key, step.line)


def _ends(step: Step) -> bool:
    ends = step.returns is not None or step.stop is not None
    return ends and step.when is None and step.if_no is None
