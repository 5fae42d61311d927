"""An immutable snapshot of all tools and skills; a change makes a new one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
)

from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.code import CONSEQUENCES
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.pending_change import PendingChange

if TYPE_CHECKING:
    # They need pydantic, and a process's first call should not wait for its import.
    from toolmd._types.asked import Asked
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec


READ_RESULT = "read_result"
"""The tool by which a model reads the rest of a result; no definition has its name."""
Mode = Literal["async", "sync", "inline", "stream"]
"""The way a function runs: awaited, in a worker thread, in the loop, or as an async generator."""


class Implementation(NamedTuple):
    """The Python function of a tool or a skill, and the mapping of its arguments."""

    target: str
    """`tools_md/appointment/book_appointment.py:book_appointment`, or `http GET shop:/pets`."""
    hash: str
    """Hex sha256 of the project's Python, and of the package in which the function begins."""
    function: Callable[..., Any]
    mode: Mode
    names: Mapping[str, str] = MappingProxyType({})
    """The Python name of each parameter whose name in the document differs (camelCase)."""
    converters: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})
    """By the document's name of a parameter, the function from JSON to its annotated type."""
    context: str | None = None
    """The keyword of the Context."""
    resources: Mapping[str, type] = MappingProxyType({})
    """The keywords of resources, each with the resource's type."""
    keeps: Any = None
    """Keeps the modules of its snapshot alive as long as the function may run."""
    may_answer: Callable[["Asked"], bool] | None = None
    """Returns whether this process can answer a question of the tool's server."""


class Binding(NamedTuple):
    """The place of an implementation, which is loaded on first use."""

    kind: Literal["sibling", "entry_point", "remote", "none"]
    target: str = ""
    load: Callable[[], Implementation] | None = None
    """Returns the implementation, or raises ImplementationError."""
    inspect: Callable[[], tuple[Diagnostic, ...]] | None = None
    """Imports the Python and returns all diagnostics of it and the markdown; never raises."""
    ready: Callable[[], bool] | None = None
    """Returns whether it is loaded and matches its definition; loads nothing."""
    start: Callable[[float], bool] | None = None
    """Starts loading and waits at most that many seconds; returns whether loading has ended."""


NOT_IMPLEMENTED = Binding("none")


class Gateway(Protocol):
    """What calls the tools of other programs, for one snapshot of a project."""

    def bind(self, named_by: str, call_spec: Callable[[], CallSpec]) -> Binding | None:
        """Return the binding of what Implemented By names; None for a name of something else."""

    def suspended(self, named_by: Mapping[str, str]) -> Iterable[str]:
        """Return the tools that changed since they were accepted, of the names by tool; it blocks.

        No other program is asked, but the store.
        """

    def close(self) -> None:
        """End what still runs for the project; it blocks."""


class LateBinding(NamedTuple):
    """A binding that a plugin must resolve; it is resolved on first use."""

    target: str
    decide: Callable[[], Binding]
    """Calls the plugins; never raises."""


Spec = TypeVar("Spec", "ToolSpec", "SkillSpec")
AnySpec: TypeAlias = "ToolSpec | SkillSpec"
"""The spec of a tool or a skill; naming this type does not import pydantic."""
ToolSpecs: TypeAlias = "Mapping[str, ToolSpec]"
SkillSpecs: TypeAlias = "Mapping[str, SkillSpec]"


