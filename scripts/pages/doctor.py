"""docs/doctor.md: every finding with its meaning, threshold, evidence and fix."""

from __future__ import annotations

from lakeward.doctor import FINDINGS, Finding

_HEAD = """# The doctor

```sh
lakeward doctor                     # all tables and pipelines of the target
lakeward doctor sales.orders        # one table, also one with a LOCATION; or a folder with a Delta table
lakeward doctor nightly             # a pipeline by its key, or a run of a job, with the tables that it writes
lakeward doctor sales.orders --apply
lakeward doctor --spark-events logs # the queries of an event log of Spark
```

It names what makes a table or a pipeline slow or expensive: the figures, what the fix changes, and the
statement.

```console
main.sales.orders: many small files [small-files]
    files 240, small files 240, mean bytes 1.2 MB, files after 3
    Files that a full read opens: 3 instead of 240.
  → OPTIMIZE `main`.`sales`.`orders`
1 finding in 14 tables and pipelines; `--apply` fixes 1 of them
```

Tables are read from their Delta log, pipelines from their event log: no query runs, nothing is written, and
Spark is not started. A log that cannot be read is named, and the other tables are examined.

- `--apply` runs the fixes marked *safe* below and examines again. A safe fix keeps all rows, all history and
  all readers: it never deletes files, and never changes which columns can skip files.
- `--json` prints one object: `subjects`, `findings` (each with `evidence`, `fix`, `gain`, `safe`),
  `unreadable`, `applied`.
- Exit code 0: everything was read and nothing was found; 1: something was found, could not be read, or a fix
  failed.

## Queries

```sh
lakeward doctor --spark-events FOLDER
```

Spark writes an event log when the application has `spark.eventLog.enabled=true` and
`spark.eventLog.dir=FOLDER`; on Databricks it is part of the delivered cluster logs. Files and rolled folders
are read, plain or compressed with zstd or gzip. Queries are named by their number and description. Fixes are
settings and edits, so `--apply` does not run them.

The findings below are generated from `lakeward.doctor`; tests build a sick subject and its healthy twin,
which just misses the threshold, for each of them. `make bench CASE='doctor.*'` prints what each fix gains:
seconds with the fix and without it, and files, rows or commits before and after.
"""


def as_markdown() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *(_section(each) for each in FINDINGS.values())])


def _section(finding: Finding) -> str:
    lines = [
        f"## `{finding.id}`: {finding.title}",
        "",
        f"{finding.meaning}",
        "",
        f"**When.** {finding.when}",
        "",
        "| figure | |",
        "|---|---|",
        *(f"| `{name}` | {what} |" for name, what in finding.evidence),
        "",
        f"**Fix{' (safe)' if finding.safe else ''}.** {finding.gain}",
        "",
        "```console",
        *finding.fix,
        "```",
        "",
        *_definition(finding),
    ]
    return "\n".join(lines)


def _definition(finding: Finding) -> list[str]:
    if finding.area != "table" or not finding.declared or finding.declared == "{restored}":
        return []
    return [f"Of a streaming table or materialized view: `{finding.declared}` in its definition.", ""]
