"""Answers that follow a JSON Schema: what is sent for them, and the check of what comes."""

import json
from collections.abc import Mapping
from typing import Any

from toolmd._validation.strict_json import read_json
from toolmd.errors import ConfigError

MAX_PROBLEMS = 8
"""The most problems of an answer that a model reads."""
MAX_DEPTH = 64


class AnswerSchema:
    """The schema of a conversation's answers."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Check the schema.

        Raises:
            ConfigError: It is not a JSON Schema, or the package jsonschema is missing.
        """
        try:
            from jsonschema import Draft202012Validator
            from jsonschema.exceptions import SchemaError
            from referencing import Registry
        except ImportError as error:
            raise ConfigError(
                "answers by a schema need the package jsonschema: pip install 'toolmd[chat]'"
            ) from error
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            at = "/".join(map(str, error.absolute_path)) or "its top"
            raise ConfigError(f"the schema of the answers: {error.message} (at {at})") from None
        # With a registry of its own, a `$ref` to another host is never fetched.
        self._validator = Draft202012Validator(dict(schema), registry=Registry())
        named = {"name": "answer", "schema": dict(schema)}
        self.response_format = {"type": "json_schema", "json_schema": named}
        """The parameter of the API."""
        self.system = (
            "When you have all that you need, answer with one JSON value that follows this JSON"
            f" Schema, and with nothing else: {json.dumps(schema, ensure_ascii=False)}"
        )
        """The part of the system prompt for endpoints that ignore the parameter."""

    def read(self, words: str) -> tuple[Any, str]:
        """Return the value of an answer, and a message for the model; one of both is empty."""
        try:
            value = read_json(_unfenced(words), depth=MAX_DEPTH)
        except ValueError as error:
            return None, f"Your answer is not JSON: {error} Answer with the JSON value alone."
        try:
            found = sorted(self._validator.iter_errors(value), key=lambda one: one.json_path)
        except Exception as error:  # noqa: BLE001 - an unresolvable `$ref`, for one
            return None, f"Your answer could not be checked: {error}"
        if not found:
            return value, ""
        shown = "; ".join(f"{one.json_path}: {one.message[:300]}" for one in found[:MAX_PROBLEMS])
        return None, f"Your answer does not follow the schema: {shown}. Send all of it again."


def _unfenced(words: str) -> str:
    """Return an answer without the code fence that some models write around it."""
    text = words.strip()
    first, _, rest = text.partition("\n")
    fenced = first in {"```", "```json"} and rest.endswith("```")
    return rest.removesuffix("```") if fenced else text
