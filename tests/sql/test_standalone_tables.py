"""Standalone materialized views and streaming tables: statements outside of pipelines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.file_lock import FileLock
from lakeward.pipelines.execution import standalone
from lakeward.session import Settings, condition_of, current_settings, temporary_conf
from lakeward.sql import Refusal, StandaloneTable, rewrite
from lakeward.sql.constructs.materialized_views import CreateStandaloneTable, RefreshStandaloneTable

Rows = Callable[[str], list[tuple[Any, ...]]]
SCHEMA = "main.standalone"


@pytest.fixture
def sql(spark: SparkSession) -> Iterator[Rows]:
    """Run a statement and return its sorted rows; `t` has ten rows with three keys."""
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    spark.sql(f"USE {SCHEMA}")
    spark.sql("CREATE TABLE t AS SELECT id, id % 3 AS k FROM range(10)")
    yield lambda text: sorted((tuple(row) for row in spark.sql(text).collect()), key=repr)
    spark.sql("USE main.default")


def condition(sql: Rows, text: str) -> str | None:
    with pytest.raises(PySparkException) as caught:
        sql(text)
    return condition_of(caught.value)


COUNTS = "SELECT k, count(*) AS n FROM t GROUP BY k"
TEN = [(0, 4), (1, 3), (2, 3)]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE MATERIALIZED VIEW c.s.m AS SELECT 1",
        "create or replace materialized view c.s.m as select 1",
        "CREATE OR REFRESH /* x */ MATERIALIZED VIEW c.s.m SELECT 1",
        "-- a comment\nCREATE MATERIALIZED VIEW IF NOT EXISTS c.s.m COMMENT 'x' AS SELECT 1;",
        "CREATE STREAMING TABLE IDENTIFIER('c.s.m') AS SELECT * FROM STREAM t",
        "CREATE OR REFRESH STREAMING TABLE c.s.m (id INT)",
    ],
)
def test_every_spelling_of_create_is_read(text: str) -> None:
    command = rewrite(text)
    assert isinstance(command, CreateStandaloneTable)
    assert command.table == ["c", "s", "m"]
    assert command.or_replace == (" OR " in text.upper())
    assert command.if_not_exists == ("IF NOT" in text)


@pytest.mark.parametrize("kind", ["MATERIALIZED VIEW", "STREAMING TABLE", "TABLE"])
@pytest.mark.parametrize("full", ["", " FULL"])
@pytest.mark.parametrize("wait", ["", " SYNC", " ASYNC"])
def test_every_spelling_of_refresh_is_read(kind: str, full: str, wait: str) -> None:
    command = rewrite(f"REFRESH {kind} `m m`{full}{wait};")
    assert isinstance(command, RefreshStandaloneTable)
    assert (command.table, command.full) == (["m m"], bool(full))


def test_a_streaming_table_cannot_be_replaced() -> None:
    refusal = rewrite("CREATE OR REPLACE STREAMING TABLE s AS SELECT * FROM STREAM t")
    assert isinstance(refusal, Refusal)
    assert refusal.condition == "STREAMING_TABLE_OPERATION_NOT_ALLOWED.CREATE_OR_REPLACE"


def test_a_view_follows_its_source_with_each_refresh(sql: Rows) -> None:
    sql(f"CREATE MATERIALIZED VIEW m COMMENT 'counts' AS {COUNTS}")
    sql("INSERT INTO t SELECT id, 7 FROM range(2)")
    assert sql("SELECT * FROM m") == TEN
    sql("REFRESH MATERIALIZED VIEW m")
    assert sql("SELECT * FROM m") == [*TEN, (7, 2)]
    sql("DELETE FROM t WHERE k = 1")
    sql("REFRESH TABLE m FULL")
    assert sql("SELECT * FROM m") == [(0, 4), (2, 3), (7, 2)]
    assert condition(sql, "CREATE MATERIALIZED VIEW m AS SELECT 1") == "TABLE_OR_VIEW_ALREADY_EXISTS"
    sql("CREATE MATERIALIZED VIEW IF NOT EXISTS m AS SELECT 1 AS other")
    assert sql("SELECT * FROM m WHERE k = 7") == [(7, 2)]
    sql("CREATE OR REPLACE MATERIALIZED VIEW m AS SELECT max(id) AS top FROM t")
    assert sql("SELECT * FROM m") == [(9,)]


def test_a_streaming_table_reads_each_row_once(sql: Rows) -> None:
    sql("CREATE OR REFRESH STREAMING TABLE s AS SELECT id FROM STREAM t WHERE k = 0")
    sql("INSERT INTO t VALUES (100, 0), (101, 1)")
    assert sql("SELECT id FROM s") == [(0,), (3,), (6,), (9,)]
    sql("REFRESH STREAMING TABLE s")
    assert (100,) in sql("SELECT id FROM s")
    # Running its definition again processes what is new, as REFRESH does.
    sql("INSERT INTO t VALUES (102, 0)")
    sql("CREATE OR REFRESH STREAMING TABLE s AS SELECT id FROM STREAM t WHERE k = 0")
    assert sql("SELECT count(*), count(DISTINCT id) FROM s") == [(6, 6)]
    sql("REFRESH STREAMING TABLE s FULL")
    assert sql("SELECT count(*), count(DISTINCT id) FROM s") == [(6, 6)]


@pytest.mark.slow
def test_a_dropped_table_leaves_no_progress_behind(sql: Rows) -> None:
    for _ in range(2):
        sql("CREATE STREAMING TABLE s AS SELECT id FROM STREAM t")
        assert sql("SELECT count(*) FROM s") == [(10,)]
        sql("DROP TABLE s")
    sql(f"CREATE MATERIALIZED VIEW m AS {COUNTS}")
    sql("DROP MATERIALIZED VIEW m")
    assert condition(sql, "DROP MATERIALIZED VIEW m") == "TABLE_OR_VIEW_NOT_FOUND"
    sql("DROP MATERIALIZED VIEW IF EXISTS m")
    assert not (current_settings().pipelines / "MV-main.standalone.m").exists()  # type: ignore[union-attr]


def test_expectations_keys_and_auto_cdc_work_as_in_pipelines(sql: Rows) -> None:
    sql(
        "CREATE MATERIALIZED VIEW m"
        " (k COMMENT 'the key', n, CONSTRAINT many EXPECT (n > 3) ON VIOLATION DROP ROW)"
        f" TBLPROPERTIES ('team' = 'x') AS {COUNTS}"
    )
    assert sql("SELECT * FROM m") == [(0, 4)]
    assert sql("SHOW TBLPROPERTIES m ('team')") == [("team", "x")]
    sql("CREATE STREAMING TABLE latest FLOW AUTO CDC FROM STREAM(t) KEYS (k) SEQUENCE BY id")
    assert sql("SELECT k, id FROM latest") == [(0, 9), (1, 7), (2, 8)]
    sql("INSERT INTO t VALUES (50, 1)")
    sql("REFRESH STREAMING TABLE latest")
    assert sql("SELECT k, id FROM latest") == [(0, 9), (1, 50), (2, 8)]


FAILING = [
    ("CREATE MATERIALIZED VIEW m AS SELECT * FROM nope", "TABLE_OR_VIEW_NOT_FOUND"),
    ("CREATE MATERIALIZED VIEW m AS SELECT nope FROM t", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ("CREATE MATERIALIZED VIEW m AS SELECT id / 0 AS x FROM t", "DIVIDE_BY_ZERO"),
    ("CREATE MATERIALIZED VIEW m AS SELEC 1", "PARSE_SYNTAX_ERROR"),
    ("CREATE MATERIALIZED VIEW m FOO AS SELECT 1", "PARSE_SYNTAX_ERROR"),
    ("CREATE MATERIALIZED VIEW nowhere.m AS SELECT 1", "SCHEMA_NOT_FOUND"),
    ("CREATE STREAMING TABLE m AS SELECT * FROM t", "STREAMING_TABLE_QUERY_INVALID"),
    ("CREATE MATERIALIZED VIEW m AS SELECT * FROM temporary", "TABLE_OR_VIEW_NOT_FOUND"),
]


def test_a_definition_that_fails_creates_nothing(sql: Rows, spark: SparkSession) -> None:
    spark.range(1).createOrReplaceTempView("temporary")
    before = sql("SHOW TABLES")
    for text, expected in FAILING:
        assert condition(sql, text) == expected, text
        assert not list(current_settings().pipelines.glob("*main.standalone.m"))  # type: ignore[union-attr]
    assert sql("SHOW TABLES") == before


def test_a_failed_replacement_leaves_rows_and_definition(sql: Rows) -> None:
    sql(f"CREATE MATERIALIZED VIEW m AS {COUNTS}")
    for text in ("SELECT nope FROM t", "SELECT id / 0 AS x FROM t"):
        condition(sql, f"CREATE OR REPLACE MATERIALIZED VIEW m AS {text}")
        assert sql("SELECT * FROM m") == TEN
    sql("INSERT INTO t VALUES (1, 9)")
    sql("REFRESH MATERIALIZED VIEW m")
    assert sql("SELECT * FROM m") == [*TEN, (9, 1)]


def test_errors_name_the_line_of_the_statement(sql: Rows) -> None:
    with pytest.raises(PySparkException, match=r"line 3:8: .*`nope`"):
        sql("CREATE MATERIALIZED VIEW m\n  SCHEDULE EVERY 1 DAY AS\nSELECT nope\nFROM t")


REFUSED = [
    ("REFRESH MATERIALIZED VIEW t", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW"),
    ("REFRESH MATERIALIZED VIEW s", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW"),
    ("REFRESH STREAMING TABLE t", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE"),
    ("REFRESH TABLE t FULL", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE"),
    ("REFRESH STREAMING TABLE nope", "TABLE_OR_VIEW_NOT_FOUND"),
    ("REFRESH TABLE nope", "TABLE_OR_VIEW_NOT_FOUND"),
    ("REFRESH MATERIALIZED VIEW no.nope", "TABLE_OR_VIEW_NOT_FOUND"),
    (
        "CREATE OR REPLACE MATERIALIZED VIEW t AS SELECT 1",
        "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW",
    ),
    (
        "CREATE OR REFRESH STREAMING TABLE t AS SELECT * FROM STREAM s",
        "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE",
    ),
    *(
        (f"ALTER {kind} {table} {change}", f"{condition}.NON_{kind.replace(' ', '_')}")
        for kind, condition, table in (
            ("MATERIALIZED VIEW", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED", "s"),
            ("MATERIALIZED VIEW", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED", "t"),
            ("STREAMING TABLE", "STREAMING_TABLE_OPERATION_NOT_ALLOWED", "t"),
        )
        for change in ("SET TAGS ('a')", "UNSET TAGS ('a')", "OWNER TO x", "ALTER COLUMN id SET TAGS ('a')")
    ),
    ("DROP MATERIALIZED VIEW s", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW"),
    (
        "ALTER STREAMING TABLE t DROP SCHEDULE",
        "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE",
    ),
    ("ALTER MATERIALIZED VIEW nope DROP SCHEDULE", "TABLE_OR_VIEW_NOT_FOUND"),
]


def test_statements_on_other_tables_are_refused(sql: Rows) -> None:
    sql("CREATE STREAMING TABLE s AS SELECT id FROM STREAM t")
    for text, expected in REFUSED:
        assert condition(sql, text) == expected, text
    assert sql("SELECT count(*) FROM t") == [(10,)]


def test_refresh_of_an_ordinary_table_is_sparks_own_statement(sql: Rows) -> None:
    sql("REFRESH TABLE t")
    sql(f"REFRESH TABLE {SCHEMA}.t")


@pytest.mark.parametrize("name", ["v", f"{SCHEMA}.v", "temporary", "files"])
def test_refresh_of_a_view_or_of_files_reads_what_is_cached_again(sql: Rows, name: str) -> None:
    sql("CREATE TABLE files (id INT) USING parquet")
    sql("CREATE VIEW v AS SELECT id FROM files")
    sql("CREATE TEMPORARY VIEW temporary AS SELECT id FROM files")
    sql(f"CACHE TABLE {name}")
    sql("INSERT INTO files VALUES (1)")
    sql(f"REFRESH TABLE {name}")
    assert sql(f"SELECT id FROM {name}") == [(1,)]
    sql(f"UNCACHE TABLE {name}")
    sql("DROP VIEW temporary")


def test_schedules_are_kept_and_shown(
    sql: Rows, spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    def shown(name: str) -> str:
        return {row[0]: row[1] for row in sql(f"DESCRIBE EXTENDED {name}")}["Refresh Schedule"]

    text = f"CREATE MATERIALIZED VIEW m SCHEDULE EVERY 1 HOUR COMMENT 'c' AS {COUNTS}"
    sql(text)
    assert shown("m") == "EVERY 1 HOUR"
    assert not caplog.messages
    sql("ALTER MATERIALIZED VIEW m ALTER SCHEDULE CRON '0 0 * * * ?' AT TIME ZONE 'UTC'")
    assert shown("m") == "CRON '0 0 * * * ?' AT TIME ZONE 'UTC'"
    sql("REFRESH MATERIALIZED VIEW m")
    assert shown("m").startswith("CRON")
    sql("ALTER MATERIALIZED VIEW m ALTER SCHEDULE REFRESH CRON '0 0 * * * ?'")
    assert shown("m") == f"CRON '0 0 * * * ?' AT TIME ZONE '{spark.conf.get('spark.sql.session.timeZone')}'"
    sql("ALTER MATERIALIZED VIEW m DROP SCHEDULE")
    assert shown("m") == "MANUAL"
    sql("CREATE STREAMING TABLE s TRIGGER ON UPDATE AT MOST EVERY INTERVAL 1 HOUR AS SELECT id FROM STREAM t")
    assert shown("s") == "TRIGGER ON UPDATE AT MOST EVERY INTERVAL 1 HOUR"
    assert sql("SHOW CREATE TABLE m") == [(text,)]
    described = {row[0]: row[1] for row in sql("DESC TABLE FORMATTED m")}
    assert described["Latest Refresh Status"] == "COMPLETED"
    assert described["View Text"] == COUNTS
    assert "Refresh Schedule" not in {row[0] for row in sql("DESCRIBE EXTENDED t")}


WRONG_SCHEDULES = [
    ("SCHEDULE CRON 'foo'", "INVALID_CRON_EXPRESSION"),
    ("SCHEDULE CRON ''", "INVALID_CRON_EXPRESSION"),
    ("SCHEDULE REFRESH CRON '0 0 * * *'", "INVALID_CRON_EXPRESSION"),
    ("SCHEDULE CRON '0 0 25 * * ?'", "INVALID_CRON_EXPRESSION"),
    ("SCHEDULE CRON '0 0 * * * *'", "INVALID_CRON_EXPRESSION"),
    ("SCHEDULE CRON '0 0 * * * ?' AT TIME ZONE 'Europe/Nowhere'", "INVALID_TIMEZONE"),
    ("SCHEDULE EVERY 0 HOURS", "SCHEDULE_PERIOD_INVALID"),
    ("SCHEDULE EVERY 73 HOURS", "SCHEDULE_PERIOD_INVALID"),
    ("SCHEDULE EVERY 32 DAYS", "SCHEDULE_PERIOD_INVALID"),
    ("schedule every 9 weeks", "SCHEDULE_PERIOD_INVALID"),
    ("SCHEDULE EVERY 5 PARSECS", "PARSE_SYNTAX_ERROR"),
    ("SCHEDULE every hour", "PARSE_SYNTAX_ERROR"),
    ("SCHEDULE at noon", "PARSE_SYNTAX_ERROR"),
    ("SCHEDULE", "PARSE_SYNTAX_ERROR"),
    ("TRIGGER ON CHANGE", "PARSE_SYNTAX_ERROR"),
    ("TRIGGER ON UPDATE AT MOST EVERY 1 HOUR", "PARSE_SYNTAX_ERROR"),
    ("TRIGGER ON UPDATE AT MOST EVERY INTERVAL 1", "PARSE_SYNTAX_ERROR"),
]
RIGHT_SCHEDULES = [
    "EVERY 72 HOURS",
    "EVERY 31 DAYS",
    "EVERY 8 WEEKS",
    "CRON '0 0 0 L * ? 2030' AT TIME ZONE 'Europe/Vienna'",
    "CRON '0 0 6 ? * MON-FRI' AT TIME ZONE 'GMT+2'",
    "CRON '0 0 6 ? * MON-FRI' AT TIME ZONE '+02:00'",
]


def test_wrong_schedules_fail_in_every_statement(sql: Rows) -> None:
    for kind, query in (
        ("MATERIALIZED VIEW", "SELECT id FROM t"),
        ("STREAMING TABLE", "SELECT id FROM STREAM t"),
    ):
        sql(f"CREATE OR REFRESH {kind} {kind[0]} AS {query}")
        for clause, expected in WRONG_SCHEDULES:
            for action in ("ADD", "ALTER"):
                text = f"ALTER {kind} {kind[0]} {action} {clause}"
                assert condition(sql, text) == expected, text
            text = f"CREATE {kind} new {clause} AS {query}"
            assert condition(sql, text) == expected, text
        for clause in ("SCHEDULE now", "TRIGGER", "TRIGGER ON", "SCHEDULE EVERY 1 HOUR"):
            assert condition(sql, f"ALTER {kind} {kind[0]} DROP {clause}") == "PARSE_SYNTAX_ERROR"
        described = {row[0]: row[1] for row in sql(f"DESCRIBE EXTENDED {kind[0]}")}
        assert described["Refresh Schedule"] == "MANUAL"


def test_a_schedule_is_added_to_a_table_without_one(sql: Rows) -> None:
    def shown() -> str:
        return {row[0]: row[1] for row in sql("DESCRIBE EXTENDED m")}["Refresh Schedule"]

    sql("CREATE MATERIALIZED VIEW m AS SELECT id FROM t")
    for clause in RIGHT_SCHEDULES:
        sql(f"ALTER MATERIALIZED VIEW m ADD SCHEDULE {clause}")
        assert shown() == clause
        for other in ("SCHEDULE EVERY 1 DAY", "TRIGGER ON UPDATE"):
            assert condition(sql, f"ALTER MATERIALIZED VIEW m ADD {other}") == "SCHEDULE_ALREADY_EXISTS"
        assert shown() == clause
        sql("ALTER MATERIALIZED VIEW m ALTER TRIGGER ON UPDATE")
        sql("ALTER MATERIALIZED VIEW m DROP TRIGGER ON UPDATE")
        assert shown() == "MANUAL"


def _relations(sql: Rows, relation: str, columns: str) -> list[tuple[Any, ...]]:
    catalog, schema = SCHEMA.split(".")
    return sql(
        f"SELECT {columns} FROM {catalog}.information_schema.{relation} WHERE table_schema = '{schema}'"
    )


def test_types_and_queries_are_in_the_information_schema(sql: Rows) -> None:
    """Types: https://docs.databricks.com/sql/language-manual/information-schema/tables.html."""
    sql(f"CREATE MATERIALIZED VIEW m COMMENT 'c' AS\n  {COUNTS}")
    sql("CREATE STREAMING TABLE s AS SELECT id FROM STREAM t")
    sql("CREATE VIEW v AS SELECT 1 AS one")
    assert _relations(sql, "tables", "table_name, table_type, is_insertable_into") == [
        ("m", "MATERIALIZED_VIEW", "NO"),
        ("s", "STREAMING_TABLE", "YES"),
        ("t", "MANAGED", "YES"),
        ("v", "VIEW", "NO"),
    ]
    assert _relations(sql, "views", "table_name, view_definition, is_materialized") == [
        ("m", COUNTS, "true"),
        ("v", "SELECT 1 AS one", "false"),
    ]
    sql("CREATE OR REPLACE MATERIALIZED VIEW m AS SELECT 2 AS two")
    sql("DROP TABLE s")
    assert _relations(sql, "views", "view_definition")[1:] == [("SELECT 2 AS two",)]
    assert ("s",) not in _relations(sql, "tables", "table_name")


