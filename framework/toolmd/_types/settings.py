"""The settings of a project."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

DEFAULT_TOOLS = ("tools_md",)
DEFAULT_SKILLS = ("skills_md",)

OnMissingConfidence = Literal["deny", "confirm"]


@dataclass(frozen=True, slots=True)
class SafetySettings:
    """The table `[safety]`; what is unset restricts nothing."""

    default_min: float | None = None
    """The confidence (0..1) that a tool asks for where its file names none."""
    floor: float | None = None
    """The confidence (0..1) below which no call passes, whatever the file says."""
    crisis_words: tuple[str, ...] = ()
    """Words in the user's message that send every call to an operator."""
    on_missing_confidence: OnMissingConfidence = "deny"
    """What becomes of a call that states no confidence where the tool asks for one."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The table `[chat]`: the model that `toolmd chat` talks with."""

    model: str | None = None
    """As its endpoint names it."""
    base_url: str | None = None
    """Where an OpenAI-compatible API is; OpenRouter's where there is none."""


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """The table `[trace]`: what spans tell of a call."""

    content: bool = False
    """Whether spans contain arguments and results; they never contain Sensitive values."""


@dataclass(frozen=True, slots=True)
class TokenSettings:
    """One bearer token and its user; the token itself is not stored."""

    sha256: str
    """Hex SHA-256 of the token."""
    user: str
    """Who calls with it."""
    context: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values that its requests may name, by fact: `{"patient": ("P-1001",)}`."""


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The table `[serve]`: who may come in over HTTP, and what a connection may take."""

    tokens: tuple[TokenSettings, ...] = ()
    """The tokens that are let in: the `sha256`, `user` and `context` (allowed values by fact) of
    each. With none, each start makes a token of its own."""
    max_connections: int = 512
    """How many connections may be open at one time, and never more than half of the process's
    file descriptors. When they are, the one that has waited longest for its client is closed."""
    head_timeout: int = 10
    """How many seconds the head of a request may take to come, from its first byte on, and a new
    connection to begin."""
    body_timeout: int = 30
    """How many seconds the body of a request may take to come, and an answer to be read."""
    idle_timeout: int = 75
    """How many seconds a connection stays open between two requests."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A project's settings, whole (configuration.md)."""

    root: Path
    """The project's folder, absolute."""
    tools: tuple[str, ...] = DEFAULT_TOOLS
    """Folders of definitions of tools, relative to `root` or absolute."""
    skills: tuple[str, ...] = DEFAULT_SKILLS
    """Folders of definitions of skills, relative to `root` or absolute."""
    state: Path = Path(".toolmd")
    """The folder of Toolmd's state (cache, confirmations, runs, audit), absolute."""
    engine: str = "sqlite"
    """Where runs are kept: `sqlite`, `memory`, or a `postgresql://` URL."""
    safety: SafetySettings = field(default_factory=SafetySettings)
    """The policy of every call, in addition to its file."""
    chat: ChatSettings = field(default_factory=ChatSettings)
    """The model that `toolmd chat` talks with."""
    trace: TraceSettings = field(default_factory=TraceSettings)
    """The content of spans."""
    serve: ServeSettings = field(default_factory=ServeSettings)
    """The tokens of HTTP, and the limits of its connections."""
    audit: bool = True
    """Whether each decision is recorded before its effect."""
    trust_edits: bool = False
    """Whether an edit that drops a restriction is live at once."""
    import_timeout: float = 10.0
    """The seconds that a Python file, a plugin or a hook may take to load."""
    plugins: tuple[str, ...] | None = None
    """The installed plugins that may load, by package or entry-point name; None loads all."""
    file: Path | None = None
    """The file that was read, if any."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """Where each setting that is not a default was found: a file, a variable, or `command line`."""
