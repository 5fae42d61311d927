"""Keep the sessions of a process in one event loop of their own, for the calls of all others."""

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from toolmd._gateway import NotStartedError
from toolmd._gateway.session import Running, Session, in_loop
from toolmd._types.settings import ServerSettings

IDLE_S = 600.0
"""How long a session without calls stays open."""
MOST_SESSIONS = 32
"""The most sessions of one server in a process; idle ones are closed first."""
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_CLOSE_S = 10.0


class Key(NamedTuple):
    """What has a session of its own."""

    folder: Path
    name: str
    table: str
    """The table of the server, as text: an edit of it opens another session."""
    user: str | None


class _Failures(NamedTuple):
    times: int
    until: float
    reason: str


class Pool:
    """All sessions of this process, for calls in any event loop."""

    def __init__(self) -> None:
        self._sessions: dict[Key, Session] = {}
        self._opening: dict[Key, asyncio.Task[Session]] = {}
        """The sessions that are being opened; a start goes on when its caller gives up."""
        self._starting: set[Key] = set()
        """Those of them that have a place among the server's sessions."""
        self._failures: dict[Key, _Failures] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()

    async def session(
        self, key: Key, server: ServerSettings, may_start: Callable[[], bool]
    ) -> Session:
        """Return the session of a key; raises NotStartedError.

        It is opened if need be, and if `may_start` returns True then.
        """
        loop, session = self._started(), self._sessions.get(key)
        if session is None or not session.is_open:
            session = await in_loop(loop, self._ready(key, server, may_start))
        return session

    def parked(self, name: str) -> tuple[Session, Running] | None:
        """Return the call that waits in this process for the answer to its server's question."""
        for session in list(self._sessions.values()) if self._process == os.getpid() else ():
            running = session.running.get(name)
            if running is not None and running.is_asking:
                return session, running
        return None

    def close(self, folder: Path | None = None) -> None:
        """Close the sessions of a project, or all; blocks until their processes have ended."""
        if self._loop is None or self._process != os.getpid():
            return
        closing = self._close_all(folder)
        asyncio.run_coroutine_threadsafe(closing, self._loop).result(_CLOSE_S)

    def _started(self) -> asyncio.AbstractEventLoop:
        """Return the sessions' loop, in a thread of its own."""
        if self._loop is not None and self._process == os.getpid():
            return self._loop
        with self._lock:
            if self._process != os.getpid():
                # A forked child has neither the thread nor the pipes of its parent.
                self.__init__()  # type: ignore[misc]
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="toolmd-mcp", daemon=True
                ).start()
                atexit.register(self._at_exit)
            return self._loop

    def _at_exit(self) -> None:
        # A server that is not reached here ends when its stdin closes.
        with suppress(Exception):
            self.close()

    async def _ready(
        self, key: Key, server: ServerSettings, may_start: Callable[[], bool]
    ) -> Session:
        session, opening = self._sessions.get(key), self._opening.get(key)
        if session is not None and session.is_open:
            return session
        if opening is None:
            if not may_start():
                raise NotStartedError("the project is closed")
            opening = asyncio.get_running_loop().create_task(self._opened(key, server))
            self._opening[key] = opening
            opening.add_done_callback(partial(self._end_opening, key))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            if opening.cancelled():
                raise NotStartedError("the session was closed") from None
            raise

    def _end_opening(self, key: Key, opening: "asyncio.Task[Session]") -> None:
        del self._opening[key]
        if not opening.cancelled():
            # Nobody may wait for its exception any more, and asyncio would log it then.
            opening.exception()

    async def _opened(self, key: Key, server: ServerSettings) -> Session:
        session = self._sessions.get(key)
        failed = self._failures.get(key)
        if failed is not None and time.monotonic() < failed.until:
            raise NotStartedError(failed.reason)
        if session is not None:
            del self._sessions[key]
            await session.close()
        idle = self._room_for(key)
        self._starting.add(key)
        try:
            if idle is not None:
                await idle.close()
            session = Session(key.name, server, key.folder, key.user)
            await session.open()
        except NotStartedError as error:
            count = failed.times + 1 if failed is not None else 1
            pause = min(_FIRST_PAUSE_S * 2 ** min(count - 1, 10), _LONGEST_PAUSE_S)
            self._failures[key] = _Failures(count, time.monotonic() + pause, str(error))
            raise
        finally:
            self._starting.discard(key)
        self._failures.pop(key, None)
        self._sessions[key] = session
        asyncio.get_running_loop().call_later(IDLE_S, self._look, key, session)
        return session

    def _room_for(self, key: Key) -> Session | None:
        """Return the session to close where the server has too many; raises NotStartedError."""
        server = key._replace(user=None)
        same = [one for one in self._sessions if one._replace(user=None) == server]
        starting = [one for one in self._starting if one._replace(user=None) == server]
        if len(same) + len(starting) < MOST_SESSIONS:
            return None
        for oldest in sorted(same, key=lambda one: self._sessions[one].used):
            if self._sessions[oldest].retire():
                return self._sessions.pop(oldest)
        raise NotStartedError(f"all {MOST_SESSIONS} sessions of the server are busy")

    def _look(self, key: Key, session: Session) -> None:
        """Close a session that nobody uses, or look again later."""
        if self._sessions.get(key) is not session:
            return
        left = session.used + IDLE_S - time.monotonic()
        loop = asyncio.get_running_loop()
        if left > 0 or not session.retire():
            loop.call_later(max(left, 1.0), self._look, key, session)
            return
        del self._sessions[key]
        self._closing = loop.create_task(session.close())

    async def _close_all(self, folder: Path | None) -> None:
        gone = [key for key in self._sessions if folder is None or key.folder == folder]
        for key in [key for key in self._failures if folder is None or key.folder == folder]:
            del self._failures[key]
        opening = [one for key, one in self._opening.items() if folder in (None, key.folder)]
        for one in opening:
            one.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        sessions = [self._sessions.pop(key) for key in gone]
        await asyncio.gather(*(session.close() for session in sessions), return_exceptions=True)


POOL = Pool()
