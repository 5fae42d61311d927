"""The workflows that execute attempts, by DBOS's client: any process can queue and read them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from dbos import DBOSClient, EnqueueOptions, WorkflowStatus, error

from toolmd._skills.engine.durable.serializer import JsonSerializer, reject_pickles
from toolmd._store.database import SCHEMA
from toolmd._types.run import JournalEntry

APPLICATION = "toolmd"
VERSION = "toolmd-1"
"""A constant, so that later releases find waiting runs that they can execute."""
QUEUE = "toolmd-runs"
WORKFLOW = "toolmd.play"


def workflow_id(run_id: str, segment: int) -> str:
    """Return the name of the workflow for one attempt of a run."""
    return f"{run_id}:{segment}"


class Workflows:
    """The workflows of a database; blocking, and safe for threads and processes."""

    def __init__(self, engine: sa.Engine) -> None:
        reject_pickles()
        self._engine = engine
        self._has_begun = False
        self._client = DBOSClient(
            system_database_engine=engine,
            dbos_system_schema=SCHEMA,
            serializer=JsonSerializer(),
            application_name=APPLICATION,
            lazy=True,
            retry_connection_errors=False,
        )

    def order(self, row: dict[str, Any]) -> bool:
        """Queue the first attempt of a run for any process; return False for a known id."""
        options = _options(row["id"], 0)
        options["workflow_id_reuse_policy"] = "reject"
        try:
            self._client.enqueue(options, row["id"], 0, row)
        except error.DBOSWorkflowIDInUseError:
            return False
        return True

    def follow(self, connection: sa.Connection, run_id: str, segment: int) -> None:
        """Queue a later attempt of a run, as a part of the transaction of this connection."""
        options = _options(run_id, segment)
        self._client.enqueue_in_transaction(connection, options, run_id, segment)

    def steps(self, run_id: str, segments: int) -> tuple[tuple[JournalEntry, ...], int]:
        """Return the recorded effects in order, and the last step number of the latest attempt.

        Raises ValueError for a row that is not ours.
        """
        entries, last = [], 0
        for number in range(segments + 1):
            steps = self._client.list_workflow_steps(workflow_id(run_id, number))
            for step in steps:
                kept = step["output"]
                if not isinstance(kept, dict) or not {"value", "at"} <= kept.keys():
                    name = step["function_name"]
                    raise ValueError(f"the record of {name} in run {run_id} can't be read")
                entries.append(JournalEntry(step["function_name"], kept["value"], kept["at"]))
            last = steps[-1]["function_id"] if steps else 0
        return tuple(entries), last

    def states(self, names: Iterable[str]) -> dict[str, WorkflowStatus]:
        """Return the states of workflows by name, without missing ones."""
        return self._listed(workflow_ids=list(names))

    def executing(self, owner: str) -> list[str]:
        """Return the names of the workflows that are marked as executing in a process."""
        return [*self._listed(status="PENDING", executor_id=owner, app_version=VERSION)]

    def owners(self) -> Counter[str]:
        """Return how many workflows are marked as executing in each process."""
        executing = self._listed(status="PENDING", app_version=VERSION).values()
        return Counter(one.executor_id or "" for one in executing)

    def queued(self, most: int) -> list[float]:
        """Return when each queued workflow was created, the oldest first, in seconds."""
        waiting = self._listed(status="ENQUEUED", app_version=VERSION, limit=most).values()
        return [(one.created_at or 0) / 1000 for one in waiting]

    def queue(self, names: list[str]) -> None:
        """Put workflows back into the queue; no living process may execute them."""
        if names:
            self._client.resume_workflows(names, queue_name=QUEUE)

    def delete(self, names: list[str]) -> None:
        """Delete workflows with their steps."""
        if names:
            self._client.delete_workflows(names)

    def close(self) -> None:
        """Close the client; the database stays open."""
        self._client.destroy()

    def _listed(self, **query: Any) -> dict[str, WorkflowStatus]:
        if not self._has_table():
            return {}
        found = self._client.list_workflows(**query, load_input=False, load_output=False)
        return {one.workflow_id: one for one in found}

    def _has_table(self) -> bool:
        """Return whether any process has launched DBOS on this database, which creates its tables.

        A process that only reads opens the database, too.
        """
        if not self._has_begun:
            schema = None if self._engine.dialect.name == "sqlite" else SCHEMA
            self._has_begun = sa.inspect(self._engine).has_table("workflow_status", schema=schema)
        return self._has_begun


def _options(run_id: str, segment: int) -> EnqueueOptions:
    return {
        "workflow_name": WORKFLOW,
        "queue_name": QUEUE,
        "workflow_id": workflow_id(run_id, segment),
        "app_version": VERSION,
    }
