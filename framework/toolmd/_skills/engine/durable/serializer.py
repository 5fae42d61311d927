"""Store only JSON: a pickled row could run any code when it is read."""

import json
from typing import Any

from dbos import Serializer, _serialization


class JsonSerializer(Serializer):
    """Writes JSON; an exception is stored as its type and message."""

    def serialize(self, data: Any) -> str:
        """Return a value as text."""
        if isinstance(data, BaseException):
            return json.dumps({"error": type(data).__name__, "message": str(data)})
        return json.dumps(data)

    def deserialize(self, serialized_data: str) -> Any:
        """Return the value of a text."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Return the label of the rows."""
        return "toolmd_json"


def reject_pickles() -> None:
    """Keep DBOS from reading rows that are labelled as pickled.

    DBOS reads such rows with any configured serializer, so its own reader is replaced. This is the
    one private name of DBOS that is used.
    """

    def reject(*_: Any) -> Any:
        raise ValueError("the database of the runs has a pickled row, which is not read")

    _serialization.DefaultSerializer.deserialize = reject  # type: ignore[assignment, method-assign]