DATASETS = {
    "MATERIALIZED_VIEW": f"CREATE MATERIALIZED VIEW d TBLPROPERTIES ('team' = 'x') AS {COUNTS}",
    "STREAMING_TABLE": "CREATE STREAMING TABLE d TBLPROPERTIES ('team' = 'x') AS SELECT id FROM STREAM t",
}
SHOWN = {
    "SHOW TBLPROPERTIES d": lambda rows: dict(rows),
    "DESCRIBE EXTENDED d": lambda rows: dict(
        each.split("=", 1)
        for name, value, _ in rows
        if name == "Table Properties"
        for each in value.strip("[]").split(",")
    ),
    "DESCRIBE DETAIL d": lambda rows: next(each for each in rows[0] if isinstance(each, dict)),
    "DESCRIBE TABLE EXTENDED d AS JSON": lambda rows: json.loads(rows[0][0])["table_properties"],
}


@pytest.mark.parametrize("statement", SHOWN)
@pytest.mark.parametrize("kind", DATASETS)
def test_properties_of_the_runtime_are_not_shown(sql: Rows, kind: str, statement: str) -> None:
    """Clients, such as dbt, compare the properties with the declared ones."""
    sql(DATASETS[kind])
    shown = SHOWN[statement](sql(statement))
    # Delta's own properties: DESCRIBE DETAIL does not count features among them.
    assert shown["team"] == "x"
    assert {key for key in shown if not key.startswith(("delta.feature.", "delta.min"))} <= {
        "team",
        "pipelines.pipelineId",
        "delta.enableDeletionVectors",
        "delta.enableRowTracking",
        *(key for key in shown if key.startswith("delta.rowTracking.materialized")),
    }


