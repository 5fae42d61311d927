"""The tables of a store, in the SQL that SQLite and Postgres share, and their version."""

VERSION = 7
"""The version of the tables; it grows when an older release could not read or finish records."""
TABLES = """
CREATE TABLE confirmation (
    id TEXT PRIMARY KEY, tool TEXT NOT NULL, caller TEXT, host_call TEXT, same TEXT, state TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL, data TEXT NOT NULL);
CREATE INDEX confirmation_host_call ON confirmation (host_call) WHERE host_call IS NOT NULL;
CREATE INDEX confirmation_same ON confirmation (same) WHERE state = 'pending';
CREATE INDEX confirmation_expires ON confirmation (expires);
CREATE INDEX confirmation_open ON confirmation (created, id)
    WHERE state IN ('pending', 'running');
CREATE TABLE tool_start (tool TEXT PRIMARY KEY, last DOUBLE PRECISION NOT NULL);
CREATE TABLE quota_use (
    name TEXT NOT NULL, part TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, used TEXT NOT NULL,
    until DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, part));
CREATE INDEX quota_use_until ON quota_use (until);
CREATE TABLE running_call (
    name TEXT PRIMARY KEY, tool TEXT NOT NULL, until DOUBLE PRECISION NOT NULL);
CREATE INDEX running_call_tool ON running_call (tool);
CREATE TABLE keyed_call (
    key TEXT PRIMARY KEY, began DOUBLE PRECISION NOT NULL, until DOUBLE PRECISION NOT NULL,
    result TEXT);
CREATE INDEX keyed_call_began ON keyed_call (began);
CREATE TABLE kept_result (
    handle TEXT PRIMARY KEY, owner TEXT NOT NULL, tool TEXT NOT NULL, data BLOB NOT NULL,
    until DOUBLE PRECISION NOT NULL);
CREATE INDEX kept_result_until ON kept_result (until);
CREATE TABLE policy_change (
    name TEXT NOT NULL, live TEXT NOT NULL, edit TEXT NOT NULL, spec TEXT NOT NULL,
    number BIGINT NOT NULL, accepted INTEGER NOT NULL, since DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (name, live, edit));
CREATE TABLE crisis (
    conversation TEXT NOT NULL, caller TEXT NOT NULL, since DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (conversation, caller));
CREATE TABLE user_message (
    conversation TEXT NOT NULL, caller TEXT NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL, used_by TEXT, PRIMARY KEY (conversation, caller, number));
CREATE INDEX user_message_at ON user_message (at);
CREATE TABLE audit_head (
    file TEXT PRIMARY KEY, place TEXT NOT NULL, number BIGINT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE remote_tool (
    server TEXT NOT NULL, tool TEXT NOT NULL, accepted TEXT NOT NULL, seen TEXT NOT NULL,
    PRIMARY KEY (server, tool));
CREATE TABLE secret (id INTEGER PRIMARY KEY, secret TEXT NOT NULL);
CREATE TABLE plan (hash TEXT PRIMARY KEY, plan TEXT NOT NULL, kept DOUBLE PRECISION NOT NULL);
CREATE TABLE run (
    id TEXT PRIMARY KEY, skill TEXT NOT NULL, plan TEXT NOT NULL, inputs TEXT NOT NULL,
    caller TEXT NOT NULL, confidence DOUBLE PRECISION, began TEXT NOT NULL, state TEXT NOT NULL,
    owner TEXT, attempts INTEGER NOT NULL, held INTEGER NOT NULL, tried INTEGER NOT NULL,
    cancelled INTEGER NOT NULL, ended TEXT, result TEXT);
CREATE INDEX run_began ON run (began, id);
CREATE INDEX run_unfinished ON run (state, owner) WHERE result IS NULL;
CREATE INDEX run_ended ON run (ended) WHERE ended IS NOT NULL;
CREATE TABLE step (
    run TEXT NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (run, key));
CREATE TABLE question (
    run TEXT NOT NULL, key TEXT NOT NULL, question TEXT NOT NULL, opened DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION, answer TEXT, answered TEXT, PRIMARY KEY (run, key));
CREATE INDEX question_open ON question (opened, run, key) WHERE answer IS NULL;
CREATE INDEX question_timed ON question (expires) WHERE answer IS NULL AND expires IS NOT NULL;
CREATE TABLE schedule (skill TEXT PRIMARY KEY, schedule TEXT NOT NULL, tick DOUBLE PRECISION NOT NULL);
"""  # noqa: E501 - one table after the other reads best


def other_release(name: str, version: int) -> str:
    """Return the message for records of a release that this one can't read."""
    other = "a newer" if version > VERSION else "an older"
    return (
        f"the records in {name} were stored by {other} release of Toolmd (tables of version "
        f"{version}; this one supports {VERSION}): use that release, or another state folder or "
        f"database"
    )
