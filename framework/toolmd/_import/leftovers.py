"""Find the texts of a source that neither a draft nor a note has."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")
_MARK = re.compile(r"^\s*(?:(?:[-*+>|#]+|\d+[.)])\s+)+")
_STRUCTURE = frozenset(
    "$ref $schema $defs definitions type pattern required discriminator propertyName in "
    "style".split()
)
"""The keywords that a reader of schemas or operations follows, keeps or notes by itself."""
_NAMED = frozenset(("properties", "patternProperties", "dependentSchemas"))
"""The keywords whose own keys are names."""
RESPONSES = "responses"
"""The keyword of what a service answers, which restricts no call: `403 Forbidden`."""
_MOST = 20_000
"""The most values of one source that are compared."""


def leftovers(source: Any, root: Any, said: str) -> Iterator[tuple[str, str, str]]:
    """Yield each sentence and value that a text does not have, with its place and its keyword.

    Letters and digits are compared, in one case: a text that was wrapped or escaped is there.

    Args:
        source: The JSON value, whose references are followed once each.
        root: The document in which the references lead.
        said: All that the draft and the notes say.
    """
    known = _folded(said)
    seen: set[str] = set()
    left: list[tuple[str, str, Any]] = [("", "", source)]
    for _ in range(_MOST):
        if not left:
            return
        place, keyword, value = left.pop(0)
        if isinstance(value, str):
            for part in _SENTENCE.split(value):
                sentence = _MARK.sub("", part).strip()
                if (folded := _folded(sentence)) and folded not in known:
                    yield place, keyword, sentence
        elif isinstance(value, list):
            left += [(place, keyword, one) for one in value]
        elif isinstance(value, Mapping):
            reference = value.get("$ref")
            if isinstance(reference, str) and reference not in seen:
                seen.add(reference)
                left.append((place, keyword, _target(root, reference)))
            for key, one in value.items():
                if keyword in _NAMED:
                    left.append((f"{place}.{key}".lstrip("."), "", one))
                elif key not in _STRUCTURE:
                    left.append((place, str(key), one))


def lost_lines(text: str, said: str) -> Iterator[tuple[int, str]]:
    """Yield each line of a markdown text that another text does not have, with its number.

    Headings are left out: what becomes of them is the reader's business. Of a field of the front
    matter only the value is compared.

    Args:
        text: The source.
        said: All that the draft and the notes say.
    """
    known = _folded(said)
    ends = text.find("\n---", 3) if text.startswith("---") else 0
    at = 0
    for number, line in enumerate(text.split("\n"), 1):
        own = _MARK.sub("", line).strip()
        if at < ends and not line.lstrip().startswith("#"):
            own = own.partition(":")[2] or own
        elif line.startswith("#"):
            own = "" if at >= ends else own
        if (folded := _folded(own)) and folded not in known:
            yield number, line.strip()
        at += len(line) + 1


def all_of(
    operation: Mapping[str, Any], path: Mapping[str, Any], resolved: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return all of an operation of OpenAPI, but what its results look like."""
    responses = operation.get("responses")
    told = responses.items() if isinstance(responses, Mapping) else ()
    return {
        **operation,
        RESPONSES: [f"{status} {resolved(one).get('description', '')}" for status, one in told],
        "path": {key: path.get(key) for key in ("summary", "description")},
    }


def _target(root: Any, reference: str) -> Any:
    found = root if reference.startswith("#/") else None
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
