"""The page about pipelines, its table from the declared functions."""

from __future__ import annotations

from lakeward.pipelines.parameters import FUNCTIONS, Function

__all__ = ["as_markdown"]

_INTRODUCTION = """\
# Declarative pipelines

Files for `pyspark.pipelines` or `dlt` run as they are: `lakeward run KEY` for a pipeline of the bundle,
`lakeward pipeline PATH…` for files without one. First every function is called against empty tables,
and all mistakes are told at once (`--dry-run` ends there and writes nothing); then the tables are
brought up to date, upstream first.

## What a run does

| flag | what |
|---|---|
| (none) | everything that is new, then the end |
| `--refresh a,b` | these datasets alone |
| `--full-refresh a,b`, `--full-refresh-all` | empty them and read everything anew: streams, AUTO \
CDC, snapshots and flows that run once begin again. `pipelines.reset.allowed=false` keeps a table; \
sinks keep what was written |
| `--reset-checkpoint f,g` | these flows read everything anew, into tables that keep their rows |
| `--continuous` | one pass after the other, with `pipelines.trigger.interval` (5 seconds) in \
between. SIGTERM ends it after the pass that runs, Ctrl-C at once |
| `--dry-run` | the mistakes, and nothing written |

Datasets that do not need each other are brought up to date at the same time, as many as there are cores.
A flow with settings of its own (`spark_conf`) runs alone.

A full refresh that was stopped or failed is ended by the next update, whatever that one is asked to
refresh: a stream cannot go on with a table that was emptied and filled again.

An update that meets new columns in files read by Auto Loader starts again, once; its `create_update`
event has the cause `SCHEMA_CHANGE`.

In production mode (`development: false` in the bundle's pipeline) a flow that failed for a passing
reason is tried again, `pipelines.maxFlowRetryAttempts` times (2). Passing are: another writer was
faster (`DELTA_CONCURRENT_…`), a connection was refused, reset or timed out, a service asked to slow
down. Anything else would fail again and is told at once.

## AUTO CDC from snapshots

A source is a table's name (one snapshot an update, its version the time), a pair of a DataFrame and its
version, or a function from the last version to the next pair, which is called until it returns None.
Every snapshot is kept with its version until the next one; what differs goes into the target as changes
with the version for a sequence. A column that only one of two snapshots has is NULL in the other. What
is wrong with a snapshot fails the flow with `APPLY_CHANGES_FROM_SNAPSHOT_ERROR` and changes nothing.

In SQL, `FROM SNAPSHOT (…) WITH VERSION (…)` is such a function: the version query is asked, with
`last_snapshot_version()`, until it gives no row or the same version; at first it may give none.

Assumed, for want of a documented rule: a periodic snapshot's version is a timestamp; a pair whose
version did not grow is left out; expectations on the target are refused.

## Private tables, row filters and column masks

A private table (`private=True`, older `temporary=True`, `PRIVATE` in SQL) is read by name in its own
pipeline, and by nobody else: no listing shows it, and its name is free for other tables. A dataset that
becomes private begins anew; the table that it was before stays until it is dropped.

A row filter (`row_filter="ROW FILTER f ON (region)"`, in SQL `WITH ROW FILTER f ON (region)`) and masks of
declared columns (`ssn STRING MASK f`, in SQL and in `schema=`) are set before the table has rows, hold for
reads by name, in the pipeline as well, and go when the files say them no more.

## Flows that replace

`replace_flow`, or `replace_using` with `sequence_by` on a table: of the new rows of a key, those with the
highest sequence replace the key's rows in the table; rows with a lower one than the table's are left out,
and those with an equal one are appended. `replace_where`: the rows of the condition are computed anew by
every update, all others stay. In SQL: `INSERT INTO t REPLACE USING (k) SEQUENCE BY s BY NAME SELECT …`,
`CREATE STREAMING TABLE t FLOW REPLACE WHERE c BY NAME SELECT …`. Each batch is one commit.

## Sinks

`create_sink` takes `delta` with a path or a table's name, any format of Spark's, and registered Python
data sources. A format whose connector is absent is told by the dry run, with the package that has it.
`foreach_batch_sink` functions get each micro-batch with its number, which begins at 0 again after a
full refresh.

## Events

`lakeward events KEY` shows the newest update; `--follow` shows it while it runs, from any process and
without starting Spark. In SQL: `event_log('<pipeline>')` and `event_log(TABLE(<table>))`. Functions
with `@dp.on_event_hook` are called with every event; one that fails more often in a row than it may is
not called again in this update.

## The functions and their parameters

`dlt` has the same objects. A parameter that has no effect here warns once in a run; one that is refused
is an error; one that nobody knows is a `TypeError` that names it.
"""


def as_markdown() -> str:
    """The whole page."""
    rows = ["| function | parameters | not as on the platform |", "|---|---|---|"]
    return _INTRODUCTION + "\n" + "\n".join([*rows, *map(_row, FUNCTIONS)]) + "\n"


def _row(function: Function) -> str:
    names = ", ".join(f"`{name}`" for name in function.names)
    parameters = ", ".join(f"`{each.name}`" for each in function.parameters)
    notes = [
        f"`{each.name}` {_VERDICTS[each.verdict]}: {each.note}"
        for each in function.parameters
        if each.verdict != "supported"
    ]
    return f"| {names} | {parameters} | {'; '.join(notes)} |"


_VERDICTS = {"accepted": "has no effect", "refused": "is refused"}
