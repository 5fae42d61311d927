"""A small world whose runs are kept, in a state folder or on Postgres."""

import asyncio
import datetime as dt
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "skills"))

from run_world import YES, World, skill, tool

from toolmd._skills.engine import Engine
from toolmd._skills.interpreter import interpret
from toolmd._skills.journal import utc_now
from toolmd._skills.plan import make_plan
from toolmd._store.database import open_database
from toolmd._types.run import Answer, Order

STEPS = """1. **Look**.
   - **Use**: look
   - **Save as**: seen
2. **Agree**.
   - **Ask**: Shall I?
   - **Timeout**: 1h
3. **Act**.
   - **Use**: act
   - **Undo**: undo
4. **Return**:
   - value: `seen.value`"""


DEADLINE_S = 60.0


class Kept:
    """A world whose runs are kept; `place` is the setting `store`."""

    def __init__(self, state: Path, place: str = "sqlite", **options: Any) -> None:
        keyed = "- **Idempotent**: keyed\n"
        self.world = World(
            tool("look", metadata="- **Read Only**: true\n"),
            tool("act", metadata=keyed),
            tool("undo", metadata=keyed),
        )
        self.world.functions = {
            name: lambda name=name, **_: {"value": name} for name in ("look", "act", "undo")
        }
        self.state = state
        self.place = place
        self.options = options
        self.ahead = dt.timedelta()
        self.engine = self.opened()

    def opened(self) -> Engine:
        """Open the engine."""
        execute = partial(interpret, executor=self.world)
        self.database = open_database(self.place, self.state)
        return Engine(execute, self.database, clock=lambda: utc_now() + self.ahead, **self.options)

    def close(self) -> None:
        """Stop the process's work."""
        self.engine.close()
        self.database.close()

    def reopen(self) -> None:
        """Stop the process's work and start it again, like a restart."""
        self.close()
        self.engine = self.opened()

    def order(self, run_id: str = "run-1", steps: str = STEPS) -> Order:
        """Return an order of a skill with these steps."""
        spec = skill(steps, "look, act, undo")
        return Order(run_id, make_plan(spec, self.world.tools, {}), {})

    def run(self, order: Order, ask: Any = None) -> Any:
        """Run an order until nothing executes it any more."""
        result = asyncio.run(self.engine.run(order, ask=ask))
        self.rest()
        return result

    def answer(self, answer: Answer, run_id: str = "run-1", key: str = "2:ask") -> Any:
        """Answer a question, and run on."""
        return asyncio.run(self.engine.answer(run_id, key, answer))

    def leave(self, name: str) -> None:
        """Leave what a process of this name leaves when it dies."""
        if self.place == "sqlite":
            (self.state / "workers").mkdir(exist_ok=True)
            (self.state / "workers" / name).touch()
        else:
            self.rows("INSERT INTO worker VALUES (?, 0)", name)

    def workers(self) -> list[str]:
        """Return the names of the processes that have shown that they are alive."""
        if self.place == "sqlite":
            return [path.name for path in (self.state / "workers").iterdir()]
        return [name for (name,) in self.rows("SELECT id FROM worker")]

    def cut(self, owner: str = "dead-1", order: Order | None = None) -> None:
        """Leave a run that was cut off within the attempt after its answer.

        The engine is not started then, so its process has yet to find the run.
        """
        self.run(order or self.order())
        self.reopen()
        name = self.engine.own if owner == "own" else owner
        assert self.engine.store.settle("run-1", "2:ask", YES, utc_now(), name) == (True, True)

    def going(self) -> list[str]:
        """Return the runs that a process executes or will."""
        going = "SELECT id FROM run WHERE state IN ('ready', 'running')"
        return [name for (name,) in self.rows(going)]

    def rest(self) -> None:
        """Wait until nothing executes any run."""
        ends = time.monotonic() + DEADLINE_S
        while going := self.going():
            assert time.monotonic() < ends, going
            time.sleep(0.01)

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Execute a statement on the database, like another program, and return its rows."""
        database = open_database(self.place, self.state)
        try:
            with database.write() as tx:
                return tx.execute(statement, *values)
        finally:
            database.close()


async def yes(question: Any) -> Answer:
    """Answer yes, like an available person."""
    return YES
