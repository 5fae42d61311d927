"""What Toolmd uses of DBOS: public names, and one private one whose behaviour is checked."""

import ast
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from pickle import dumps

import pytest
from kept import Kept

import toolmd
from toolmd._skills.engine.durable.workflows import Workflows

PRIVATE = {"_serialization"}
"""Its reader of pickles is replaced by one that rejects them."""

DBOS_OBJECTS = {"DBOS", "DBOSClient", "dbos", "dbos_error", "_client", "_dbos"}
"""What the framework calls them."""


def names_of_dbos() -> Iterator[str]:
    """Yield each name that the framework takes from DBOS or from what it returns."""
    for path in Path(toolmd.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        if "dbos" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dbos"):
                yield from (node.module or "").split(".")[1:]
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("dbos"):
                        yield from alias.name.split(".")[1:]
            elif isinstance(node, ast.Attribute) and _last(node.value) in DBOS_OBJECTS:
                yield node.attr


def _last(node: ast.expr) -> str:
    """Return the last name of an expression such as `self._client`."""
    return ast.unparse(node).rpartition(".")[2]


def test_one_private_name_of_dbos_is_used() -> None:
    names = set(names_of_dbos())

    assert {"DBOS", "DBOSClient", "list_workflows"} <= names
    assert {name for name in names if name.startswith("_")} == PRIVATE


def test_the_reader_of_pickles_rejects_them(kept: Kept) -> None:
    from dbos import _serialization

    assert kept.engine is not None
    pickled = b64encode(dumps({})).decode()
    for reader in (_serialization.DefaultSerializer(), _serialization.DBOSDefaultSerializer):
        with pytest.raises(ValueError, match="pickled"):
            reader.deserialize(pickled)


def test_a_workflow_is_found_by_its_owner_and_put_back_into_the_queue_once(kept: Kept) -> None:
    kept.cut()
    workflows: Workflows = kept.engine._workflows

    assert workflows.executing("dead-2") == []
    assert workflows.executing("dead-1") == ["run-1:1"]
    workflows.queue(["run-1:1"])
    assert workflows.executing("dead-1") == []
    assert workflows.states(["run-1:0", "run-1:1", "run-1:2"]).keys() == {"run-1:0", "run-1:1"}
    assert workflows.states(["run-1:1"])["run-1:1"].status == "ENQUEUED"


def test_a_known_id_is_not_ordered_again(kept: Kept) -> None:
    kept.run(kept.order())
    order = kept.engine._store.new(kept.order(), kept.engine._clock())

    assert not kept.engine._workflows.order(order)
    assert kept.queued() == []


def test_an_attempt_is_queued_with_its_transaction_or_not_at_all(kept: Kept) -> None:
    kept.run(kept.order())
    kept.reopen()
    with kept.engine._database.connect() as connection:
        kept.engine._workflows.follow(connection, "run-1", 1)
        connection.rollback()
    assert kept.queued() == []