@pytest.mark.parametrize("kind", DATASETS)
def test_descriptions_name_the_type(sql: Rows, kind: str) -> None:
    sql(DATASETS[kind])
    types = [row[1] for row in sql("DESCRIBE EXTENDED d") if row[0] == "Type"]
    assert types == [kind]
    assert json.loads(sql("DESCRIBE EXTENDED d AS JSON")[0][0])["type"] == kind


def test_a_statement_sees_no_settings_and_views_of_its_session(sql: Rows, spark: SparkSession) -> None:
    spark.range(3).createOrReplaceTempView("t")  # hides the table in this session
    try:
        sql("CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t")
        assert sql("SELECT n FROM m") == [(10,)]
    finally:
        spark.catalog.dropTempView("t")
    assert spark.catalog.currentDatabase() == "standalone"


def test_short_names_keep_the_schema_of_the_definition(sql: Rows) -> None:
    sql(f"CREATE MATERIALIZED VIEW {SCHEMA}.m AS SELECT count(*) AS n FROM t")
    sql("USE main.default")
    sql("INSERT INTO main.standalone.t VALUES (1, 1)")
    sql(f"REFRESH MATERIALIZED VIEW {SCHEMA}.m")
    assert sql(f"SELECT n FROM {SCHEMA}.m") == [(11,)]


