"""The findings: what each means, its evidence, when it is reported, and what fixes it.

`docs/doctor.md` is generated from this table, and tests build one sick subject and its healthy twin per
entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MEGABYTE = 2**20

SMALL_FILE_BYTES = 16 * MEGABYTE
MERGED_FILE_BYTES = 128 * MEGABYTE
SAVED_FILES = 50
MANY_PARTITIONS = 100
UNREAD_STATISTICS_FILES = 10
WIDE_STATISTICS_BYTES = 8 * 1024
FEW_FILES = 20
DELETED_SHARE = 0.1
DELETED_ROWS = 1000
EXPIRED_FILES = 20
EXPIRED_BYTES = 2**30
SHORTEST_RETENTION_DAYS = 7
OVERLAP_SHARE = 0.5
COMMITS_WITHOUT_CHECKPOINT = 200
EXPIRED_LOG_FILES = 200
RECOMPUTED_UPDATES = 3
CHECKPOINT_FILES = 1000
SKEW_TASKS = 4
SKEW_RATIO = 5
SKEW_BYTES = 16 * MEGABYTE
SPILL_BYTES = 64 * MEGABYTE
MANY_TASKS = 200
SMALL_TASK_BYTES = MEGABYTE
LARGE_TASK_BYTES = 512 * MEGABYTE
UDF_ROWS = 100_000
CARTESIAN_ROWS = 1_000_000
BROADCAST_BYTES = 10 * MEGABYTE
SHUFFLED_BYTES = 64 * MEGABYTE
WRONG_BROADCAST_BYTES = 256 * MEGABYTE
REPEATED_SCANS = 3
SCANNED_BYTES = 64 * MEGABYTE
LATE_ROWS = 100
LATE_SHARE = 0.01
STATE_BATCHES = 5
STATE_ROWS = 100_000


@dataclass(frozen=True)
class Finding:
    """One entry.

    Attributes:
        id: Its name in output and documentation.
        area: What it is read from: a table's log, a pipeline's events, Spark's event log.
        title: A few words.
        meaning: Why it costs time, money or rows.
        when: The threshold.
        evidence: Names of the figures and what they count.
        fix: Statements or settings; `{name}` are figures and `{table}` the quoted table.
        declared: What takes the place of `fix` in the definition of a streaming table or materialized view,
            whose columns and properties no statement changes.
        gain: What the fix changes.
        safe: Whether `--apply` may run the fix: it must keep all rows, all history and all readers.
    """

    id: str
    area: Literal["table", "pipeline", "query", "stream"]
    title: str
    meaning: str
    when: str
    evidence: tuple[tuple[str, str], ...]
    fix: tuple[str, ...]
    gain: str
    safe: bool = False
    declared: str = ""


_TABLES = (
    Finding(
        "small-files",
        "table",
        "many small files",
        "Every file costs a request and a task's start in each query, and an entry in the log.",
        f"Files below 16 MB that OPTIMIZE would merge into at least {SAVED_FILES} fewer.",
        (
            ("files", "files of the table"),
            ("small_files", "files below 16 MB"),
            ("mean_bytes", "their mean size"),
            ("files_after", "files of the table after OPTIMIZE"),
        ),
        ("OPTIMIZE {table}",),
        "Files that a full read opens: {files_after} instead of {files}.",
        safe=True,
    ),
    Finding(
        "over-partitioned",
        "table",
        "too many small partitions",
        "A partition has at least one file, so OPTIMIZE cannot merge further: the files stay small for ever.",
        f"At least {MANY_PARTITIONS} partitions with less than 16 MB on average.",
        (
            ("partitions", "partitions with data"),
            ("columns", "partition columns"),
            ("mean_bytes", "mean size of a partition"),
            ("files", "files of the table"),
            ("files_after", "files when it is clustered instead"),
        ),
        ("CREATE OR REPLACE TABLE {table} CLUSTER BY ({clustering}) AS SELECT * FROM {table}",),
        "The rows fit into {files_after} files instead of {files}.",
        declared="CLUSTER BY ({clustering})",
    ),
    Finding(
        "statistics-missing",
        "table",
        "files without statistics",
        "Filters cannot skip a file whose minimum and maximum are unknown; every query reads it.",
        f"At least {UNREAD_STATISTICS_FILES} files and a tenth of all have no minimum and maximum.",
        (("files", "files of the table"), ("files_without", "files without minimum and maximum")),
        ("{restore}", "ANALYZE TABLE {table} COMPUTE DELTA STATISTICS"),
        "Filters can skip {files_without} files that every query reads now.",
        safe=True,
        declared="{restored}",
    ),
    Finding(
        "statistics-too-wide",
        "table",
        "statistics of too many columns",
        "They are part of every file's entry: wide ones make the log slow to read and checkpoints large.",
        f"At least 8 KB of statistics per file in at least {FEW_FILES} files.",
        (
            ("files", "files of the table"),
            ("columns", "columns with statistics"),
            ("mean_statistics_bytes", "statistics of a file"),
            ("statistics_bytes", "statistics of all files"),
        ),
        ("ALTER TABLE {table} SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = {skipping})",),
        "New files carry statistics of the named columns alone; name those that filters use.",
        declared="TBLPROPERTIES ('delta.dataSkippingStatsColumns' = {skipping})",
    ),
    Finding(
        "deletion-vectors",
        "table",
        "many deleted rows in files",
        "Rows marked as deleted are read and dropped by every query until the files are rewritten.",
        f"At least {DELETED_ROWS} rows and a tenth of all are marked as deleted.",
        (
            ("files", "files of the table"),
            ("files_with_deletions", "files with a deletion vector"),
            ("deleted_rows", "rows marked as deleted"),
            ("rows", "rows in the files, deleted ones included"),
        ),
        ("REORG TABLE {table} APPLY (PURGE)",),
        "Queries no longer read {deleted_rows} deleted rows.",
        safe=True,
    ),
    Finding(
        "vacuum-debt",
        "table",
        "expired files that VACUUM would delete",
        "Files that no version within the retention needs stay on disk and are paid for.",
        f"At least {EXPIRED_FILES} expired files, with as many bytes as the table or 1 GB.",
        (
            ("expired_files", "files that VACUUM would delete"),
            ("expired_bytes", "their size"),
            ("live_bytes", "size of the table"),
            ("retention_days", "retention of deleted files, in days"),
        ),
        ("VACUUM {table}",),
        "{expired_bytes} are freed; versions older than {retention_days} days can no longer be read.",
    ),
    Finding(
        "short-retention",
        "table",
        "retention too short for streams and long queries",
        "A stream that pauses for longer than the retention cannot continue and needs a full refresh; a "
        "query that runs for longer fails.",
        f"Deleted files or log entries are kept for less than {SHORTEST_RETENTION_DAYS} days.",
        (
            ("deleted_file_days", "retention of deleted files, in days"),
            ("log_days", "retention of the log, in days"),
        ),
        ("ALTER TABLE {table} SET TBLPROPERTIES ({retention})",),
        "Streams and queries may pause for up to 7 days.",
        safe=True,
        declared="TBLPROPERTIES ({retention})",
    ),
    Finding(
        "clustering-debt",
        "table",
        "clustered by a column, but the files overlap",
        "Rows written after the last OPTIMIZE are not clustered, so filters on the column skip little.",
        f"A value of the first clustering column is within the range of half of at least {FEW_FILES} files.",
        (
            ("column", "first clustering column"),
            ("files", "files of the table"),
            ("files_per_value", "files that a filter on one value reads, on average"),
        ),
        ("OPTIMIZE {table}",),
        "A filter on one value of {column} reads fewer than {files_per_value} of {files} files.",
        safe=True,
    ),
    Finding(
        "checkpoint-overdue",
        "table",
        "long log without a checkpoint",
        "Every reader replays all commits since the last checkpoint.",
        f"At least {COMMITS_WITHOUT_CHECKPOINT} commits since the last checkpoint.",
        (
            ("commits", "commits since the last checkpoint"),
            ("log_bytes", "their size"),
            ("interval", "value of delta.checkpointInterval"),
        ),
        ("ALTER TABLE {table} SET TBLPROPERTIES ('delta.checkpointInterval' = '10')",),
        "The next commit writes a checkpoint; readers replay at most 10 commits instead of {commits}.",
        safe=True,
        declared="TBLPROPERTIES ('delta.checkpointInterval' = '10')",
    ),
    Finding(
        "log-cleanup-off",
        "table",
        "expired log entries are kept",
        "The log grows without end, and every listing of it gets slower.",
        f"At least {EXPIRED_LOG_FILES} log files older than the log's retention and one day.",
        (
            ("log_files", "files of the log"),
            ("expired_log_files", "those older than the retention"),
            ("log_days", "retention of the log, in days"),
        ),
        ("ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableExpiredLogCleanup' = 'true')",),
        "The next checkpoint deletes {expired_log_files} log files; their versions can no longer be read.",
        declared="TBLPROPERTIES ('delta.enableExpiredLogCleanup' = 'true')",
    ),
)  # fmt: skip

_PIPELINES = (
    Finding(
        "full-recompute",
        "pipeline",
        "a view is recomputed by every update",
        "Its query has an operator or a function without an incremental form, so each update reads all rows.",
        f"At least {RECOMPUTED_UPDATES} updates recomputed it for a reason in its query or its sources.",
        (
            ("updates", "updates in the event log that refreshed the view"),
            ("recomputed", "those that recomputed it for this reason"),
            ("seconds", "seconds that these took"),
            ("reason", "the reason of the newest one"),
        ),
        (
            "Change the query: {reason}",
            "EXPLAIN CREATE MATERIALIZED VIEW … shows before an update what is not incremental",
        ),
        "Updates read what changed instead of all rows; {recomputed} updates took {seconds} s.",
    ),
    Finding(
        "checkpoint-growth",
        "stream",
        "a checkpoint with very many files",
        "Each micro-batch and each start lists the checkpoint; many files make both slow.",
        f"At least {CHECKPOINT_FILES} files of offsets and commits.",
        (("files", "files of offsets and commits"), ("batches", "newest micro-batch")),
        ("spark.sql.streaming.minBatchesToRetain = 100",),
        "About 200 files instead of {files}; the stream deletes older ones with its next micro-batches.",
    ),
)

_QUERIES = (
    Finding(
        "data-skew",
        "query",
        "one task reads most of a shuffle",
        "The stage lasts as long as its largest task, and the other cores wait.",
        "A task reads five times the median of its stage and 16 MB more; stages of at least four tasks.",
        (
            ("tasks", "tasks of the stage"),
            ("median_bytes", "median of what they read"),
            ("largest_bytes", "what the largest one reads"),
            ("input_bytes", "what all read"),
        ),
        (
            "spark.sql.adaptive.skewJoin.enabled = true",
            "Split the frequent key: join or group by it and a salt, then by the key alone",
        ),
        "The largest task reads about {median_bytes} instead of {largest_bytes}.",
    ),
    Finding(
        "spill",
        "query",
        "tasks write to disk what memory does not hold",
        "Sorts and aggregations of a task that exceed its memory are written and read again.",
        "At least 64 MB were spilled to disk in a stage.",
        (
            ("tasks", "tasks of the stage"),
            ("disk_bytes", "bytes on disk"),
            ("memory_bytes", "their size in memory"),
            ("partitions_after", "partitions with which a task's part fits"),
        ),
        (
            "spark.sql.shuffle.partitions = {partitions_after}",
            "spark.driver.memory, spark.executor.memory: more",
        ),
        "{disk_bytes} are neither written nor read again.",
    ),
    Finding(
        "shuffle-partitions",
        "query",
        "too many or too few shuffle partitions",
        "Tiny tasks spend their time in starting; huge ones spill and leave cores without work.",
        "At least 200 tasks that read less than 1 MB on average, or tasks that read 512 MB or more.",
        (
            ("tasks", "tasks of the stage"),
            ("mean_bytes", "what one reads on average"),
            ("partitions_after", "partitions of 128 MB"),
        ),
        (
            "spark.sql.adaptive.coalescePartitions.enabled = true",
            "spark.sql.shuffle.partitions = {partitions_after}",
        ),
        "{partitions_after} tasks instead of {tasks}.",
    ),
    Finding(
        "row-udf",
        "query",
        "a Python function is called row by row",
        "Each row is serialized to a Python process and back; built-in functions run where the data is.",
        "At least 100,000 rows went through `BatchEvalPython`, or `ArrowEvalPython` of type 101.",
        (("rows", "rows of the operator"), ("operator", "the operator with the function")),
        (
            "Replace the function by built-in ones of pyspark.sql.functions",
            "Else make it a pandas_udf, or udf(…, useArrow=True): batches instead of rows",
        ),
        "{rows} rows are not serialized one by one.",
    ),
    Finding(
        "cartesian-join",
        "query",
        "a join without an equality",
        "Every row is compared with every row of the other side.",
        "At least 1,000,000 rows left a nested-loop join or a Cartesian product.",
        (("operator", "the operator"), ("rows", "rows that it returned")),
        ("Add an equality to the join's condition, or a bucket of the range to compare",),
        "The join compares matching keys instead of all pairs.",
    ),
    Finding(
        "missed-broadcast",
        "query",
        "a small table is shuffled instead of broadcast",
        "The large side is shuffled and sorted for a join that needs neither.",
        "One side of a join shuffles at most 10 MB, the other one at least 64 MB.",
        (
            ("small_bytes", "shuffle of the small side"),
            ("large_bytes", "shuffle of the large side"),
            ("threshold", "value of spark.sql.autoBroadcastJoinThreshold"),
        ),
        ("spark.sql.autoBroadcastJoinThreshold = 10MB", "SELECT /*+ BROADCAST(small) */ …"),
        "{large_bytes} are not shuffled.",
    ),
    Finding(
        "wrong-broadcast",
        "query",
        "a large table is broadcast",
        "It is collected on the driver and held by every executor.",
        "A broadcast of at least 256 MB.",
        (("broadcast_bytes", "size of the broadcast"),),
        ("Remove the BROADCAST hint, or lower spark.sql.autoBroadcastJoinThreshold",),
        "The driver does not collect {broadcast_bytes}.",
    ),
    Finding(
        "repeated-scan",
        "query",
        "a table is read several times by one query",
        "Branches of a query that read the same files do so each for itself.",
        "At least three scans of the same location in a query, of at least 64 MB together.",
        (
            ("source", "the location"),
            ("scans", "scans in the plan"),
            ("read_bytes", "bytes of files that they read"),
        ),
        ("Read once: one filter with OR, conditional aggregates, or a table or cache in between",),
        "One scan instead of {scans}, which read {read_bytes}.",
    ),
    Finding(
        "aqe-off",
        "query",
        "adaptive query execution is off",
        "Spark cannot merge small partitions, split skewed ones or choose a broadcast while a query runs.",
        "A query with a shuffle ran with spark.sql.adaptive.enabled = false.",
        (("queries", "queries with a shuffle that ran so"), ("shuffles", "their shuffles")),
        ("spark.sql.adaptive.enabled = true",),
        "{shuffles} shuffles of {queries} queries adapt to their data.",
    ),
    Finding(
        "late-rows",
        "stream",
        "late rows are dropped",
        "Rows older than the watermark are lost without an error.",
        "At least 100 rows and a hundredth of the input were dropped by a watermark.",
        (
            ("dropped_rows", "rows that the watermark dropped"),
            ("input_rows", "rows that the stream read"),
            ("batches", "micro-batches"),
        ),
        ("Raise the delay of withWatermark, or of WATERMARK … DELAY OF, above the lateness of the data",),
        "{dropped_rows} of {input_rows} rows are not lost.",
    ),
    Finding(
        "state-growth",
        "stream",
        "the state of a stream only grows",
        "Without a watermark no row of the state expires: memory and checkpoints grow without end.",
        "At least 100,000 rows of state after five micro-batches that removed none.",
        (
            ("batches", "micro-batches"),
            ("first_rows", "rows of state after the first one"),
            ("last_rows", "rows of state after the last one"),
            ("memory_bytes", "memory of the state"),
        ),
        ("Add withWatermark, and use dropDuplicatesWithinWatermark or a window in the grouping key",),
        "State of old rows is removed; {last_rows} rows are kept now.",
    ),
)

FINDINGS: dict[str, Finding] = {each.id: each for each in (*_TABLES, *_PIPELINES, *_QUERIES)}
"""All findings by id."""
