"""The settings of a project; the type of each says how `config.values` reads it.

They are named tuples, for each process makes these classes, and a dataclass takes five times as
long to make.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

DEFAULT_TOOLS = ("tools_md",)
DEFAULT_SKILLS = ("skills_md",)
NOTHING: Mapping[Any, Any] = MappingProxyType({})
"""The default of values by name."""


class Bounds(NamedTuple):
    """The least and the most of a number in the settings."""

    least: float
    most: float
    unit: str = ""
    above: bool = False
    """Whether the number is more than `least`."""


OnMissingConfidence = Literal["deny", "confirm"]
Right = Literal["call", "decide", "operate", "act_as"]
"""What a token may do: `call` tools and run skills, `decide` for its own user, `operate`, or
`act_as` other users."""
FactType = Literal["string", "number", "boolean", "list"]
"""The type of a fact about the caller."""
Algorithm = Literal[
    "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "EdDSA"
]
"""Signatures by a private key; a shared secret would let each reader sign."""
Fact = Annotated[str, "fact"]
Name = Annotated[str, "name"]
Share = Annotated[float | None, Bounds(0, 1)]
Seconds = Annotated[float, Bounds(0, 3600, "seconds", above=True)]
Count = Annotated[int, Bounds(1, 1_000_000)]


class SafetySettings(NamedTuple):
    """The table `[safety]`; an unset key restricts nothing."""

    default_min: Share = None
    """The minimum confidence (0..1) of a tool if its file has no Min Confidence."""
    floor: Share = None
    """The confidence (0..1) below which every call is denied. No file can lower it."""
    crisis_words: tuple[str, ...] = ()
    """Words that show a crisis. If the user's message has one, a person reviews every call that is
    not Read Only."""
    crisis_message: str = ""
    """The text in each result during a crisis, such as a telephone number."""
    on_missing_confidence: OnMissingConfidence = "deny"
    """The action for a call without a confidence if the tool requires one."""


class ChatSettings(NamedTuple):
    """The table `[chat]`: the model of `toolmd chat`."""

    model: str | None = None
    """The name of the model at the endpoint."""
    base_url: Annotated[str | None, "web"] = None
    """The URL of an OpenAI-compatible API. If unset, Toolmd uses OpenRouter."""


class AuditSettings(NamedTuple):
    """The table `[audit]`: the records of decisions; `audit = false` turns them off."""

    enabled: bool = True
    """Whether each decision is recorded before it takes effect."""
    sync: Literal["none", "batch"] = "none"
    """With `batch`, each call waits until its record is on the disk. With `none`, a power cut may
    remove the newest records, but the end of the process removes no record."""
    keep_days: Annotated[float | None, Bounds(0, 1_000_000, "days", above=True)] = None
    """The days from the last record of an audit file until the file is deleted. If unset, all files
    are kept."""


class ResultSettings(NamedTuple):
    """The table `[results]`: what models read of results."""

    max_bytes: Annotated[int, Bounds(1024, 1_000_000, "bytes")] = 32 << 10
    """The most bytes of a result that a model reads, from 1,024 to 1,000,000. If a tool's Max Bytes
    is higher, it applies instead, up to 256 KiB. The model reads the rest with `read_result`."""


class ActAsSettings(NamedTuple):
    """What a token with the right `act_as` may state about the users that it acts for."""

    roles: tuple[str, ...] = ()
    """The roles."""
    context: tuple[str, ...] = ()
    """The names of facts."""


class TokenSettings(NamedTuple):
    """One bearer token, as its hash, and the user it belongs to."""

    sha256: Annotated[str, "sha256"]
    """Hex SHA-256 of the token."""
    user: str
    """The user of calls with this token."""
    may: Annotated[tuple[Right, ...], "several"] = ("call",)
    """The rights. `call`: call tools, handle replies, run skills. `decide`: approve, edit, reject
    or answer this user's own pending calls, and give the Approvals of this user's roles. `operate`:
    reviews and runs of others, policy changes, audit and diagnostics. `act_as`: call for the users
    that its requests name, for the backend of an app. A model's host gets `call` only."""
    context: Mapping[Fact, tuple[str, ...]] = NOTHING
    """The allowed values of each fact: `{"patient": ("P-1001",)}`; the only one is the default."""
    roles: tuple[str, ...] = ()
    """The roles of the user, for Allowed Roles, Approval, rules and guards."""
    act_as: ActAsSettings = ActAsSettings()
    """What a token that may `act_as` others states about them."""


