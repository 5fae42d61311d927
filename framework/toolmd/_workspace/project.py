"""A project, read: its definitions, what is wrong with them, and how they follow their files."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.plugin import PluginInfo
from toolmd._types.registry import BoundSkill, BoundTool, Registry
from toolmd._types.settings import Settings
from toolmd._workspace.arguments import checked
from toolmd._workspace.background_loop import off_loop
from toolmd._workspace.changes import Changes
from toolmd._workspace.checking import CheckListener
from toolmd._workspace.listeners import ChangeListener
from toolmd._workspace.opened import OpenProject
from toolmd._workspace.reloading import Reloader, Watched

if TYPE_CHECKING:
    # A program that only calls tools does not wait for what exports them.
    from toolmd._export.exported import Exported


@checked
class ReadProject:
    """The definitions of a project, in one immutable snapshot behind one pointer.

    What opens, reloads and closes blocks; `aopen`, `areload` and `aclose` do not.
    """

    def __init__(self, project: OpenProject) -> None:
        self._project = project
        self._reloader = Reloader(project)
        self.changes = Changes(project, self._reloader)
        """The policy changes that wait for somebody to accept them."""

    def close(self) -> None:
        """End what is under way in the sync twins, and close the resources."""
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
        """The snapshot that calls go to now."""
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
        """All there is to say, over files, skills and bindings, in the order of their places.

        The first look imports every implementation, since the markdown is held against it;
        `registry.diagnostics` holds what reading alone has found.
        """
        return self._project.diagnostics

    @property
    def overdue_imports(self) -> tuple[str, ...]:
        """What of the project's Python is past `import_timeout`, in a sentence each."""
        live = self._project.live
        late = [d.message for d in live.registry.diagnostics if d.code is Code.IMPORT_TIMEOUT]
        return tuple(dict.fromkeys((*late, *live.snapshot.plugins.imports.overdue)))

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """What is known of each plugin; those of the definitions' folders are loaded for it."""
        known = self._project.live.snapshot.plugins
        known.wake()
        return tuple(known.listed.values())

    def exported(
        self, target: str, names: Sequence[str] = (), *, skills: bool = True
    ) -> "Exported":
        """Return the tools, and the skills that can run, as `target` reads them, and the losses.

        A list and its dicts are the caller's; what lies deeper is shared: copy what you change.
        Raises NotFoundError for a target or a name that is not there.
        """
        from toolmd._workspace.exports import export_from

        return export_from(self._project.live, target, names, skills=skills)

    def export(self, target: str, names: Sequence[str] = (), *, skills: bool = True) -> Any:
        """Return what `target` reads: a list of functions, a document, or text."""
        return self.exported(target, names, skills=skills).items

    def reload(self, *, wait: bool = True) -> Registry:
        """Read the project again and give the new snapshot, or the old one where nothing changed.

        Markdown is live at once. Python that was in use and changed is imported first; where that
        takes more than a second, the Python of before runs on until it is done, and `wait` tells
        whether to wait for that, at most `import_timeout` for each file.
        Where the settings can't be read any more, the old snapshot stays, with a diagnostic.
        """
        return self._reloader.reload(wait=wait)

    async def areload(self, *, wait: bool = True) -> Registry:
        """Same as `reload`, in a thread, so that the event loop stays free."""
        return await off_loop(self._reloader.reload, wait=wait)

    @property
    def watched(self) -> Watched:
        """What a reload reads."""
        return self._reloader.watched

    def on_change(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` with the old and the new registry after each change.

        It is called once for each new snapshot, in their order, by the thread that made it. What
        it raises is logged. Gives what ends it.
        """
        return self._project.changes.add(listener)

    def on_checked(self, listener: CheckListener) -> Callable[[], None]:
        """Call `listener` with all diagnostics after each change; return a function that stops it.

        The call comes from a thread of its own, when the changed Python has been imported.
        """
        return self._reloader.checker.listeners.add(listener)

    def check_soon(self) -> None:
        """Collect all diagnostics in a thread of its own, for those of `on_checked`."""
        self._reloader.checker.check_soon()
