"""Public functions describe their arguments."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import toolmd
from toolmd import config, database, hooks, importing, testing

MODULES = (toolmd, config, database, hooks, importing, testing)
_ARGS = re.compile(r"^Args:\n((?: {4}.*\n?|\n)*)", re.MULTILINE)


def public() -> Iterator[tuple[str, Any]]:
    """Yield each public function, and the public methods of each public class."""
    for module in MODULES:
        own = [name for name, one in vars(module).items() if _home(one) == module.__name__]
        for name in getattr(module, "__all__", own):
            one = getattr(module, name)
            if not _home(one).startswith("toolmd"):
                continue
            if inspect.isfunction(one):
                yield f"{module.__name__}.{name}", one
            for key, method in list(vars(one).items()) if inspect.isclass(one) else ():
                function = getattr(method, "__func__", method)
                if inspect.isfunction(function) and (key == "__init__" or key[0] != "_"):
                    yield f"{module.__name__}.{name}.{key}", function


def _home(one: Any) -> str:
    return str(getattr(one, "__module__", ""))


def test_public_functions_of_several_arguments_describe_each() -> None:
    missing = []
    for name, function in public():
        said = inspect.cleandoc(function.__doc__ or "")
        arguments = inspect.signature(function).parameters.keys() - {"self", "cls"}
        if len(arguments) < 2 or not said or said.startswith("Same as"):
            continue
        section = _ARGS.search(said)
        described = set(re.findall(r"^    (\w+):", section[1] if section else "", re.MULTILINE))
        missing += [f"{name}: {argument}" for argument in sorted(arguments - described)]
    assert not missing
