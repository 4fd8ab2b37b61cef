"""Tables: clauses and statements beyond Spark's and Delta's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.quoting import quote_identifier, quote_name
from lakeward.spark_internals import delta_log, java_session, jvm_view, relation_kind
from lakeward.sql.construct import BEGINNING, Command, Construct, Edit, Edits, in_area, supported, unsupported
from lakeward.sql.constructs.catalogs import listed_schema
from lakeward.sql.constructs.partitions import file_relation
from lakeward.sql.constructs.temporary_tables import TEMPORARY_TABLES
from lakeward.sql.session_context import run_with_delta
from lakeward.sql.token_cursor import Token, TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def _cluster_by_auto(tokens: Sequence[Token]) -> list[Edit]:
    """Remove CLUSTER BY AUTO and NONE; blanks keep all other positions."""
    if tokens[0].word not in ("CREATE", "REPLACE"):
        return []
    return [
        Edit(word.start, word.end, " " * len(word.text))
        for three in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if [t.word for t in three] in (["CLUSTER", "BY", "AUTO"], ["CLUSTER", "BY", "NONE"])
        for word in three
    ]


@dataclass(frozen=True)
class RequireTable(Command):
    """Fails with Spark's error if the table or view does not exist, and has no other effect."""

    table: list[str]

    def run(self, spark: SparkSession) -> None:
        spark.table(quote_name(self.table))


def _alter_cluster_by_auto(cursor: TokenCursor) -> RequireTable:
    cursor.need("ALTER", "TABLE")
    table = cursor.name()
    cursor.need("CLUSTER", "BY", "AUTO")
    cursor.end()
    return RequireTable(table)


@dataclass(frozen=True)
class ComputeDeltaStatistics(Command):
    """Records minimum, maximum and null counts of the table's files again, in one commit."""

    table: list[str]

    def run(self, spark: SparkSession) -> None:
        name = quote_name(self.table)
        if file_relation(spark, self.table) is not None:
            raise SqlError(
                "DELTA_ONLY_OPERATION",
                "ANALYZE TABLE … COMPUTE DELTA STATISTICS is only supported for Delta tables.",
                sql_state="0AKDD",
            )
        location = spark.sql(f"DESCRIBE DETAIL {name}").first()["location"]  # type: ignore[index]
        jvm: Any = jvm_view(spark)
        statistics = getattr(
            getattr(jvm.org.apache.spark.sql.delta.stats, "StatisticsCollection$"), "MODULE$"
        )
        every_row = getattr(statistics, "recompute$default$4")()
        every_file = getattr(statistics, "recompute$default$5")()
        statistics.recompute(
            java_session(spark), delta_log(spark, location), jvm.scala.Option.empty(), every_row, every_file
        )


@dataclass(frozen=True)
class AnalyzeTable(Command):
    """Checks the table and the columns that statistics are wanted of; Delta maintains its own statistics.

    Conditions: Spark's AnalyzeTableCommand and AnalyzeColumnCommand.
    """

    table: list[str]
    columns: list[str] | None

    def run(self, spark: SparkSession) -> None:
        name = quote_name(self.table)
        found = spark.table(name)
        kind = relation_kind(spark, self.table, TEMPORARY_TABLES)
        if kind == "view":
            raise SqlError(
                "UNSUPPORTED_FEATURE.ANALYZE_VIEW", "ANALYZE TABLE does not support views.", parameters={}
            )
        if kind and self.columns is None:
            raise SqlError(
                "EXPECT_PERMANENT_VIEW_NOT_TEMP",
                f"'ANALYZE TABLE' expects a permanent view but {name} is a temp view.",
                parameters={"operation": "ANALYZE TABLE", "viewName": name},
            )
        if kind and not spark.catalog.isCached(name):
            raise SqlError(
                "UNSUPPORTED_FEATURE.ANALYZE_UNCACHED_TEMP_VIEW",
                f"ANALYZE TABLE FOR COLUMNS needs the view {name} in the cache.",
                parameters={"viewName": name},
            )
        known = {column.lower() for column in found.columns}
        for column in self.columns or ():
            if column.lower() not in known:
                raise SqlError(
                    "COLUMN_NOT_FOUND",
                    f"The column {quote_identifier(column)} cannot be found in {name}.",
                    parameters={
                        "colName": quote_identifier(column),
                        "caseSensitiveConfig": '"spark.sql.caseSensitive"',
                    },
                )


