"""Keep JSON and nothing else: a row that would be unpickled could run any code."""

import json
from typing import Any

from dbos import _serialization
from dbos._serialization import Serializer

from toolmd._skills.engine.durable.record import NAME


class JsonSerializer(Serializer):
    """Writes JSON; an exception is kept by its words."""

    def serialize(self, data: Any) -> str:
        """Give the text of a value."""
        if isinstance(data, BaseException):
            return json.dumps({"error": type(data).__name__, "message": str(data)})
        return json.dumps(data)

    def deserialize(self, serialized_data: str) -> Any:
        """Give the value of a text."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Give the label of the rows."""
        return NAME


def refuse_pickles() -> None:
    """Keep DBOS from reading rows that are labelled as pickled, whoever wrote them.

    It reads such a row whatever serializer is configured, so its reader itself is replaced.
    """

    def refuse(*_: Any) -> Any:
        raise ValueError("a pickled row stands in the data base of the runs; it is not read")

    _serialization.DefaultSerializer.deserialize = refuse  # type: ignore[assignment, method-assign]
