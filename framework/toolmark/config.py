"""The project's settings: command line over TOOLMARK_* over file over default."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from toolmark._model.settings import (
    DEFAULT_SKILLS,
    DEFAULT_TOOLS,
    SafetySettings,
    Settings,
)
from toolmark.errors import ConfigError

OWN_FILE = "toolmark.toml"
PROJECT_FILE = "pyproject.toml"
PREFIX = "TOOLMARK_"
LOAD_PLUGINS = "TOOLMARK_LOAD_PLUGINS"
"""Names the plugins to load, by commas; empty loads none. Stands above `plugins`."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value was written, for messages."""

    origin: str
    key: str
    text: bool = False
    """Whether only text can stand here, as in the environment; a file has types of its own."""

    def error(self, message: str) -> ConfigError:
        return ConfigError(f"{self.origin}: {self.key}: {message}")


def load_settings(
    folder: str | Path | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings of the project in `folder`, or of the nearest one upward.

    `overrides` are the command line's, by key (`state`, `safety.floor`). A folder that is
    given needs no file. Raises ConfigError for a key or value that can't be read, since it may
    be a restriction (behaviour.md: fail closed).
    """
    environ = os.environ if environ is None else environ
    root, file, table = _given(Path(folder)) if folder is not None else _nearest(Path.cwd())
    values: dict[str, tuple[Any, _Place]] = {}
    values |= _from_table(table, str(file or root))
    values |= _from_environment(environ)
    values |= _from_overrides(overrides or {})
    return _settings(root, file, values)


def state_folder(state: Path) -> Path:
    """Make the folder of what Toolmark keeps, for this user's eyes only, and give it.

    Raises OSError where it can't be made.
    """
    if not state.is_dir():
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        # It holds what people said and did, which belongs in no repository.
        (state / ".gitignore").write_text("*\n", encoding="utf-8")
    return state


def find_project(start: Path) -> Path | None:
    """Give the nearest folder upward with `toolmark.toml` or `[tool.toolmark]`."""
    for folder in (start, *start.parents):
        if _read(folder) is not None:
            return folder
    return None


def _given(folder: Path) -> tuple[Path, Path | None, dict[str, Any]]:
    root = folder.expanduser().resolve()
    if not root.is_dir():
        raise ConfigError(f"{folder}: no such folder; give the project's folder")
    file, table = _read(root) or (None, _where_definitions_are(root))
    return root, file, table


def _where_definitions_are(root: Path) -> dict[str, Any]:
    """Choose the folder itself where nothing says otherwise and its definitions lie in it."""
    if any((root / name).is_dir() for name in (*DEFAULT_TOOLS, *DEFAULT_SKILLS)):
        return {}
    patterns = [f"{below}*.{kind}.md" for below in ("", "*/") for kind in ("tool", "skill")]
    found = any(next(root.glob(pattern), None) for pattern in patterns)
    return {"tools": ["."], "skills": []} if found else {}


def _nearest(start: Path) -> tuple[Path, Path | None, dict[str, Any]]:
    start = start.resolve()
    if (root := find_project(start)) is not None:
        return _given(root)
    if any((start / name).is_dir() for name in (*DEFAULT_TOOLS, *DEFAULT_SKILLS)):
        return start, None, {}
    raise ConfigError(
        f"{start}: no project here or above; run `toolmark init`, or name one with --project"
    )


def _read(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    own, project = folder / OWN_FILE, folder / PROJECT_FILE
    table = _toml(project).get("tool", {}).get("toolmark") if _is_ours(project) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{project}: [tool.toolmark] must be a table")
    if own.is_file():
        if table is not None:
            raise ConfigError(
                f"{own}: {project} has a [tool.toolmark] as well; keep one of the two"
            )
        return own, _toml(own)
    return None if table is None else (project, table)


def _is_ours(project: Path) -> bool:
    """Tell whether a pyproject.toml may speak of Toolmark: another's faults are not ours."""
    try:
        return b"toolmark" in project.read_bytes()
    except OSError:
        return False


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{file}: can't be read: {error}") from error


def _from_table(table: Mapping[str, Any], origin: str) -> dict[str, tuple[Any, _Place]]:
    values: dict[str, tuple[Any, _Place]] = {}
    for key, value in table.items():
        if key == "safety":
            if not isinstance(value, dict):
                raise _Place(origin, key).error("must be a table")
            for inner, held in value.items():
                name = f"safety.{inner}"
                _known(name, origin)
                values[name] = held, _Place(origin, name)
        else:
            _known(key, origin)
            values[key] = value, _Place(origin, key)
    return values


def _from_environment(environ: Mapping[str, str]) -> dict[str, tuple[Any, _Place]]:
    names = {PREFIX + key.upper().replace(".", "_"): key for key in _READERS}
    values: dict[str, tuple[Any, _Place]] = {}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable == LOAD_PLUGINS:
            continue
        if (key := names.get(variable)) is not None:
            values[key] = environ[variable], _Place("environment", variable, text=True)
        elif near := get_close_matches(variable, [*names, LOAD_PLUGINS], 1, 0.85):
            # Plugins and tools have variables of their own; only a near miss can be a slip.
            raise _Place("environment", variable).error(f"unknown; did you mean {near[0]}?")
        elif variable.startswith(f"{PREFIX}SAFETY_"):
            raise _Place("environment", variable).error(f"unknown; known are {_list(names)}")
    if LOAD_PLUGINS in environ:
        values["plugins"] = environ[LOAD_PLUGINS], _Place("environment", LOAD_PLUGINS, text=True)
    return values


def _from_overrides(overrides: Mapping[str, Any]) -> dict[str, tuple[Any, _Place]]:
    values: dict[str, tuple[Any, _Place]] = {}
    for key, value in overrides.items():
        _known(key, "command line")
        values[key] = value, _Place("command line", key, text=True)
    return values


def _known(key: str, origin: str) -> None:
    if key in _READERS:
        return
    near = get_close_matches(key, _READERS, 1, 0.6) or [
        known for known in _READERS if known.endswith(f".{key}")
    ]
    hint = f"did you mean {near[0]}?" if near else f"known are {_list(_READERS)}"
    raise _Place(origin, key).error(f"unknown key; {hint}")


def _list(names: Mapping[str, Any]) -> str:
    return ", ".join(sorted(names))


def _settings(root: Path, file: Path | None, values: Mapping[str, tuple[Any, _Place]]) -> Settings:
    read = {key: _READERS[key](value, place) for key, (value, place) in values.items()}
    safety = {
        key.removeprefix("safety."): value
        for key, value in read.items()
        if key.startswith("safety.")
    }
    plain = {key: value for key, value in read.items() if not key.startswith("safety.")}
    settings = Settings(
        root=root,
        file=file,
        safety=SafetySettings(**safety),
        origin={key: place.origin for key, (_, place) in values.items()},
        **plain,
    )
    return replace(settings, state=root / settings.state)


def _folders(value: Any, place: _Place) -> tuple[str, ...]:
    folders = _names(value, place)
    for folder in folders:
        if not folder.strip() or "\0" in folder:
            raise place.error(f"{folder!r} is no folder")
    return folders


def _names(value: Any, place: _Place) -> tuple[str, ...]:
    if isinstance(value, str) and place.text:
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise place.error(f'must be a list of texts, such as ["a", "b"], not {value!r}')
    return tuple(value)


def _words(value: Any, place: _Place) -> tuple[str, ...]:
    words = _names(value, place)
    if not all(word.strip() for word in words):
        raise place.error("an empty word would match everything or nothing; take it out")
    return words


def _path(value: Any, place: _Place) -> Path:
    if not isinstance(value, str | Path) or not str(value).strip() or "\0" in str(value):
        raise place.error(f"must be a folder, not {value!r}")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise place.error(f"{value!r} names no user's folder") from error


def _engine(value: Any, place: _Place) -> str:
    if value in ("sqlite", "memory"):
        return str(value)
    if isinstance(value, str) and value.startswith(("postgresql://", "postgres://")):
        return value
    raise place.error("must be sqlite, memory or a postgresql:// URL")


def _confidence(value: Any, place: _Place) -> float:
    if isinstance(value, str) and place.text:
        try:
            value = float(value)
        except ValueError as error:
            raise place.error(f"must be a number from 0 to 1, not {value!r}") from error
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise place.error(f"must be a number from 0 to 1, not {value!r}")
    return float(value)


def _flag(value: Any, place: _Place) -> bool:
    if isinstance(value, bool):
        return value
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    if place.text and isinstance(value, str) and (word := value.strip().lower()) in words:
        return words[word]
    raise place.error(f"must be true or false, not {value!r}")


def _on_missing(value: Any, place: _Place) -> str:
    if value not in ("deny", "confirm"):
        raise place.error(f"must be deny or confirm, not {value!r}")
    return str(value)


_READERS: Mapping[str, Callable[[Any, _Place], Any]] = {
    "tools": _folders,
    "skills": _folders,
    "state": _path,
    "engine": _engine,
    "safety.default_min": _confidence,
    "safety.floor": _confidence,
    "safety.crisis_words": _words,
    "safety.on_missing_confidence": _on_missing,
    "audit": _flag,
    "trust_edits": _flag,
    "plugins": _names,
}
"""Every setting, and what reads its value."""
