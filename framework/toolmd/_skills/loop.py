"""Run a step for each item of a list: in order, a few at once, within a limit."""

import asyncio
from typing import Any

from toolmd._skills.action import StepActions
from toolmd._skills.choose import chosen
from toolmd._skills.frame import DeclinedError, End, Frame, Go, ItemError, StepError
from toolmd._skills.journal import CancelledRunError, ParkedError
from toolmd._skills.jump import failure, rejection
from toolmd._skills.wait import waited
from toolmd._types.skill import Step

MAX_ITEMS = 1000
MAX_AT_ONCE = 32
_LEFT_OUT = object()


async def each(frame: Frame, step: Step, actions: StepActions) -> list[Any] | Go | End:
    """Return the results in the items' order, or the jump of an item.

    Items that fail or are declined and continue are left out. When an item jumps, or the run is
    cancelled, items that began finish and no other begins; the first one in order decides.
    Raises ItemError where that one failed or was declined.
    """
    items = await _items(frame, step)
    loop = _Loop(frame, step, actions, items)
    await loop.run()
    return loop.result()


async def _items(frame: Frame, step: Step) -> list[Any]:
    loop = step.for_each
    assert loop is not None

    async def over() -> Any:
        return frame.evaluate(loop.over)

    items = await frame.perform(f"{frame.key(step)}:items", over)
    if not isinstance(items, list):
        raise StepError("expression_failed", f"`{loop.over.cel}` is no list")
    if len(items) > MAX_ITEMS:
        message = f"`{loop.over.cel}` has {len(items)} items; at most {MAX_ITEMS} are gone through"
        raise StepError("too_many_items", message)
    return items


class _Loop:
    def __init__(self, frame: Frame, step: Step, actions: StepActions, items: list[Any]) -> None:
        self._frame = frame
        self._step = step
        self._actions = actions
        self._items = items
        self._next = 0
        self._results: dict[int, Any] = {}
        self._failed: set[int] = set()
        self._undos: dict[int, list[Any]] = {}
        self._parked: list[ParkedError] = []
        self._cancelled = False
        self._halted = False

    async def run(self) -> None:
        assert self._step.for_each is not None
        workers = min(max(self._step.for_each.at_once, 1), MAX_AT_ONCE, max(len(self._items), 1))
        tasks = [asyncio.ensure_future(self._worker()) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            # An engine error ends the run here, so no item may continue in the background.
            for task in tasks:
                task.cancel()
        for index in sorted(self._undos):
            self._frame.undos.extend(self._undos[index])
        if self._cancelled:
            raise CancelledRunError
        if self._parked and not self._halted:
            raise ParkedError(*(q for parked in self._parked for q in parked.questions))

    def result(self) -> list[Any] | Go | End:
        ordered = sorted(self._results.items())
        for index, value in ordered:
            if isinstance(value, (Go, End)):
                if index in self._failed:
                    raise ItemError(value, self._frame.key(self._step, index))
                return value
        return [value for _, value in ordered if value is not _LEFT_OUT]

    async def _worker(self) -> None:
        while self._next < len(self._items):
            index = self._next
            self._next += 1
            if (self._halted or self._cancelled) and not self._has_begun(index):
                continue
            try:
                self._results[index] = value = await self._item(index)
            except ParkedError as parked:
                # A parked item occupies its worker: with At Once 1 the next must not begin first.
                self._parked.append(parked)
                return
            except CancelledRunError:
                self._cancelled = True
                continue
            if isinstance(value, (Go, End)):
                self._halted = True

    def _has_begun(self, index: int) -> bool:
        """Return whether an earlier attempt began an item, whose effect may have to be undone."""
        return self._frame.journal.begun(self._frame.key(self._step, index))

    async def _item(self, index: int) -> Any:
        step = self._step
        assert step.for_each is not None
        frame = self._frame.within({step.for_each.name: self._items[index]})
        try:
            if step.wait is not None:
                await waited(frame, step, index)
            if step.use is not None:
                return await self._actions.use(frame, step, index)
            if step.choose is not None:
                return await chosen(frame, step, index)
            return await self._actions.ask(frame, step, index)
        except DeclinedError as declined:
            jump = rejection(frame, step, declined, index)
        except StepError as error:
            frame.tell("failed", step, error.message, index)
            jump = failure(frame, step, error, index)
        finally:
            self._undos[index] = frame.undos
        self._failed.add(index)
        return _LEFT_OUT if jump is None else jump
