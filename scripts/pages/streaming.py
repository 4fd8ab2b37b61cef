"""docs/streaming.md: operations and triggers by output mode."""

from __future__ import annotations

from pages.streaming_support import MODES, OPERATIONS, TRIGGERS

_HEAD = """# Streaming

Structured Streaming is Spark's own. In addition, as on the platform:

- `writeStream.table(name)` is `toTable`.
- `spark.readStream.table` and `STREAM` in SQL read a persistent view as its query over streams of its tables,
  also a view of views. The query has SELECT, WHERE and UNION ALL only. The tables get the reader's options:
  `maxFilesPerTrigger`, `maxBytesPerTrigger`, `ignoreDeletes`, `skipChangeCommits`, `withEventTimeOrder`,
  `startingTimestamp` and `startingVersion`; other options are errors, as on the platform.
- `lakeward run --watch` shows the micro-batches of queries that a job's notebooks and programs start. The
  run's page in the [local workspace](workspace.md#pages) lists the queries and can stop and restart them. A
  restarted query continues from its checkpoint; without a `checkpointLocation` it begins again. Code that
  waits for a query continues when the query is stopped; the variable of a restarted query is the new one.
- A temporary view of a stream can be queried with SQL and read back with `spark.readStream.table`.
- `trigger(once=True)` runs and warns that it is deprecated.

A test executes every cell of the tables: `runs`, or the condition of Spark's error. In the examples `s` is a
stream of a table with the columns `id`, `at` and `k`, `w` the same with a watermark of one hour on `at`, and
`t` a table with the same columns.
"""


def as_markdown() -> str:
    """Return the page."""
    rows = [(o.name, f"`{o.code}`", *(getattr(o, mode) for mode in MODES)) for o in OPERATIONS]
    triggers = [(f"`{t.name}`", *(getattr(t, mode) for mode in MODES)) for t in TRIGGERS]
    parts = [
        _HEAD,
        "## Operations × output modes\n",
        _table(("operation", "example", *MODES), rows),
        "\n## Triggers × output modes, into a Delta table\n",
        _table(("trigger", *MODES), triggers),
    ]
    return "\n".join(parts)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return (
        "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        + "\n"
    )
