"""Who may be asked, and who may look on, while a workspace works."""

import datetime as dt
from collections.abc import Awaitable, Callable

from toolmark._model.result import Event
from toolmark._model.run import Answer, Question, RunEvent

Reply = Answer | bool | None
Asker = Callable[[Question], Reply | Awaitable[Reply]]
"""Asks a person: an Answer, plain yes or no, or None where nobody is at hand."""
Watcher = Callable[[RunEvent], None]
"""Hears of each step of a run."""
Listener = Callable[[Event], Awaitable[None] | None]
"""Hears the events of one running call."""
Clock = Callable[[], dt.datetime]
"""Gives the time, with its zone."""