class ServeSettings(NamedTuple):
    """The table `[serve]`: HTTP tokens and connection limits; timeouts are in seconds."""

    tokens: Annotated[tuple[TokenSettings, ...], "tokens"] = ()
    """The accepted tokens. Each has `sha256`, `user`, `may` (`call`, `decide`, `operate`) and
    `context` (the allowed values of each fact). If there are none, each start creates a token."""
    max_connections: Count = 512
    """The most connections that may be open. A further connection gets the status 503."""
    head_timeout: Count = 10
    """The time limit for the first byte of a new connection, and then for the head of a request."""
    body_timeout: Count = 30
    """The time limit for receiving the body of a request, and for sending a response."""
    idle_timeout: Count = 75
    """The time that a connection stays open between two requests."""
    drain_timeout: Seconds = 30.0
    """The time that calls and runs have to end after a signal. It also applies to
    `toolmd worker`."""
    require_accepted: bool = False
    """If true, an edit that waits for acceptance keeps `serve` from starting, and `/ready` returns
    503."""


class IssuerSettings(NamedTuple):
    """A table `[[identity.issuers]]`: an identity service whose JWTs name the caller.

    `user`, `roles`, `rights` and the values of `context` are expressions over `claims`.
    """

    issuer: Annotated[str, "safe"]
    """Its exact name, the claim `iss`: an https URL."""
    audience: Annotated[tuple[str, ...], "one or several"]
    """The names of this server, one of which the claim `aud` must have."""
    name: Name = ""
    """A short name; with several issuers each user is `NAME:USER`."""
    algorithms: Annotated[tuple[Algorithm, ...], "several"] = ("RS256", "ES256")
    """The accepted signatures."""
    jwks: Annotated[str, "safe"] = ""
    """The URL of its public keys; by default its metadata names it."""
    key: str = ""
    """A file with its public key (PEM), relative to the project, in place of a URL."""
    user: str = "claims.sub"
    """The user, a text."""
    roles: str = "[]"
    """The roles, a list of texts. A guard reads them as `call.caller.roles`."""
    rights: str = "['call']"
    """The rights, a list of `call`, `decide` and `operate`."""
    context: Mapping[Fact, str] = NOTHING
    """The facts by name, each a text; one whose claim is absent, null or empty is absent."""


class IdentitySettings(NamedTuple):
    """The table `[identity]`: who calls."""

    issuers: Annotated[tuple[IssuerSettings, ...], "issuers"] = ()
    """The identity services whose JWTs are accepted."""
    facts: Mapping[Fact, FactType] = NOTHING
    """The facts about a caller that expressions may read. The type of each is `string`, `number`,
    `boolean` or `list` (of texts). A fact that only an issuer or a token names is a string."""
    roles: tuple[str, ...] = ()
    """The roles that a file may name. If there are none, a file may name any role."""


class Credential(NamedTuple):
    """One entry of `auth`; its values are only names of environment variables."""

    kind: Literal["bearer", "basic", "header", "query", "cookie"]
    variables: tuple[str, ...]
    """The environment variables: of the token or the value; for `basic`, of user and password."""
    name: str = ""
    """The name of the header, the query key or the cookie."""


class ServiceSettings(NamedTuple):
    """The table `[services.NAME]`: a web service that `Implemented By: http …` calls."""

    url: Annotated[str, "url"]
    """The base URL, which the path of each operation follows."""
    headers: Annotated[Mapping[str, str], "headers"] = NOTHING
    """Headers of every request; `$NAME` or `${NAME}` in a value is that environment variable."""
    auth: Annotated[tuple[Credential, ...], "auth"] = ()
    """The credentials of every request."""
    timeout: Seconds = 30.0
    """The most seconds that a request takes; the Timeout of the tool's file ends it earlier."""
    document: str = ""
    """The path or URL of its OpenAPI document, which `toolmd servers NAME` compares with the
    accepted one; empty for none."""


