"""What a project knows of its callers: their facts with the types, and the roles."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, get_args

from toolmd._types.call import Call, Caller, Fact
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import FactType, Settings

FACT_TYPES: tuple[FactType, ...] = get_args(FactType)
_TEXT: FactType = "string"
RESERVED = ("user", "roles", "via")
"""What an expression reads of every caller, so no fact has these names."""
_TEXTS = Schema(types=("array",), items=Schema(types=("string",)))
_SHAPES: Mapping[str, Schema] = {
    "string": Schema(types=("string",)),
    "number": Schema(types=("number",)),
    "boolean": Schema(types=("boolean",)),
    "list": _TEXTS,
}


class Identity(NamedTuple):
    """The facts, the roles and the time zone that the settings name; hashable."""

    facts: tuple[tuple[str, FactType], ...] = ()
    """The facts by name, each with its type."""
    roles: tuple[str, ...] = ()
    """The roles that there are; empty where the settings list none."""
    time_zone: str = ""
    """The time zone of days; empty where the settings name none."""

    @classmethod
    def of(cls, settings: Settings) -> "Identity":
        """Return what the settings declare, and what their issuers and tokens name."""
        identity, tokens = settings.identity, settings.serve.tokens
        named = [name for one in identity.issuers for name in one.context]
        named += [name for one in tokens for name in (*one.context, *one.act_as.context)]
        facts: dict[str, FactType] = {**dict.fromkeys(named, _TEXT), **identity.facts}
        return cls(tuple(sorted(facts.items())), identity.roles, settings.time_zone)

    def shape(self, required: Iterable[str] = ()) -> Schema:
        """Return the type of `caller` for a tool that requires these facts of the context."""
        facts = {**dict.fromkeys(required, "string"), **dict(self.facts)}
        shapes = {"user": _SHAPES["string"], "roles": _TEXTS, "via": _SHAPES["string"]}
        shapes |= {name: _SHAPES[kind] for name, kind in facts.items()}
        fields = tuple(Parameter(name, shape) for name, shape in shapes.items())
        return Schema(types=("object",), properties=fields)

    def typed(self, caller: Caller) -> Caller:
        """Return the caller with facts of their types; an empty or mistyped fact is absent."""
        if not caller.context:
            return caller
        kinds = dict(self.facts)
        facts: dict[str, Fact] = {}
        for name, given in caller.context.items():
            value = _READERS[kinds.get(name, _TEXT)](given)
            if value is not None and name not in RESERVED:
                facts[name] = value
        return caller if facts == caller.context else caller._replace(context=facts)


def caller_values(caller: Caller) -> dict[str, Any]:
    """Return what expressions read of a caller: what is absent or empty is no field of it."""
    found: dict[str, Any] = {**caller.context, "roles": list(caller.roles)}
    if caller.user:
        found["user"] = caller.user
    if caller.via:
        found["via"] = caller.via
    return found


def values_of(call: Call, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the conditions of a call read: its arguments, its Given and its caller."""
    return {**arguments, **call.given, "caller": caller_values(call.caller)}


_IN_ROLES = re.compile(r"""['"]([^'"]+)['"] in (?:caller|approver)\.roles""")


def roles_of(tool: ToolCallSpec) -> set[str]:
    """Return the roles that a tool's policy names."""
    listed = {*tool.allowed_roles}
    texts = [rule.expression for rule in tool.rules]
    for one in tool.approvals:
        texts.append(one.when)
        if isinstance(one.by, str):
            texts.append(one.by)
        else:
            listed |= {*one.by}
        listed |= {role for step in one.escalate for role in step.to}
    return listed.union(*(_IN_ROLES.findall(text) for text in texts))


def is_for(tool: object, caller: Caller) -> bool:
    """Return whether a list shows a tool to a caller; each call is checked in any case."""
    roles = getattr(tool, "allowed_roles", ())
    is_known = caller.user is not None or caller.roles
    return not roles or not is_known or not set(roles).isdisjoint(caller.roles)


def is_fact(value: Any, kind: FactType) -> bool:
    """Return whether a JSON value is of a fact's type as it is."""
    return _READERS[kind](value) == value and type(value) in _JSON[kind]


ANYBODY = Schema(types=("object",))
"""The type of `caller` where no settings say which facts there are."""


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) and given.strip() else None


def _number(given: Any) -> int | float | None:
    if isinstance(given, str):
        try:
            given = float(given) if set(given) & set(".eE") else int(given)
        except ValueError:
            return None
    is_number = type(given) in {int, float} and math.isfinite(given)
    return given if is_number else None


def _boolean(given: Any) -> bool | None:
    flag = {"true": True, "false": False}.get(given) if isinstance(given, str) else given
    return flag if isinstance(flag, bool) else None


def _texts(given: Any) -> list[str] | None:
    texts = [part.strip() for part in given.split(",")] if isinstance(given, str) else given
    is_list = isinstance(texts, list | tuple) and all(isinstance(one, str) for one in texts)
    return [one for one in texts if one] if is_list else None


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "string": _text, "number": _number, "boolean": _boolean, "list": _texts,
}  # fmt: skip
_JSON: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "boolean": (bool,), "list": (list,),
}  # fmt: skip
"""Each reads a fact as the host supplies it, in Python or as text; None for another type."""
