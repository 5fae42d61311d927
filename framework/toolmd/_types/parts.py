"""Content parts of a result: images, audio and other files that a model gets as they are."""

import base64
import mimetypes
import re
from pathlib import Path
from typing import Any, Self

MAX_PART = 8 << 20
"""The most bytes of one content part."""
MAX_PARTS = 16
"""The most content parts of one result."""
_MEDIA_TYPE = re.compile(r"[a-z0-9][\w.+-]{0,63}/[a-z0-9][\w.+-]{0,63}", re.ASCII | re.IGNORECASE)
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class File:
    """A file in a tool's result; return it alone, or within lists and objects.

    The result's data has `{"part", "type", "media_type", "bytes", "name"}` in its place.
    """

    __slots__ = ("data", "media_type", "name")

    def __init__(self, data: bytes, media_type: str | None = None, name: str = "") -> None:
        """Keep the content.

        Args:
            data: The content.
            media_type: Such as `application/pdf`; by default, found by the name.
            name: The name of the file for people, without folders.

        Raises:
            TypeError: `data` is not bytes.
            ValueError: The media type is unknown, or no media type.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(
                f"the data of a {type(self).__name__} are bytes, not {type(data).__name__}"
            )
        self.data = bytes(data)
        """The content."""
        self.name = name
        """The name of the file; empty for none."""
        self.media_type = media_type or self._guessed()
        """The media type, such as `image/png`."""
        if not _MEDIA_TYPE.fullmatch(self.media_type):
            raise ValueError(f"{self.media_type!r} is no media type, as image/png is")

    @classmethod
    def read(cls, path: str | Path, media_type: str | None = None) -> Self:
        """Return the file at a path; it blocks.

        Args:
            path: The file.
            media_type: Such as `application/pdf`; by default, found by the name.

        Raises:
            OSError: The file can't be read.
            ValueError: The media type is unknown, or no media type.
        """
        path = Path(path)
        return cls(path.read_bytes(), media_type, path.name)

    @property
    def kind(self) -> str:
        """The kind of the part: `image`, `audio` or `file`."""
        kind = self.media_type.partition("/")[0].lower()
        return kind if kind in {"image", "audio"} else "file"

    @property
    def base64(self) -> str:
        """The content in base64."""
        return base64.b64encode(self.data).decode("ascii")

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        # Only where pydantic asks for it.
        from pydantic_core.core_schema import is_instance_schema

        return is_instance_schema(cls)

    def _guessed(self) -> str:
        return mimetypes.guess_type(self.name)[0] or "application/octet-stream"

    def reference(self, number: int) -> dict[str, Any]:
        """Return what stands for the part with this number in the result's data."""
        shown: dict[str, Any] = {"part": number, "type": self.kind, "media_type": self.media_type}
        shown["bytes"] = len(self.data)
        return {**shown, "name": self.name} if self.name else shown

    def to_dict(self, number: int) -> dict[str, Any]:
        """Return its JSON: the reference, and `data` in base64."""
        return {**self.reference(number), "data": self.base64}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, File) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        name = f", {self.name!r}" if self.name else ""
        return f"{type(self).__name__}(<{len(self.data)} bytes>, {self.media_type!r}{name})"

    def _identity(self) -> tuple[bytes, str, str]:
        return self.data, self.media_type, self.name


class Image(File):
    """An image in a tool's result; its media type is found by its first bytes."""

    __slots__ = ()

    def _guessed(self) -> str:
        for begin, media_type in _IMAGES:
            if self.data.startswith(begin):
                return media_type
        if self.data[:4] == b"RIFF" and self.data[8:12] == b"WEBP":
            return "image/webp"
        guessed = super()._guessed()
        if not guessed.startswith("image/"):
            raise ValueError("this image is no PNG, JPEG, GIF or WebP: state its media type")
        return guessed
