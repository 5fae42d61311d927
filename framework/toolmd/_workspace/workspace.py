"""The workspace: a project's definitions, its tools called and its skills run."""

from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from toolmd._model.call import Budget
from toolmd._model.diagnostic import Diagnostic
from toolmd._model.plugin import PluginInfo
from toolmd._model.registry import BoundSkill, BoundTool, Registry
from toolmd._model.result import EventListener, Result
from toolmd._model.settings import Settings
from toolmd._workspace.reloading import Reloading
from toolmd._workspace.replies.turns import Turns
from toolmd.config import load_settings

if TYPE_CHECKING:
    # What only calls tools does not wait for what exports them.
    from toolmd._export.exported import Exported


class Workspace(Turns, Reloading):
    """A project, read: its tools and skills, the one door to them, and what is wrong.

    Everything read lies in one immutable snapshot behind one pointer; `reload` replaces it, and
    calls under way stay on theirs.
    """

    @classmethod
    def open(
        cls,
        folder: str | Path | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        plugins: Mapping[str, object] | None = None,
    ) -> Self:
        """Read the project in `folder`, or the nearest one upward of where you are.

        `overrides` are settings by key, such as `{"safety.floor": 0.5}`. A bad file never
        raises: it is a diagnostic. Raises ConfigError where the settings can't be read.
        """
        workspace = cls(load_settings(folder, overrides=overrides), plugins=plugins)
        root = workspace.settings.root
        workspace._reload_settings = lambda: load_settings(root, overrides=overrides)
        return workspace

    @property
    def settings(self) -> Settings:
        """The project's settings."""
        return self._live.settings

    @property
    def registry(self) -> Registry:
        """The snapshot that calls go to now."""
        return self._live.registry

    @property
    def tools(self) -> Mapping[str, BoundTool]:
        """The tools by name: those without errors in their files."""
        return self._live.registry.tools

    @property
    def skills(self) -> Mapping[str, BoundSkill]:
        """The skills by name: those without errors in their files and in their steps."""
        return self._live.registry.skills

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All there is to say, over files, skills and bindings, in the order of their places.

        The first look imports every implementation, since the markdown is held against it;
        `registry.diagnostics` holds what reading alone has found.
        """
        return (*self._trouble, *self._live.diagnostics)

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """What is known of each plugin; those of the definitions' folders are loaded for it."""
        known = self._live.snapshot.plugins
        known.wake()
        return tuple(known.listed.values())

    def call(  # noqa: PLR0913, PLR0917 - the face of a call; an asterisk would cost a fortieth
        self,
        name: str,
        arguments: Mapping[str, Any] | str | bytes = "{}",
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        dry_run: bool = False,  # noqa: FBT001, FBT002 - see above
        call_id: str | None = None,
        budget: Budget | None = None,
        on_event: EventListener | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Call a tool with an object or its JSON text, through the one door; await the Result.

        `confidence` is 0..1; `message` is what the user said; `user`, `patient` and
        `conversation` (for Max Calls) come from the host, never from a model. What goes wrong is
        in the Result; only cancelling raises.
        """
        # Not a coroutine itself, but the door's: each frame left out is a tenth of a small call.
        # Arguments by place cost a third of those by name.
        door = self._live.door or self._door()
        quick = door.quick.get(name)
        if quick is not None and type(arguments) is str and not (dry_run or budget):
            return quick(arguments, call_id, confidence, message, user, patient, conversation)  # type: ignore[no-any-return]
        taken: Coroutine[Any, Any, Result] = door.call(
            name, arguments, confidence, message, user, patient, conversation, call_id, dry_run,
            budget, on_event,
        )  # fmt: skip
        return taken

    def call_sync(
        self, name: str, arguments: Mapping[str, Any] | str | bytes = "{}", **options: Any
    ) -> Result:
        """Do as `call`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.call(name, arguments, **options))

    def exported(
        self, target: str, names: Sequence[str] = (), *, skills: bool = True
    ) -> "Exported":
        """Give the tools, and the skills that can run, as `target` reads them, and the losses.

        A list and its dicts are the caller's; what lies deeper is shared: copy what you change.
        Raises NotFoundError for a target or a name that is not there.
        """
        from toolmd._workspace.exports import export_from

        return export_from(self._live, target, names, skills=skills)

    def export(self, target: str, names: Sequence[str] = (), *, skills: bool = True) -> Any:
        """Give what `target` reads: a list of functions, a document, or text."""
        return self.exported(target, names, skills=skills).items
