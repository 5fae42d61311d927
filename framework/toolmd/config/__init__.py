"""The project's settings: command line over TOOLMD_* over file over default."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolmd._types.settings import DEFAULT_SKILLS, DEFAULT_TOOLS, Settings
from toolmd.config.values import KINDS, SHORT, TABLES, Origin, read_setting
from toolmd.errors import ConfigError, did_you_mean

OWN_FILE = "toolmd.toml"
PROJECT_FILE = "pyproject.toml"
PREFIX = "TOOLMD_"
LOAD_PLUGINS = "TOOLMD_LOAD_PLUGINS"
"""The plugins to load, separated by commas. If it is empty, no plugin loads. It overrides the
setting `plugins`."""


def load_settings(
    folder: str | Path | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings of the project in `folder`, or of the nearest one upward.

    Args:
        folder: The project's folder, which needs no file.
        overrides: The command line's settings, by key (`state`, `safety.floor`).
        environ: The environment; by default that of the process.

    Raises:
        ConfigError: A key or value can't be read: it may be a restriction.
    """
    environ = os.environ if environ is None else environ
    root, file, table = _project_in(Path(folder)) if folder is not None else _nearest(Path.cwd())
    values: dict[str, tuple[Any, Origin]] = {}
    values |= _from_table(table, str(file or root))
    values |= _from_environment(environ)
    values |= _from_overrides(overrides or {})
    return _settings(root, file, values)


def state_folder(state: Path) -> Path:
    """Make the folder of what Toolmd keeps, readable by this user only, and return it.

    Raises OSError where it can't be made.
    """
    if not state.is_dir():
        state.parent.mkdir(parents=True, exist_ok=True)
        try:
            _make_state(state)
        except OSError as error:  # the draft's name would not help the user
            error.filename = str(state)
            raise
    return state


def _make_state(state: Path) -> None:
    """Put the folder there in one step, so that it never stands there without its .gitignore."""
    from shutil import rmtree
    from tempfile import mkdtemp

    draft = Path(mkdtemp(prefix=f"{state.name}-", dir=state.parent))
    try:
        # It holds what people said and did, which belongs in no repository.
        ignored = draft / ".gitignore"
        ignored.touch(mode=0o600)
        ignored.write_text("*\n", encoding="utf-8")
        try:
            draft.rename(state)
        except OSError:
            if not state.is_dir():
                raise  # and no other process made it meanwhile
    finally:
        rmtree(draft, ignore_errors=True)


def find_project(start: Path) -> Path | None:
    """Return the nearest folder upward with `toolmd.toml` or `[tool.toolmd]`."""
    for folder in (start, *start.parents):
        if _read(folder) is not None:
            return folder
    return None


def _project_in(folder: Path) -> tuple[Path, Path | None, dict[str, Any]]:
    try:
        root = folder.expanduser().resolve()
        found = root.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"the project's folder can't be found: {error}") from error
    if not found:
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
        return _project_in(root)
    if any((start / name).is_dir() for name in (*DEFAULT_TOOLS, *DEFAULT_SKILLS)):
        return start, None, {}
    raise ConfigError(
        f"{start}: no project here or above; run `toolmd init`, or name one with --project"
    )


def _read(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    own, project = folder / OWN_FILE, folder / PROJECT_FILE
    table = _toml(project).get("tool", {}).get("toolmd") if _is_ours(project) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{project}: [tool.toolmd] must be a table")
    if own.is_file():
        if table is not None:
            raise ConfigError(f"{own}: {project} has a [tool.toolmd] as well; keep one of the two")
        return own, _toml(own)
    if table is None and _is_ours(project) and _is_plugin(_toml(project)):
        table = {}
    return None if table is None else (project, table)


def _is_plugin(table: Mapping[str, Any]) -> bool:
    """Check whether a pyproject.toml makes a plugin, which is a project of its own."""
    try:
        return bool(table["project"]["entry-points"]["toolmd"])
    except (LookupError, TypeError):
        return False


def _is_ours(project: Path) -> bool:
    """Return whether a pyproject.toml may configure Toolmd: errors of others are not ours."""
    try:
        return b"toolmd" in project.read_bytes()
    except OSError:
        return False


def _toml(file: Path) -> dict[str, Any]:
    # Only here: `toolmd --help` reads no file.
    import tomllib

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{file}: can't be read: {error}") from error


def _from_table(table: Mapping[str, Any], origin: str) -> dict[str, tuple[Any, Origin]]:
    values: dict[str, tuple[Any, Origin]] = {}
    for key, value in table.items():
        if key in TABLES and (isinstance(value, dict) or key not in SHORT):
            if not isinstance(value, dict):
                raise Origin(origin, key).error("must be a table")
            found = {f"{key}.{inner}": (one, f"{key}.{inner}") for inner, one in value.items()}
        else:
            found = {SHORT.get(key, key): (value, key)}
        for name, (one, place) in found.items():
            _check_key(name, origin)
            values[name] = one, Origin(origin, place)
    return values


def _from_environment(environ: Mapping[str, str]) -> dict[str, tuple[Any, Origin]]:
    keys = {**{key: key for key in KINDS}, **SHORT}
    names = {PREFIX + key.upper().replace(".", "_"): known for key, known in keys.items()}
    values: dict[str, tuple[Any, Origin]] = {}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable == LOAD_PLUGINS:
            continue
        if (key := names.get(variable)) is not None:
            values[key] = environ[variable], Origin("environment", variable, text=True)
        elif hint := did_you_mean(variable, [*names, LOAD_PLUGINS], alike=0.85) or _known(variable):
            # Plugins and tools have variables of their own; only a near miss can be a slip.
            raise Origin("environment", variable).error(f"unknown; {hint}")
    if LOAD_PLUGINS in environ:
        values["plugins"] = environ[LOAD_PLUGINS], Origin("environment", LOAD_PLUGINS, text=True)
    return values


def _known(variable: str) -> str:
    """Return the keys of the table with which the name of a variable begins; empty for none."""
    words = variable.removeprefix(PREFIX).lower()
    table = next((name for name in TABLES if f"{words}_".startswith(f"{name}_")), "?")
    keys = [key for key in KINDS if key.startswith(f"{table}.")]
    return f"known keys: {_list(keys)}" if keys else ""


def _from_overrides(overrides: Mapping[str, Any]) -> dict[str, tuple[Any, Origin]]:
    values: dict[str, tuple[Any, Origin]] = {}
    for short, value in overrides.items():
        key = SHORT.get(short, short)
        _check_key(key, "command line")
        values[key] = value, Origin("command line", key, text=True)
    return values


def _check_key(key: str, origin: str) -> None:
    if key in KINDS:
        return
    within = [known for known in KINDS if known.endswith(f".{key}")]
    hint = did_you_mean(key, [*KINDS, *TABLES]) or did_you_mean(key, within, alike=0.0)
    hint = hint or f"known settings: {_list(KINDS)}"
    raise Origin(origin, key).error(f"unknown key; {hint}")


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _settings(root: Path, file: Path | None, values: Mapping[str, tuple[Any, Origin]]) -> Settings:
    read = {key: read_setting(key, value, place) for key, (value, place) in values.items()}
    tables: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
    plain: dict[str, Any] = {}
    for key, value in read.items():
        table, _, inner = key.rpartition(".")
        (tables[table] if table else plain)[inner] = value
    settings = Settings(
        root=root,
        file=file,
        origin={key: place.origin for key, (_, place) in values.items()},
        **plain,
        **{table: TABLES[table](**inner) for table, inner in tables.items()},
    )
    return settings._replace(state=root / settings.state)
