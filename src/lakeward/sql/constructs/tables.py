"""Tables: clauses and statements beyond Spark's and Delta's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeward.sql.construct import BEGINNING, Construct, as_is, refused
from lakeward.sql.cursor import Cursor
from lakeward.sql.outcome import Command, Edit, Edits, Outcome
from lakeward.sql.tokens import Token

__all__ = ["CONSTRUCTS"]

_AREA = "Tables"
_MAKES_A_TABLE = ("CREATE", "REPLACE")


def _cluster_by_auto(tokens: Sequence[Token]) -> list[Edit]:
    """The clause is left out; blanks keep every other position."""
    if tokens[0].word not in _MAKES_A_TABLE:
        return []
    return [
        Edit(word.start, word.end, " " * len(word.text))
        for three in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if [t.word for t in three] == ["CLUSTER", "BY", "AUTO"]
        for word in three
    ]


def _alter_cluster_by_auto(cursor: Cursor) -> Outcome:
    cursor.need("ALTER", "TABLE")
    table = cursor.name()
    cursor.need("CLUSTER", "BY", "AUTO")
    cursor.end()
    return Command("require_table", {"table": table})


def _analyze(cursor: Cursor) -> Outcome:
    cursor.need("ANALYZE", "TABLE")
    table = cursor.name()
    cursor.finish()
    return Command("require_table", {"table": table})


def _show_create(cursor: Cursor) -> Outcome:
    cursor.need("SHOW", "CREATE", "TABLE")
    table = cursor.name(3)
    cursor.end()
    return Command("show_create_table", {"table": table})


def _clone(cursor: Cursor) -> Outcome:
    replace = cursor.words("CREATE", "OR", "REPLACE", "TABLE")
    if not replace:
        cursor.need("CREATE", "TABLE")
    if_not_exists = not replace and cursor.words("IF", "NOT", "EXISTS")
    target = cursor.name()
    cursor.words("DEEP")
    return Command(
        "deep_clone", {"replace": replace, "if_not_exists": if_not_exists, **_source(cursor, target)}
    )


def _replace_by_shallow_clone(cursor: Cursor) -> Outcome:
    cursor.need("CREATE", "OR", "REPLACE", "TABLE")
    target = cursor.name()
    cursor.need("SHALLOW")
    return Command("replace_by_shallow_clone", _source(cursor, target))


def _vacuum(cursor: Cursor) -> Outcome:
    """VACUUM t [FULL | LITE] [USING INVENTORY …] [RETAIN n HOURS] [DRY RUN]; Delta reads it once more."""
    begin = cursor.at
    cursor.need("VACUUM")
    table = cursor.name()
    hours, dry_run = None, False
    while cursor.next is not None:
        before = cursor.ahead(2)
        if before[0].word == "RETAIN" and len(before) == 2 and before[1].text.isdecimal():
            hours = float(before[1].text)
        dry_run = dry_run or [t.word for t in before] == ["DRY", "RUN"]
        cursor.at += 1
    arguments = {"table": table, "hours": hours, "dry_run": dry_run}
    return Command("vacuum", {**arguments, "text": cursor.text(begin)})


def _source(cursor: Cursor, target: list[str]) -> dict[str, Any]:
    """CLONE source, as of a version or a time."""
    cursor.need("CLONE")
    source = cursor.name()
    version = timestamp = None
    if cursor.words("VERSION", "AS", "OF"):
        version = cursor.integer()
    elif cursor.words("TIMESTAMP", "AS", "OF"):
        timestamp = cursor.string()
    cursor.end()
    return {"target": target, "source": source, "version": version, "timestamp": timestamp}


def _comment_on_column(cursor: Cursor) -> Outcome:
    """COMMENT ON COLUMN t.c IS '…' as ALTER TABLE t ALTER COLUMN c COMMENT '…'."""
    first = cursor.next
    cursor.need("COMMENT", "ON", "COLUMN")
    assert first is not None
    start = cursor.next
    *table, column = cursor.name(5)
    end = cursor.next
    cursor.need("IS")
    text = cursor.next
    if not cursor.words("NULL"):
        cursor.string()
    cursor.end()
    assert start is not None
    assert end is not None
    assert text is not None
    name = ".".join(f"`{part.replace('`', '``')}`" for part in table)
    quoted = column.replace("`", "``")
    edits = [Edit(first.start, end.end, f"ALTER TABLE {name} ALTER COLUMN `{quoted}` COMMENT")]
    if text.word == "NULL":
        edits.append(Edit(text.start, text.end, "''"))
    return Edits(tuple(edits))


CONSTRUCTS = (
    as_is("CREATE TABLE without columns", _AREA, "CREATE TABLE t"),
    as_is("CLUSTER BY", _AREA, "CREATE TABLE t (id INT) CLUSTER BY (id)"),
    Construct(
        "CLUSTER BY AUTO",
        _AREA,
        "rewritten",
        "CREATE TABLE t (id INT) CLUSTER BY AUTO",
        "left out: the platform's choice of keys is its own",
        edits=_cluster_by_auto,
    ),
    Construct(
        "ALTER TABLE … CLUSTER BY AUTO",
        _AREA,
        "added",
        "ALTER TABLE t CLUSTER BY AUTO",
        "changes nothing",
        ("ALTER",),
        _alter_cluster_by_auto,
    ),
    as_is("SHALLOW CLONE", _AREA, "CREATE TABLE u SHALLOW CLONE t"),
    Construct(
        "DEEP CLONE",
        _AREA,
        "added",
        "CREATE OR REPLACE TABLE u DEEP CLONE t",
        "a full copy in one commit: columns, comments, layout and properties; not the history",
        ("CREATE",),
        _clone,
    ),
    Construct(
        "CREATE OR REPLACE … SHALLOW CLONE",
        _AREA,
        "added",
        "CREATE OR REPLACE TABLE u SHALLOW CLONE t",
        "a full copy where the table is there already: Delta makes no shallow one over rows",
        ("CREATE",),
        _replace_by_shallow_clone,
        trigger=BEGINNING + r"create\s+or\s+replace\s+table\s.*\bshallow\s+clone\b",
    ),
    Construct(
        "COMMENT ON COLUMN",
        _AREA,
        "rewritten",
        "COMMENT ON COLUMN main.default.t.id IS 'key'",
        "ALTER TABLE … ALTER COLUMN … COMMENT",
        ("COMMENT",),
        _comment_on_column,
    ),
    Construct(
        "SHOW CREATE TABLE",
        _AREA,
        "added",
        "SHOW CREATE TABLE t",
        "of Delta tables and of views",
        ("SHOW",),
        _show_create,
        trigger=BEGINNING + r"show\s+create\s+table\b",
    ),
    Construct(
        "ANALYZE TABLE",
        _AREA,
        "added",
        "ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS",
        "changes nothing: Delta keeps the statistics that it uses by itself",
        ("ANALYZE",),
        _analyze,
        trigger=BEGINNING + r"analyze\s+table\b",
    ),
    Construct(
        "VACUUM",
        _AREA,
        "added",
        "VACUUM t RETAIN 240 HOURS",
        "Delta's own; it also trims what COPY INTO keeps of its loads",
        ("VACUUM",),
        _vacuum,
        trigger=BEGINNING + r"vacuum\b",
        test="tests/copy_into/test_keeping.py",
    ),
    as_is("COMMENT ON TABLE, SCHEMA", _AREA, "COMMENT ON TABLE t IS 'x'"),
    as_is("Identity and generated columns", _AREA, "CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY)"),
    as_is(
        "Table properties of Databricks", _AREA, "CREATE TABLE t TBLPROPERTIES ('delta.targetFileSize'='1mb')"
    ),
    as_is("CHECK constraints", _AREA, "ALTER TABLE t ADD CONSTRAINT positive CHECK (id > 0)"),
    as_is(
        "MERGE WITH SCHEMA EVOLUTION",
        _AREA,
        "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
    ),
    as_is("INSERT … REPLACE WHERE", _AREA, "INSERT INTO t REPLACE WHERE id = 1 SELECT 1"),
    as_is("INSERT … BY NAME", _AREA, "INSERT INTO t BY NAME SELECT 1 AS id"),
    refused("UNDROP", _AREA, "UNDROP TABLE t", "UNDROP", "a dropped table's files are gone."),
    refused(
        "FSCK REPAIR TABLE",
        _AREA,
        "FSCK REPAIR TABLE t",
        "FSCK",
        "RESTORE TABLE goes back to a whole version.",
    ),
    refused(
        "BLOOMFILTER INDEX",
        _AREA,
        "CREATE BLOOMFILTER INDEX ON TABLE t FOR COLUMNS (id)",
        "CREATE BLOOMFILTER INDEX",
        "CLUSTER BY is the recommended way on both sides.",
    ),
)
