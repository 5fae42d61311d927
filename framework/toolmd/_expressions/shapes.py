"""Build CEL types from schemas, to find a wrong field before anything runs."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from toolmd._types.schema import Parameter, Schema

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PACKAGE = "tm"
_MAX_DEPTH = 16
_SCALARS = {"string": "STRING", "integer": "INT", "boolean": "BOOL"}


class Shapes:
    """The message types of closed objects; protobuf is imported only when there is one."""

    def __init__(self, is_whole: Callable[[int], bool] | None = None) -> None:
        """Prepare the types.

        Args:
            is_whole: Tries forms of JSON numbers: returns whether the number at this place, in
                the order in which they are found, has the type of integers, or that of doubles.
        """
        self._is_whole = is_whole
        self.numbers = 0
        """How many JSON numbers were found."""
        self.messages: dict[str, Schema] = {}
        """The full name of a message type to the object that it stands for."""
        self._file: Any = None
        self._made: dict[int, str] = {}

    def type_of(self, shape: Schema, depth: int = 0) -> Any:
        """Return the CEL type of a schema; `dyn` if CEL has no type for it.

        A JSON number is `dyn`, because CEL compares integers and doubles only then.
        """
        from cel_expr_python import cel

        kind = cel.Type
        if len(shape.types) != 1 or depth > _MAX_DEPTH:
            return kind.DYN
        only = shape.types[0]
        if only in _SCALARS:
            return getattr(kind, _SCALARS[only])
        if only == "number" and (whole := self._whole()) is not None:
            return kind.INT if whole else kind.DOUBLE
        if only == "array":
            return kind.List(self.type_of(shape.items or Schema(), depth + 1))
        if only == "object":
            return self._object(shape, depth)
        return kind.DYN

    def _whole(self) -> bool | None:
        """Count a number; return whether it is tried as a whole one, None for either."""
        self.numbers += 1
        return None if self._is_whole is None else self._is_whole(self.numbers - 1)

    def _object(self, shape: Schema, depth: int) -> Any:
        from cel_expr_python import cel

        kind = cel.Type
        if self.closed(shape):
            return kind(self._message(shape, depth))
        values = self.type_of(shape.values, depth + 1) if shape.values else kind.DYN
        return kind.Map(kind.STRING, values)

    def closed(self, shape: Schema) -> bool:
        """Check that an object's fields are all known and can be fields of a message."""
        if shape.types != ("object",) or shape.properties is None:
            return False
        names = [field.name for field in shape.properties]
        # Protobuf rejects two fields whose JSON names are one: `first_name` and `firstName`.
        distinct = len({name.replace("_", "").lower() for name in names}) == len(names)
        return distinct and all(_IDENTIFIER.match(name) for name in names)

    def _message(self, shape: Schema, depth: int) -> str:
        if id(shape) in self._made:
            return self._made[id(shape)]
        if self._file is None:
            self._file = _new_file()
        short = f"S{len(self.messages)}"
        name = f"{_PACKAGE}.{short}"
        self.messages[name] = shape
        self._made[id(shape)] = name
        message = self._file.message_type.add(name=short)
        for number, field in enumerate(shape.properties or (), 1):
            self._field(message, number, field, depth + 1)
        return name

    def _field(self, message: Any, number: int, field: Parameter, depth: int) -> None:
        from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

        repeated, kind, type_name = self._field_type(field.shape, depth)
        label = Proto.LABEL_REPEATED if repeated else Proto.LABEL_OPTIONAL
        made = message.field.add(name=field.name, number=number, type=kind, label=label)
        if type_name:
            made.type_name = type_name

    def _field_type(self, shape: Schema, depth: int) -> tuple[bool, int, str]:
        """Return whether the field repeats, its protobuf type, and the message's name."""
        from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

        scalars = {
            "string": Proto.TYPE_STRING,
            "integer": Proto.TYPE_INT64,
            "boolean": Proto.TYPE_BOOL,
        }
        only = shape.types[0] if len(shape.types) == 1 and depth <= _MAX_DEPTH else ""
        if only == "number" and (whole := self._whole()) is not None:
            return False, Proto.TYPE_INT64 if whole else Proto.TYPE_DOUBLE, ""
        if only in scalars:
            return False, scalars[only], ""
        if self.closed(shape) and only:
            return False, Proto.TYPE_MESSAGE, "." + self._message(shape, depth)
        if only == "object":
            return False, Proto.TYPE_MESSAGE, ".google.protobuf.Struct"
        if only == "array":
            item = shape.items or Schema()
            repeated, kind, name = self._field_type(item, depth + 1)
            if repeated or name.startswith(".google."):
                return False, Proto.TYPE_MESSAGE, ".google.protobuf.ListValue"
            return True, kind, name
        return False, Proto.TYPE_MESSAGE, ".google.protobuf.Value"

    def pool(self) -> Any:
        """Return the descriptor pool of the message types; None without any."""
        if self._file is None:
            return None
        from google.protobuf import descriptor_pool, struct_pb2

        pool = descriptor_pool.DescriptorPool()
        pool.AddSerializedFile(struct_pb2.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(self._file.SerializeToString())
        return pool

    def fields(self) -> dict[str, list[str]]:
        """Return each message type's field names, for suggestions."""
        return {n: [p.name for p in s.properties or ()] for n, s in self.messages.items()}

    def schema_of(self, name: str) -> Schema | None:
        """Return the schema of a CEL type by its name; None if it is unknown."""
        if name in self.messages:
            return self.messages[name]
        if (simple := _SIMPLE.get(name)) is not None:
            return simple
        if name.startswith("LIST<"):
            return Schema(types=("array",), items=self.schema_of(name[5:-1]))
        if name.startswith("MAP<"):
            _, values = _split(name[4:-1])
            return Schema(types=("object",), values=self.schema_of(values))
        return None


_SIMPLE = {
    "STRING": Schema(types=("string",)),
    "INT": Schema(types=("integer",)),
    "UINT": Schema(types=("integer",)),
    "DOUBLE": Schema(types=("number",)),
    "BOOL": Schema(types=("boolean",)),
    "NULL": Schema(types=("null",)),
    "TIMESTAMP": Schema(types=("string",), format="date-time"),
    "DURATION": Schema(types=("string",), format="duration"),
    "BYTES": Schema(types=("string",)),
}


def _split(text: str) -> tuple[str, str]:
    depth = 0
    for index, letter in enumerate(text):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            return text[:index].strip(), text[index + 1 :].strip()
    return text, ""


def _new_file() -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto(name="toolmd.proto", package=_PACKAGE, syntax="proto2")
    file.dependency.append("google/protobuf/struct.proto")
    return file


def at_path(shape: Schema | None, fields: Iterable[str]) -> Schema | None:
    """Return the schema of `a.b.c` below `a`; None if it is unknown."""
    for field in fields:
        if shape is None or shape.types != ("object",):
            return None
        if shape.properties is None:
            shape = shape.values
            continue
        shape = next((p.shape for p in shape.properties if p.name == field), None)
    return shape