def _analyze(cursor: TokenCursor) -> AnalyzeTable | ComputeDeltaStatistics:
    cursor.need("ANALYZE", "TABLE")
    table = cursor.name()
    if cursor.words("COMPUTE", "DELTA", "STATISTICS"):
        if not cursor.words("NOSCAN") and cursor.words("FOR"):
            cursor.one_of("COLUMNS", "ALL")
            cursor.finish()
        cursor.end()
        return ComputeDeltaStatistics(table)
    cursor.skip_to("COMPUTE")
    cursor.need("COMPUTE", "STATISTICS")
    columns: list[str] | None = None
    if cursor.words("FOR", "ALL", "COLUMNS"):
        columns = []
    elif cursor.words("FOR", "COLUMNS"):
        columns = cursor.separated(cursor.part)
    else:
        cursor.words("NOSCAN")
    cursor.end()
    return AnalyzeTable(table, columns)


@dataclass(frozen=True)
class RequireSchema(Command):
    """Fails with Spark's error if the schema does not exist, and has no other effect."""

    schema: list[str] | None

    def run(self, spark: SparkSession) -> None:
        if self.schema is not None:
            run_with_delta(spark, f"DESCRIBE SCHEMA {quote_name(self.schema)}")


def _analyze_tables(cursor: TokenCursor) -> RequireSchema:
    cursor.need("ANALYZE", "TABLES")
    schema = listed_schema(cursor)
    cursor.need("COMPUTE", "STATISTICS")
    cursor.words("NOSCAN")
    cursor.end()
    return RequireSchema(schema)


def _comment_on_column(cursor: TokenCursor) -> Edits:
    """Rewrite COMMENT ON COLUMN t.c IS '…' as ALTER TABLE t ALTER COLUMN c COMMENT '…'."""
    first = cursor.next
    cursor.need("COMMENT", "ON", "COLUMN")
    *table, column = cursor.name(5)
    end = cursor.next
    cursor.need("IS")
    text = cursor.next
    if not cursor.words("NULL"):
        cursor.string()
    cursor.end()
    assert first is not None
    assert end is not None
    assert text is not None
    alter = f"ALTER TABLE {quote_name(table)} ALTER COLUMN {quote_identifier(column)} COMMENT"
    edits = [Edit(first.start, end.end, alter)]
    if text.word == "NULL":
        edits.append(Edit(text.start, text.end, "''"))
    return Edits(tuple(edits))


@dataclass(frozen=True)
class TrimLoadHistory(Command):
    """Removes expired load history of COPY INTO. Registered by the package that implements COPY INTO."""

    table: list[str]
    hours: float | None


@dataclass(frozen=True)
class Vacuum(Command):
    """Runs Delta's VACUUM, then trims the load history of COPY INTO."""

    table: list[str]
    hours: float | None
    dry_run: bool
    text: str

    def run(self, spark: SparkSession) -> DataFrame:
        rows = run_with_delta(spark, self.text)
        if not self.dry_run:
            TrimLoadHistory(self.table, self.hours).run(spark)
        return rows