@dataclass(slots=True, eq=False)
class Bound(Generic[Spec]):
    """A spec and its Python; the spec may be decoded on first use."""

    name: str
    """The name of the definition."""
    known: Spec | Callable[[], Spec]
    """The spec, or the function that decodes it."""
    bound_to: Binding | LateBinding = NOT_IMPLEMENTED
    """The place of its Python, or the plugin's question where that is."""
    _: KW_ONLY
    call_part: Callable[[], CallSpec] | None = None
    """Returns what a call is checked against, for a spec that is not decoded yet."""
    content_hash: Callable[[], str] | str | None = None
    """Returns the hash of a spec that is not decoded yet, and is the hash once it is known."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """The diagnostics of its file."""
    stale: bool = False
    """Whether the file is broken, and this is its last good version."""
    default_min: float | None = None
    """The minimum confidence (0..1) that its plugin package sets."""
    crisis_words: tuple[str, ...] = ()
    """The crisis words of its plugin package."""
    hooked: tuple[str, ...] = ()
    """The modules of its folder that may have guards."""

    @property
    def target(self) -> str:
        """The place of its Python as far as it is known without running any code."""
        return self.bound_to.target

    @property
    def late(self) -> LateBinding | None:
        """The binding, if a plugin must resolve it and has not yet done so."""
        return self.bound_to if isinstance(self.bound_to, LateBinding) else None

    @property
    def binding(self) -> Binding:
        """The place of its Python; the first access may run the plugin of its folder."""
        if isinstance(self.bound_to, LateBinding):
            # Two threads may both resolve it: the plugins return the same answer twice.
            self.bound_to = self.bound_to.decide()
        return self.bound_to

    @property
    def ready(self) -> bool:
        """Whether its Python is loaded and matches the definition; loads nothing."""
        binding = self.bound_to
        return isinstance(binding, Binding) and binding.ready is not None and binding.ready()

    @property
    def spec(self) -> Spec:
        """The content of the file."""
        # Two threads may both decode: the specs are equal, so either one is correct.
        if callable(known := self.known):
            self.known = known = known()
        return known

    @property
    def call_spec(self: "BoundTool") -> ToolCallSpec:
        """The part of the spec that a call is checked against."""
        return self.spec if self.call_part is None else cast("ToolCallSpec", self.call_part())

    @property
    def hash(self) -> str:
        """The content hash of the file, computed on first access."""
        if not isinstance(self.content_hash, str):
            read = self.content_hash if callable(self.known) else None
            self.content_hash = read() if read else self.spec.hash
        return self.content_hash


class Specs(Mapping[str, Spec], Generic[Spec]):
    """The specs of bound definitions, each decoded on first access."""

    def __init__(self, bound: Mapping[str, Bound[Spec]]) -> None:
        self._bound: Mapping[str, Bound[Spec]] = bound

    def __getitem__(self, name: str) -> Spec:
        return self._bound[name].spec

    def __contains__(self, name: object) -> bool:
        return name in self._bound

    def __iter__(self) -> Iterator[str]:
        return iter(self._bound)

    def __len__(self) -> int:
        return len(self._bound)


BoundTool = Bound["ToolSpec"]
BoundSkill = Bound["SkillSpec"]


@dataclass(frozen=True, slots=True)
class Registry:
    """An immutable snapshot of all tools and skills; a change makes a new one."""

    tools: Mapping[str, BoundTool] = field(default_factory=dict)
    """The tools without errors, by name."""
    skills: Mapping[str, BoundSkill] = field(default_factory=dict)
    """The skills without errors in file and steps, by name."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """The diagnostics of all files."""
    pending_changes: tuple[PendingChange, ...] = ()
    """The policy changes that weaken and wait for `toolmd accept`."""

    def error_of(self, name: str) -> str | None:
        """Return the first error of the file that is named after a tool; None if it has none."""
        file = f"{name}.tool.md"
        for one in self.diagnostics:
            at = one.span.path.rpartition("/")[2].replace("-", "_")
            if at == file and one.severity is Severity.ERROR and one.code not in CONSEQUENCES:
                return f"{one.span.path}:{one.span.line}: {one.message}"
        return None


class PluginInfo(NamedTuple):
    """A plugin's name, and the result of loading it."""

    name: str
    package: str | None = None
    """The installed package; None for the plugin of a folder of definitions."""
    version: str | None = None
    state: Literal["loaded", "asleep", "broken"] = "loaded"
    """A folder's plugin is asleep until Toolmd calls a hook that it may implement."""
    about: str = ""
    """The first line of its docstring, or why it is broken."""