def test_a_table_of_a_pipeline_is_refused(sql: Rows, spark: SparkSession) -> None:
    sql(f"CREATE MATERIALIZED VIEW m AS {COUNTS}")
    sql("CREATE STREAMING TABLE s AS SELECT id FROM STREAM t")
    for name in ("m", "s"):
        with temporary_conf(spark, {"pipelines.id": "daily"}):
            spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('pipelines.pipelineId' = 'daily')")
    assert condition(sql, "REFRESH MATERIALIZED VIEW m").endswith(".REPLACE_DELTA_LIVE_TABLE")  # type: ignore[union-attr]
    assert condition(sql, "REFRESH STREAMING TABLE s").endswith(".REFRESH_DELTA_LIVE_TABLE")  # type: ignore[union-attr]


def test_a_pipeline_creates_no_standalone_table(sql: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standalone, "active_reader", lambda _: object())
    assert (
        condition(sql, f"CREATE MATERIALIZED VIEW m AS {COUNTS}") == "UNSUPPORTED_PIPELINE_SPARK_SQL_COMMAND"
    )


def test_an_interrupted_creation_is_repeated(
    sql: Rows, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies leaves a definition without rows: the next statement creates the table."""
    sql(f"CREATE MATERIALIZED VIEW m AS {COUNTS}")
    definition = current_settings().pipelines / "MV-main.standalone.m" / "definition.json"  # type: ignore[union-attr]
    assert json.loads(definition.read_text())["latest"]["state"] == "COMPLETED"
    with temporary_conf(spark, {"pipelines.id": "m"}):
        sql("DROP TABLE m")
    assert definition.exists()
    sql("CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t")
    assert sql("SELECT * FROM m") == [(10,)]


@pytest.fixture
def meanwhile(sql: Rows, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Run a statement, as another process would, while the next one waits for the table's lock."""
    lock = StandaloneTable.lock

    def before_the_lock(statement: str) -> None:
        def locked(table: StandaloneTable, settings: Settings) -> FileLock:
            monkeypatch.setattr(StandaloneTable, "lock", lock)
            sql(statement)
            return lock(table, settings)

        monkeypatch.setattr(StandaloneTable, "lock", locked)

    return before_the_lock


def test_a_refresh_that_had_to_wait_runs_the_definition_of_then(
    sql: Rows, meanwhile: Callable[[str], None]
) -> None:
    sql("CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t")
    meanwhile("CREATE OR REPLACE MATERIALIZED VIEW m AS SELECT max(id) AS top FROM t")
    sql("REFRESH MATERIALIZED VIEW m")
    sql("REFRESH MATERIALIZED VIEW m")
    assert sql("SELECT top FROM m") == [(9,)]


def test_a_refresh_does_not_make_a_table_again_that_was_dropped_while_it_waited(
    sql: Rows, spark: SparkSession, meanwhile: Callable[[str], None]
) -> None:
    sql("CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t")
    meanwhile("DROP MATERIALIZED VIEW m")
    with pytest.raises(PySparkException, match="TABLE_OR_VIEW_NOT_FOUND"):
        sql("REFRESH MATERIALIZED VIEW m")
    assert not spark.catalog.tableExists("main.standalone.m")


def test_a_view_is_dropped_after_the_refresh_that_runs(
    sql: Rows, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, exists = StandaloneTable.lock, []

    def noted(table: StandaloneTable, settings: Settings) -> FileLock:
        exists.append(spark.catalog.tableExists("main.standalone.m"))
        return lock(table, settings)

    sql("CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t")
    monkeypatch.setattr(StandaloneTable, "lock", noted)
    sql("DROP MATERIALIZED VIEW m")
    assert exists == [True]
    assert not spark.catalog.tableExists("main.standalone.m")


def test_the_event_log_is_found_by_the_table(sql: Rows) -> None:
    sql(f"CREATE MATERIALIZED VIEW m AS {COUNTS}")
    assert ("create_update",) in sql("SELECT DISTINCT event_type FROM event_log(TABLE(main.standalone.m))")


EXPLAINED = [
    (
        "SELECT k, count(*) AS n FROM t GROUP BY k",
        ["yes", "GROUP_AGGREGATE, GENERIC_AGGREGATE", "GROUP_AGGREGATE, GENERIC_AGGREGATE"],
    ),
    ("SELECT id FROM t WHERE k = 1", ["yes", "APPEND_ONLY", "ROW_BASED"]),
    ("SELECT id, current_date() AS d FROM t", ["no", "PLAN_NOT_DETERMINISTIC"]),
    ("SELECT id FROM t LIMIT 3", ["no", "LIMIT"]),
    ("SELECT count(*) AS n FROM t", ["yes", "GROUP_AGGREGATE", "GROUP_AGGREGATE"]),
    ("SELECT id FROM t WHERE date_add(DATE'2024-01-01', 1) > current_date()", ["yes", "APPEND_ONLY"]),
]


# Clauses of the declaration before AS, and what they change.
EXPLAINED_CLAUSES = [
    ("PARTITIONED BY (k)", ["yes", "GROUP_AGGREGATE, GENERIC_AGGREGATE, PARTITION_OVERWRITE"]),
    ("(key, n) PARTITIONED BY (key)", ["yes", "PARTITION_OVERWRITE", "PARTITION_OVERWRITE"]),
    ("PARTITIONED BY (n)", ["yes", *["GROUP_AGGREGATE, GENERIC_AGGREGATE"] * 2]),
    ("WITH ROW FILTER f ON (k)", ["no", "row filter"]),
]


@pytest.mark.parametrize(("clauses", "expected"), EXPLAINED_CLAUSES)
def test_explain_takes_the_declaration_into_account(sql: Rows, clauses: str, expected: list[str]) -> None:
    ((text,),) = sql(f"EXPLAIN CREATE MATERIALIZED VIEW m {clauses} AS {COUNTS}")
    lines = text.splitlines()
    assert lines[0] == f"Incremental refresh: {expected[0]}"
    assert all(words in line for words, line in zip(expected[1:], lines[1:], strict=False)), text
    assert ("PARTITION_OVERWRITE" in text) == ("PARTITION_OVERWRITE" in str(expected))


def test_explain_names_the_techniques_or_the_reasons(sql: Rows) -> None:
    before = sql("SHOW TABLES")
    for query, expected in EXPLAINED:
        ((text,),) = sql(f"EXPLAIN CREATE MATERIALIZED VIEW m AS {query}")
        lines = text.splitlines()
        assert lines[0] == f"Incremental refresh: {expected[0]}"
        assert all(words in line for words, line in zip(expected[1:], lines[1:], strict=False)), text
    assert condition(sql, "EXPLAIN CREATE MATERIALIZED VIEW m AS SELECT nope FROM t") is not None
    assert sql("SHOW TABLES") == before


def test_a_view_is_refreshed_incrementally(sql: Rows) -> None:
    sql(f"CREATE MATERIALIZED VIEW m AS {COUNTS}")
    sql("INSERT INTO t VALUES (100, 0)")
    sql("REFRESH MATERIALIZED VIEW m")
    assert sql("SELECT * FROM m") == [(0, 5), (1, 3), (2, 3)]
    techniques = sql(
        "SELECT details:planning_information:technique_information[0]:maintenance_type AS t"
        " FROM event_log(TABLE(main.standalone.m)) WHERE event_type = 'planning_information'"
    )
    assert ("MAINTENANCE_TYPE_GROUP_AGGREGATE",) in techniques


REFRESH = "REFRESH MATERIALIZED VIEW IDENTIFIER(:name)"


def _in_thread(spark: SparkSession, name: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: spark.sql(f"REFRESH MATERIALIZED VIEW {name}").collect()).result()


ENTRIES: dict[str, Callable[[SparkSession, str], object]] = {
    "spark.sql": lambda spark, name: spark.sql(f"REFRESH MATERIALIZED VIEW {name}").collect(),
    "named arguments": lambda spark, name: spark.sql(REFRESH, args={"name": name}).collect(),
    "positional arguments": lambda spark, name: spark.sql(
        REFRESH.replace(":name", "?"), args=[name]
    ).collect(),
    "EXECUTE IMMEDIATE": lambda spark, name: spark.sql(
        f"EXECUTE IMMEDIATE 'REFRESH MATERIALIZED VIEW {name}'"
    ).collect(),
    "another session": lambda spark, name: (
        spark.newSession().sql(f"REFRESH MATERIALIZED VIEW {name}").collect()
    ),
    "another thread": _in_thread,
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_point_runs_the_statements(sql: Rows, spark: SparkSession, entry: str) -> None:
    sql("CREATE MATERIALIZED VIEW m AS SELECT k FROM t WHERE id > 8")
    sql("INSERT INTO t VALUES (20, 7)")
    ENTRIES[entry](spark, f"{SCHEMA}.m")
    assert sql("SELECT * FROM m") == [(0,), (7,)]


def test_statements_of_other_sessions_run_during_an_update(spark: SparkSession, sql: Rows) -> None:
    """A warehouse runs the statements of its clients in threads, and dbt sends several at a time."""

    def own() -> SparkSession:
        session = spark.newSession()
        session.sql(f"USE {SCHEMA}")
        return session

    def refresh(name: str) -> list[tuple[Any, ...]]:
        session = own()
        session.sql(f"CREATE MATERIALIZED VIEW {name} AS SELECT k, count(*) AS n FROM t GROUP BY k")
        session.sql(f"REFRESH MATERIALIZED VIEW {name}")
        return sorted(map(tuple, session.table(name).collect()))

    def stream(name: str) -> list[tuple[Any, ...]]:
        session = own()
        session.sql(f"CREATE STREAMING TABLE {name} AS SELECT id FROM STREAM t")
        return sorted(map(tuple, session.table(name).collect()))

    def read(name: str) -> list[tuple[Any, ...]]:
        session, found = own(), set()
        for _ in range(10):
            # The name of a view that is being created is another relation here.
            rows = session.sql(f"WITH {name} AS (SELECT count(*) AS n FROM t) SELECT n FROM {name}").collect()
            found |= {(row.n, session.table("t").count()) for row in rows}
        return sorted(found)

    groups = [(0, 4), (1, 3), (2, 3)]
    work = [
        (refresh, "v1", groups),
        (read, "v1", [(10, 10)]),
        (stream, "s1", [(each,) for each in range(10)]),
    ]
    work += [(refresh, "v2", groups), (read, "v2", [(10, 10)])]
    with ThreadPoolExecutor(len(work)) as pool:
        started = [(pool.submit(run, name), rows) for run, name, rows in work]
        for future, rows in started:
            assert future.result() == rows
