"""The page about pipelines, with its table generated from the declared functions."""

from __future__ import annotations

from lakeward.pipelines.api.parameters import FUNCTIONS, Function
from lakeward.report import PROTECTING_WORDS

_INTRODUCTION = """\
# Declarative pipelines

Files for `pyspark.pipelines` or `dlt` run unchanged: `lakeward run KEY` for a pipeline of the bundle,
`lakeward pipeline PATH…` for files without one, with `-t TARGET` in the lakehouse of a target of the bundle.
An update has two phases. The analysis calls every function against empty tables and reports all errors
together; `--dry-run` stops there and writes nothing. The execution then refreshes the tables, upstream first.

## Run an update

| flag | effect |
|---|---|
| (none) | process all new input, then stop |
| `--refresh a,b` | refresh only these datasets |
| `--full-refresh a,b`, `--full-refresh-all` | truncate these tables and reprocess all input: streams, AUTO \
CDC, snapshots and flows that run once start again. Columns, their types and partitions become those of the \
query; Auto Loader infers its schemas again. Tables with `pipelines.reset.allowed=false` are kept; output of \
sinks is kept |
| `--reset-checkpoint f,g` | let these flows reprocess all input into tables that keep their rows |
| `--watch` | show the micro-batches of streaming queries as they end: rates, backlog, state, watermark |
| `--continuous` | repeat, with `pipelines.trigger.interval` (5 seconds) between the passes. SIGTERM ends \
the update after the current pass, Ctrl-C immediately |
| `--dry-run` | report errors, write nothing |

Datasets that do not depend on each other are refreshed concurrently, at most one per core: streaming tables
as queries, materialized views each in a session of its own. A flow with settings of its own (`spark_conf`)
runs alone.

The next update completes a full refresh that was interrupted or failed, whatever it was started to refresh:
a stream cannot resume from a table that was truncated and filled again.

An update that finds new columns in files read by Auto Loader is restarted once; the `create_update` event of
the second one has the cause `SCHEMA_CHANGE`.

In production mode (`development: false` in the bundle's pipeline), transient failures of a flow are retried,
at most `pipelines.maxFlowRetryAttempts` times (2). Transient are: a concurrent writer
(`DELTA_CONCURRENT_…`), a connection that was refused, reset or timed out, and a throttling service. Other
failures would recur and are reported at once.

A function that reads another dataset only during the execution, for example because a condition depends on
data, waits for that dataset and is then called again.

`CREATE VIEW` in SQL creates a view of the catalog, `schema.view` and `catalog.schema.view` too. It is created
or replaced at the end of a successful update. A view that reads a temporary view or a stream exists in the
update only; a warning names it. `CREATE TEMPORARY VIEW` and `@dp.temporary_view` store nothing.

## AUTO CDC

Column lists accept columns of the source in any case, with or without backquotes; fields and expressions are
refused. Lists about the target's columns (`track_history_…`, `ignore_null_updates_…`) may name columns that
`column_list` or `except_column_list` leaves out of the target; these have no effect. Keys must be in the
target.

Bitemporal targets (`stored_as_scd_type="bitemporal"` with `system_sequence_by`; in SQL `SYSTEM SEQUENCE BY`
and `STORED AS BITEMPORAL`) have the columns `__START_AT`, `__END_AT`, `__SYSTEM_START_AT` and
`__SYSTEM_END_AT`. At every system time T, the rows with `__SYSTEM_START_AT <= T` whose `__SYSTEM_END_AT` is
NULL or greater are the SCD type 2 history of the events known at T, in whatever order events arrive.
Assumed, because no rule is documented: an event corrects those with the same sequence and an earlier system
sequence. `columns_to_update` and `apply_as_truncates` are refused.

`where` (in SQL `KEYS (…) WHERE …`), a parameter of older code, filters the rows of the source. The platform
documents it as an optimization that every row must satisfy: there, an update with another row fails. Here
that row is skipped, with a warning.

New targets have deletion vectors, as on Databricks: a batch marks the rows that it replaces, and writes the
new ones, instead of rewriting their files. `'delta.enableDeletionVectors' = 'false'` among the table's
properties turns them off. A batch reads the target once, and of it the keys and the sequences alone; rows of
the same sequence are compared by all columns, in a second pass. Where deletion vectors are off, or a change
data feed or row tracking is on, a MERGE writes the batch. Once there are many small files, a batch compacts
them. Few changed rows are sent to all tasks, so that a large target is read without a shuffle.

The statistics of the target's files decide what a batch reads: only files that may contain its keys, in
the target and in the pipeline's own record of events. A batch of type 1 with a sequence that is a column
of the target is appended if no file can contain its keys; a batch of the other types if it changes no
row. This needs keys of whole numbers, decimals, dates, local timestamps or texts. It pays off where the
target is clustered by its keys, or keys grow.

Where type 2 tracks every column, a row of the target represents its events before the batch. After a
change of the tracked columns run a full refresh: rows that were written before it stay as they are.

## AUTO CDC from snapshots

A source is a table's name (one snapshot per update, its version the current time), a pair of a DataFrame and
its version, or a function from the last version to the next pair, which is called until it returns None. Each
snapshot is stored with its version until the next one; the differences are applied to the target as changes,
with the version as sequence. A column that only one of two snapshots has is NULL in the other. An invalid
snapshot fails the flow with `APPLY_CHANGES_FROM_SNAPSHOT_ERROR` and changes nothing.

In SQL, `FROM SNAPSHOT (…) WITH VERSION (…)` is such a function: the version query runs, with
`last_snapshot_version()`, until it returns no row or the same version; the first run may return no row.

Assumed, because no rule is documented: the version of a periodic snapshot is a timestamp; a pair whose
version did not increase is skipped; expectations on the target are refused.

## Private tables, row filters and column masks

A private table (`private=True`, older `temporary=True`, `PRIVATE` in SQL) can be read by name in its own
pipeline only: no listing shows it, and other tables may have its name. A dataset that becomes private starts
empty; its former table remains until it is dropped.

A row filter (`row_filter="ROW FILTER f ON (region)"`, in SQL `WITH ROW FILTER f ON (region)`) and masks of
declared columns (`ssn STRING MASK f`, in SQL and in `schema=`) are set before the table has rows and apply to
reads by name, in the pipeline as well. They are dropped when the files no longer declare them.

## Generated and identity columns

Declared schemas, in SQL and in `schema=`, accept `GENERATED ALWAYS AS (expression)` and `GENERATED {ALWAYS |
BY DEFAULT} AS IDENTITY [(START WITH n INCREMENT BY n)]`. Streaming tables, including targets of AUTO CDC,
compute them as Delta tables do. A materialized view numbers its rows again whenever it is recomputed.

## Standalone tables

`CREATE [OR REPLACE] MATERIALIZED VIEW` and `CREATE [OR REFRESH] STREAMING TABLE` also run outside of
pipelines: in `lakeward sql`, notebooks, SQL tasks, statements of the workspace and `spark.sql`. Such a
table is a pipeline of one dataset, called `MV-<catalog>.<schema>.<name>` or `ST-…`. The statement ends
when the first update has ended; a statement that fails creates nothing, and a replacement that fails
leaves rows and definition as they were.

```sql
CREATE MATERIALIZED VIEW daily SCHEDULE EVERY 1 HOUR AS SELECT day, count(*) AS n FROM events GROUP BY day;
CREATE OR REFRESH STREAMING TABLE raw AS SELECT * FROM STREAM read_files('/Volumes/main/default/landing');
REFRESH MATERIALIZED VIEW daily;
DESCRIBE EXTENDED daily;   -- latest refresh and schedule
```

Clauses are those of pipeline files, with expectations and `FLOW AUTO CDC`. A definition sees no temporary
views and settings of the session that runs it. `SCHEDULE` and `TRIGGER ON UPDATE` are kept and shown,
also after `ALTER … ADD SCHEDULE`; here only statements start a refresh. `ASYNC` waits for the end, too.

The rows of a materialized view, of a pipeline too, are those of its query. Statements and writers that would
change them, and `CREATE OR REPLACE TABLE` of its name, fail with MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.

## Flows that replace rows

`replace_flow`, or `replace_using` with `sequence_by` on a table: of the new rows of a key, those with the
highest sequence replace the key's rows in the table. Rows with a lower sequence than the table's are skipped;
rows with an equal one are appended. `replace_where`: every update recomputes the rows that satisfy the
condition and keeps all others. In SQL: `INSERT INTO t REPLACE USING (k) SEQUENCE BY s BY NAME SELECT …`,
`CREATE STREAMING TABLE t FLOW REPLACE WHERE c BY NAME SELECT …`. Each batch is one commit.

## Sinks

`create_sink` accepts `delta` with a path or a table's name, any format of Spark, and registered Python data
sources. The dry run reports a format whose connector is missing, with the package that contains it.
`foreach_batch_sink` functions are called with each micro-batch and its number; numbers restart at 0 after a
full refresh. Such a function reads datasets of the pipeline as they are stored at that time.

## Events

`lakeward events KEY` shows the last update; `--follow` shows it while it runs, from any process and without
starting Spark. In SQL: `event_log('<pipeline>')`, `event_log(TABLE(<table>))`, and the table that `event_log`
of the pipeline's definition names (`name`, `schema`, `catalog`), after the first update. Functions with
`@dp.on_event_hook` are called with every event. A hook that fails more often in succession than
`max_allowable_consecutive_failures` is disabled for the rest of the update.

## Report

`lakeward report KEY` writes one HTML file: the graph with state, rows, seconds and refresh technique of each
dataset, its columns with those that they are computed from, flows and five sample rows, the slowest
operators, streaming queries, expectations over time, the last 30 updates and the events of the latest one.
Without KEY it writes one for each pipeline and [job](jobs.md) that has run. The file is in `reports/` of the
state folder, needs no network and starts no Spark. An update that still runs, or was killed, is shown as far
as it came.

![A dataset in a report: its place in the graph, columns with what they are computed from, and sample rows
](pictures/report-dataset.png)

Sample rows are read when the file is written. `--no-rows` leaves them out of a report that you share. These
values are never shown:

| protected by | hidden |
|---|---|
| a protecting tag of the column | the column |
| a protecting tag of the table, its schema or its catalog | all rows |
| a column mask, also one of a policy | the column |
| a protecting tag or a mask of a column that was renamed or dropped since | all rows |
| a row filter, also one of a policy | all rows |
| secrets of the target's scopes | `[REDACTED]` |
| a secret that cannot be read | all rows of all tables |

A tag protects if its key or value has one of these words: @WORDS@. So does a key that begins with `class.`,
as those of the platform's data classification do. A value such as `false` or `no` lifts the tag. Derived
columns do not inherit tags, as on Databricks: tag them, too.

## JSON texts without a schema

`from_json` without a schema infers one from the first texts of a stream, stores it under its
`schemaLocationKey`, and adds fields that later texts bring:

```sql
CREATE STREAMING TABLE events AS
SELECT from_json(value, NULL, map('schemaLocationKey', 'events', 'schemaHints', 'at TIMESTAMP')) AS event
FROM STREAM raw;
```

The first texts and new fields restart the update, which then reads the same rows with the new columns.
Queries of other datasets that read the fields are skipped until they are inferred; a query that reads them
itself needs `schemaHints`. A full refresh infers the schema again.

| option | effect |
|---|---|
| `schemaLocationKey` | the name of the schema within its flow |
| `schemaHints` | types of single fields; `element.…` for arrays, which become the field `value` |
| `schemaEvolutionMode` | `addNewColumns` (the default), `rescue`, `failOnNewColumns`, `none` |
| `rescuedDataColumn` | the rescued data column, `_rescued_data`; mode `none` has one only if it is set |
| `columnNameOfCorruptRecord` | the field for malformed texts, if `schemaHints` has it |
| options of JSON readers | as in Auto Loader (`timestampFormat` …); `mode` is `PERMISSIVE` or `FAILFAST` |

## Functions and parameters

`dlt` has the same objects. A parameter without effect here logs one warning per update, a refused one is an
error, and an unknown one is a `TypeError` that names it.
"""


def as_markdown() -> str:
    """Return the page."""
    rows = ["| function | parameters | not as on the platform |", "|---|---|---|"]
    words = ", ".join(f"`{each}`" for each in sorted(PROTECTING_WORDS))
    return _INTRODUCTION.replace("@WORDS@", words) + "\n" + "\n".join([*rows, *map(_row, FUNCTIONS)]) + "\n"


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
