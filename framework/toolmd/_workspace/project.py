"""An open project: its definitions, their diagnostics, and their reloads."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.plugin import PluginInfo
from toolmd._types.registry import BoundSkill, BoundTool, Registry
from toolmd._types.settings import Settings
from toolmd._workspace.background_loop import off_loop
from toolmd._workspace.changes import Changes
from toolmd._workspace.checking import CheckListener
from toolmd._workspace.listeners import ChangeListener
from toolmd._workspace.method_parameters import checked
from toolmd._workspace.opened import OpenProject
from toolmd._workspace.reloading import Reloader, Watched

if TYPE_CHECKING:
    # A program that only calls tools does not wait for what exports them.
    from toolmd._export.exported import Exported


@checked
class ReadProject:
    """The definitions of a project, in one immutable snapshot behind one pointer.

    `open`, `reload` and `close` block; `aopen`, `areload` and `aclose` do not.
    """

    def __init__(self, project: OpenProject) -> None:
        self._project = project
        self._reloader = Reloader(project)
        self.changes = Changes(project, self._reloader)
        """The policy changes that wait for acceptance."""

    def close(self) -> None:
        """Stop the calls of the sync methods, and close the resources."""
        if self._project.end():
            self._project.live.snapshot.resources.retire()
            self._project.ended()

    async def aclose(self) -> None:
        """Same as `close`, for resources that close asynchronously."""
        if await off_loop(self._project.end):
            await self._project.live.snapshot.resources.aretire()
            self._project.ended()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    @property
    def settings(self) -> Settings:
        """The project's settings."""
        return self._project.live.settings

    @property
    def registry(self) -> Registry:
        """The current snapshot, which new calls use."""
        return self._project.live.registry

    @property
    def tools(self) -> Mapping[str, BoundTool]:
        """The tools by name: those without errors in their files."""
        return self._project.live.registry.tools

    @property
    def skills(self) -> Mapping[str, BoundSkill]:
        """The skills by name: those without errors in their files and in their steps."""
        return self._project.live.registry.skills

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of files, skills and bindings, in the order of their places.

        The first access imports the implementations and checks them against the markdown.
        `registry.diagnostics` contains only those of reading the files.
        """
        return self._project.diagnostics

    def diagnostics_of(self, names: Collection[str] | None = None) -> tuple[Diagnostic, ...]:
        """Return what `diagnostics` has, but import the Python of a few definitions only.

        Args:
            names: The tools and skills whose Python is imported and checked; None for all.
        """
        return (*self._project.problem, *self._project.live.look(names))

    def python_at(self, places: Collection[str]) -> Mapping[str, str]:
        """Return the tools and skills whose markdown or Python lies at or within some places.

        Args:
            places: Absolute paths of files and folders.

        Returns:
            The place of the Python by the name of its tool or skill; empty where it has none.
        """
        return self._project.live.python_at(places)

    @property
    def overdue_imports(self) -> tuple[str, ...]:
        """One sentence for each import of the project that exceeded `import_timeout`."""
        live = self._project.live
        late = [d.message for d in live.registry.diagnostics if d.code is Code.IMPORT_TIMEOUT]
        return tuple(dict.fromkeys((*late, *live.snapshot.plugins.imports.overdue)))

    def suspended_tools(self) -> frozenset[str]:
        """Return the tools whose MCP server or service changed since they were accepted.

        Their calls are denied until an operator accepts the change. No server is asked, but the
        store; the calling thread waits. Raises UnreachableError if the store can't be used.
        """
        return self._project.live.suspended_tools()

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """The state of each plugin; access loads the plugins of the definitions' folders."""
        known = self._project.live.snapshot.plugins
        known.wake()
        return tuple(known.listed.values())

    def exported(
        self, target: str, names: Sequence[str] = (), *, skills: bool = True
    ) -> "Exported":
        """Return the tools and runnable skills in the format of `target`, and the losses.

        The list and its dicts belong to the caller; deeper values are shared: copy them first.
        Raises NotFoundError for an unknown target or name.
        """
        from toolmd._workspace.exports import export_from

        return export_from(self._project.live, target, names, skills=skills)

    def export(self, target: str, names: Sequence[str] = (), *, skills: bool = True) -> Any:
        """Return the items of `exported`: a list of functions, a document, or text."""
        return self.exported(target, names, skills=skills).items

    def reload(self) -> Registry:
        """Read the project again and return the new snapshot, or the old one if nothing changed.

        No Python is imported: the next call that needs changed Python imports it. If the settings
        can't be read, the old snapshot stays, with a diagnostic.

        Returns:
            The registry that is live now.
        """
        return self._reloader.reload()

    async def areload(self) -> Registry:
        """Same as `reload`, in a thread, so that the event loop stays free."""
        return await off_loop(self._reloader.reload)

    @property
    def watched(self) -> Watched:
        """The folders and files that a reload reads."""
        return self._reloader.watched

    def on_change(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` with the old and the new registry after each change.

        The thread that made the snapshot calls it, once for each snapshot, in order. Exceptions
        of the listener are logged. Returns a function that stops it.
        """
        return self._project.changes.add(listener)

    def on_checked(self, listener: CheckListener) -> Callable[[], None]:
        """Call `listener` with all diagnostics after each change; return a function that stops it.

        The call comes from a thread of its own, when the changed Python has been imported.
        """
        return self._reloader.checker.listeners.add(listener)

    def check_soon(self) -> None:
        """Collect all diagnostics in a separate thread, and call the `on_checked` listeners."""
        self._reloader.checker.check_soon()