class ServerSettings(NamedTuple):
    """The table `[servers.NAME]`: an MCP server that `Implemented By: mcp …` calls."""

    command: Annotated[tuple[str, ...], "command"] = ()
    """The program and its arguments, for a server that Toolmd starts; empty for one with a `url`.
    It runs in the project's folder."""
    url: Annotated[str, "url"] = ""
    """The URL of a server that runs already; empty for one with a `command`."""
    env: Annotated[Mapping[str, str], "env"] = NOTHING
    """All environment variables of the process; `$NAME` or `${NAME}` in a value is that variable
    of Toolmd's own environment, and `$TOOLMD_USER` the user who calls."""
    headers: Annotated[Mapping[str, str], "headers"] = NOTHING
    """Headers of every request, with variables as in `env`."""
    shared: bool = False
    """Whether all users share one session; otherwise each user has one."""
    start_timeout: Seconds = 30.0
    """The most seconds that starting and listing the tools take."""


class CheckSettings(NamedTuple):
    """The table `[check]`: what `toolmd check` reports."""

    ignore: Annotated[tuple[str, ...], "codes"] = ()
    """The warnings and hints to leave out. Write a code, such as `array-without-items`, or a code
    and the name of a tool or skill, such as `array-without-items:search`. Errors and weaker
    policies are always reported."""


class ConfirmationSettings(NamedTuple):
    """The table `[confirmations]`: the calls that wait for a person."""

    expires: Annotated[float, Bounds(0, 30 * 86400, "seconds", above=True)] = 600.0
    """The seconds that a call waits for its caller's yes. An Approval has its own Expires."""


class Settings(NamedTuple):
    """All settings of a project (configuration.md)."""

    root: Path
    """The project's folder, absolute."""
    tools: tuple[str, ...] = DEFAULT_TOOLS
    """The folders with tool definitions, absolute or relative to the project's folder."""
    skills: tuple[str, ...] = DEFAULT_SKILLS
    """The folders with skill definitions, absolute or relative to the project's folder."""
    state: Annotated[Path, "folder"] = Path(".toolmd")
    """The folder of Toolmd's own data: the cache, confirmations, runs and the audit."""
    store: Annotated[str, "store"] = "sqlite"
    """The place of runs, confirmations, limits, keys and accepted changes. Write `sqlite`, `memory`
    or a `postgresql://` URL."""
    safety: SafetySettings = SafetySettings()
    """Safety settings that apply to every call."""
    chat: ChatSettings = ChatSettings()
    """The model of `toolmd chat`."""
    serve: ServeSettings = ServeSettings()
    """HTTP tokens and connection limits."""
    check: CheckSettings = CheckSettings()
    """What `toolmd check` reports."""
    confirmations: ConfirmationSettings = ConfirmationSettings()
    """The calls that wait for a person."""
    results: ResultSettings = ResultSettings()
    """What models read of results."""
    audit: AuditSettings = AuditSettings()
    """The records of decisions."""
    services: Mapping[Name, ServiceSettings] = NOTHING
    """The web services. Each has a table `[services.NAME]` with `url`, `headers`, `auth`, `timeout`
    and `document` (`docs/how-to/call-a-web-service.md`)."""
    identity: IdentitySettings = IdentitySettings()
    """Who calls: the identity services."""
    servers: Mapping[Name, ServerSettings] = NOTHING
    """The MCP servers. Each has a table `[servers.NAME]` with `command` and `env`, or `url` and
    `headers` (`docs/how-to/guard-an-mcp-server.md`)."""
    time_zone: Annotated[str, "zone"] = ""
    """The time zone in which days, weeks, months and years begin, such as `Europe/Berlin`."""
    trust_edits: bool = False
    """Whether an edit that drops a restriction is live immediately."""
    import_timeout: Seconds = 10.0
    """The time limit in seconds for loading a Python file, a plugin or a hook."""
    plugins: tuple[str, ...] | None = None
    """The names of the packages or entry points of the plugins that may load. If unset, all
    installed plugins load."""
    file: Path | None = None
    """The file that was read, if any."""
    origin: Mapping[str, str] = NOTHING
    """The source of each setting that is not a default: a file, a variable, or `command line`."""