def _vacuum(cursor: TokenCursor) -> Vacuum:
    """Parse VACUUM t [FULL | LITE] [USING INVENTORY …] [RETAIN n HOURS] [DRY RUN]; Delta parses it again."""
    cursor.need("VACUUM")
    table = cursor.name()
    options = cursor.at
    hours, dry_run = None, False
    while cursor.next is not None:
        ahead = cursor.ahead(2)
        if ahead[0].word == "RETAIN" and len(ahead) == 2 and ahead[1].text.isdecimal():
            hours = float(ahead[1].text)
        dry_run = dry_run or [t.word for t in ahead] == ["DRY", "RUN"]
        cursor.at += 1
    # Quotes: names such as `version` are keywords of Delta's grammar.
    return Vacuum(table, hours, dry_run, f"VACUUM {quote_name(table)} {cursor.text(options)}".rstrip())


CONSTRUCTS = in_area(
    "Tables",
    supported("CREATE TABLE without columns", "CREATE TABLE t"),
    supported("CLUSTER BY", "CREATE TABLE t (id INT) CLUSTER BY (id)"),
    supported(
        "COLLATE, DEFAULT COLLATION of tables, views and schemas",
        "CREATE TABLE t (name STRING COLLATE UTF8_LCASE) DEFAULT COLLATION UNICODE_CI",
        "tables, views and functions without one have that of their schema",
    ),
    Construct(
        name="CLUSTER BY AUTO, NONE",
        verdict="rewritten",
        example="CREATE TABLE t (id INT) CLUSTER BY AUTO",
        note="removed: only the platform chooses clustering keys automatically",
        edits=_cluster_by_auto,
    ),
    Construct(
        name="ALTER TABLE … CLUSTER BY AUTO",
        example="ALTER TABLE t CLUSTER BY AUTO",
        note="has no effect",
        statement=_alter_cluster_by_auto,
    ),
    Construct(
        name="COMMENT ON COLUMN",
        verdict="rewritten",
        example="COMMENT ON COLUMN main.default.t.id IS 'key'",
        note="ALTER TABLE … ALTER COLUMN … COMMENT",
        statement=_comment_on_column,
    ),
    Construct(
        name="ANALYZE TABLE",
        example="ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS",
        note="COMPUTE DELTA STATISTICS records those of all files; else no effect: Delta maintains its own",
        statement=_analyze,
        trigger=BEGINNING + r"analyze\s+table\b",
    ),
    Construct(
        name="ANALYZE TABLES",
        example="ANALYZE TABLES IN main.default COMPUTE STATISTICS",
        note="no effect: Delta maintains its own statistics",
        statement=_analyze_tables,
        trigger=BEGINNING + r"analyze\s+tables\b",
    ),
    Construct(
        name="VACUUM",
        example="VACUUM t RETAIN 240 HOURS",
        note="Delta's VACUUM; also removes expired load history of COPY INTO",
        statement=_vacuum,
        trigger=BEGINNING + r"vacuum\b",
        test="tests/copy_into/test_history_upkeep.py",
    ),
    supported("COMMENT ON TABLE, SCHEMA", "COMMENT ON TABLE t IS 'x'"),
    supported("Identity and generated columns", "CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY)"),
    supported(
        "Table properties of Databricks", "CREATE TABLE t TBLPROPERTIES ('delta.targetFileSize'='1mb')"
    ),
    supported(
        "Table features of Databricks",
        "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.feature.catalogManaged'='supported')",
    ),
    supported(
        "UniForm",
        "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.universalFormat.enabledFormats'='iceberg')",
        "the property is stored; no Iceberg metadata is written",
    ),
    supported("CHECK constraints", "ALTER TABLE t ADD CONSTRAINT positive CHECK (id > 0)"),
    supported(
        "MERGE WITH SCHEMA EVOLUTION",
        "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
    ),
    supported("INSERT … REPLACE WHERE", "INSERT INTO t REPLACE WHERE id = 1 SELECT 1"),
    supported("INSERT … BY NAME", "INSERT INTO t BY NAME SELECT 1 AS id"),
    unsupported(
        "FSCK REPAIR TABLE",
        example="FSCK REPAIR TABLE t",
        starts="FSCK",
        reason="RESTORE TABLE restores an earlier version.",
    ),
)
