"""A snapshot of all tools and skills; it is replaced, never changed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast

from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.pending_change import PendingChange

if TYPE_CHECKING:
    # Made with pydantic, which the first call of a process need not wait for.
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec

Mode = Literal["async", "sync", "inline", "stream"]
"""How a function is run: awaited, in a worker thread, in the loop, or as an async generator."""


class Implementation(NamedTuple):
    """The Python behind a tool or a skill, and how arguments reach its parameters."""

    target: str
    """`tools_md/appointment/book_appointment.py:book_appointment`."""
    hash: str
    """Hex sha256 over the bytes of its module and of the modules that it imports."""
    function: Callable[..., Any]
    mode: Mode
    names: Mapping[str, str] = MappingProxyType({})
    """The document's name of a parameter to Python's, where they differ (camelCase)."""
    converters: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})
    """The document's name of a parameter to what makes the annotated type of JSON."""
    context: str | None = None
    """The keyword that takes the Context."""
    resources: Mapping[str, type] = MappingProxyType({})
    """Keywords that take a resource, by the type that is asked for."""
    keeps: Any = None
    """What must live as long as the function may run: the modules of its snapshot."""


class Binding(NamedTuple):
    """Where an implementation is; loaded on first use."""

    kind: Literal["sibling", "entry_point", "none"]
    target: str = ""
    load: Callable[[], Implementation] | None = None
    """Returns the implementation, or raises ImplementationError with the reason."""
    inspect: Callable[[], tuple[Diagnostic, ...]] | None = None
    """Imports the Python and returns all diagnostics of it and the markdown; never raises."""
    ready: Callable[[], bool] | None = None
    """Returns whether it is loaded and fits; loads nothing."""
    start: Callable[[float], bool] | None = None
    """Starts to load and waits at most this many seconds; returns whether it is done."""


NOT_IMPLEMENTED = Binding("none")


class LateBinding(NamedTuple):
    """A binding that only running a plugin decides; decided when it is first asked for."""

    target: str
    decide: Callable[[], Binding]
    """Asks the plugins; never raises."""


Spec = TypeVar("Spec", "ToolSpec", "SkillSpec")
AnySpec: TypeAlias = "ToolSpec | SkillSpec"
"""The spec of either kind, for annotations that must not import pydantic."""
ToolSpecs: TypeAlias = "Mapping[str, ToolSpec]"
SkillSpecs: TypeAlias = "Mapping[str, SkillSpec]"


class Bound(Generic[Spec]):
    """A spec and its Python; the spec may be decoded on first use.

    `diagnostics` are those of its file. `stale` tells that the file is broken now and this is its
    last good version. `default_min` is what its plugin package asks for (confidence, 0..1).
    """

    __slots__ = (
        "_binding",
        "_decode",
        "_hash",
        "_read",
        "_spec",
        "default_min",
        "diagnostics",
        "name",
        "stale",
        "target",
    )

    def __init__(  # noqa: PLR0913 - what is known of a definition, by keyword
        self,
        name: str,
        spec: Spec | Callable[[], Spec],
        binding: Binding | LateBinding = NOT_IMPLEMENTED,
        *,
        call_spec: Callable[[], CallSpec] | None = None,
        content_hash: Callable[[], str] | None = None,
        diagnostics: tuple[Diagnostic, ...] = (),
        stale: bool = False,
        default_min: float | None = None,
    ) -> None:
        """`call_spec` and `content_hash` give those of a spec which is not decoded."""
        self.name = name
        self.bind(binding)
        self.diagnostics = diagnostics
        self.stale = stale
        self.default_min = default_min
        self._decode: Callable[[], Spec] | None = spec if callable(spec) else None
        self._spec: Spec | None = None if callable(spec) else spec
        self._read = call_spec
        self._hash: Callable[[], str] | str | None = content_hash

    def bind(self, binding: Binding | LateBinding) -> None:
        """Put another binding in the place of the one that it has."""
        self._binding = binding
        self.target = binding.target
        """Where its Python is, as far as reading the project tells; runs none of its code."""

    @property
    def late(self) -> LateBinding | None:
        """The binding, where nobody asked for it yet and only running a plugin decides it."""
        return self._binding if isinstance(self._binding, LateBinding) else None

    @property
    def binding(self) -> Binding:
        """Where its Python is; the first look may run the plugin of its folder."""
        if isinstance(self._binding, LateBinding):
            # Two threads may both ask: the plugins give the same answer twice.
            self._binding = self._binding.decide()
        return self._binding

    @property
    def ready(self) -> bool:
        """Whether its Python is loaded and fits; loads nothing."""
        binding = self._binding
        return isinstance(binding, Binding) and binding.ready is not None and binding.ready()

    @property
    def spec(self) -> Spec:
        """What the file says."""
        # Two threads may both decode: the specs are equal, and either will do.
        if self._spec is None and (decode := self._decode) is not None:
            self._spec = decode()
            self._decode = None
        assert self._spec is not None
        return self._spec

    @property
    def call_spec(self: "BoundTool") -> ToolCallSpec:
        """The part of the spec that calls need."""
        return self.spec if self._read is None else cast("ToolCallSpec", self._read())

    @property
    def hash(self) -> str:
        """The hash of the file's content; computed on first use."""
        if not isinstance(self._hash, str):
            told = self._spec is None and self._hash
            self._hash = told() if told else self.spec.hash
        return self._hash


class Specs(Mapping[str, Spec], Generic[Spec]):
    """The specs of bound definitions, decoded one by one as they are looked at."""

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
    """One immutable snapshot; a change makes a new one."""

    tools: Mapping[str, BoundTool] = field(default_factory=dict)
    """By name, those without errors."""
    skills: Mapping[str, BoundSkill] = field(default_factory=dict)
    """By name, those without errors in file and steps."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """The diagnostics of reading the files."""
    pending_changes: tuple[PendingChange, ...] = ()
    """The policy changes that wait for acceptance."""
