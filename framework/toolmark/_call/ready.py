"""A tool made ready for calls on its first use: everything that its spec decides, decided once."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic_core import ValidationError

from toolmark._call.context import Surroundings
from toolmark._call.execute import Executor
from toolmark._call.misfit import explain, misfit, read
from toolmark._call.refusal import Refusal, refuse
from toolmark._call.rules import Rules
from toolmark._model.call import Call
from toolmark._model.registry import Bound
from toolmark._model.tool import ToolSpec
from toolmark._values import (
    ArgumentsValidator,
    InvalidArgumentsError,
    MalformedError,
    read_object,
)


class ReadyTool:
    """One tool of one snapshot, its validator, rules and executor."""

    def __init__(self, tool: Bound[ToolSpec], door: Surroundings) -> None:
        """Build the parts; raises where a restriction can't be read, and no call passes."""
        spec = tool.spec
        self.spec = spec
        ignores = spec.unknown_parameters == "ignore"
        self.validator = ArgumentsValidator(spec.parameters, ignore_unknown=ignores)
        self._rules = Rules(spec) if spec.rules else None
        self.needs_caller = spec.requires_auth or spec.requires_patient_context
        self.ignores_unknown = ignores
        self.executor = Executor(tool, door, self.validator)
        self.is_plain = self.validator.is_quick and not self._rules
        """Whether no row of the ladder but 1, 2a, 3 and 9 can stop or change its calls."""

    def admit(self, call: Call) -> None:
        """Row 2a: the host names the user and the patient that the tool requires."""
        name, caller = self.spec.name, call.caller
        if self.spec.requires_auth and not caller.user:
            read(call)
            raise refuse("auth_required", f"{name} needs a signed-in user; the host names one.")
        if self.spec.requires_patient_context and not caller.patient:
            read(call)
            message = f"{name} needs a patient; the host names one, never the arguments."
            raise refuse("patient_context_required", message)

    def arguments(self, call: Call) -> dict[str, Any]:
        """Rows 1 and 3: a JSON object that fits the parameters, then the rules; with defaults."""
        given = call.arguments
        try:
            arguments = self.validator.at_once(given) if type(given) is str else None
            if arguments is None:
                arguments = self.validator.validate(given)
        except ValidationError:
            assert isinstance(given, str)
            raise Refusal(partial(explain, self.validator, given)) from None
        except (MalformedError, InvalidArgumentsError) as error:
            raise Refusal(misfit(error)) from None
        if self._rules is not None:
            self._rules.check(arguments)
        return arguments

    def dropped(self, arguments: Mapping[str, Any] | str | bytes) -> tuple[str, ...]:
        """Give the paths of unknown keys that were left out."""
        return self.validator.dropped(read_object(arguments))
