"""What the statements of a pipeline's SQL say, read without Spark."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.pipelines.analysis.dataset_names import blank_live
from lakeward.pipelines.graph.column_ddl import format_ddl
from lakeward.pipelines.sql.grammar import CHANGES, INSERTS, SqlSyntaxError, parse_statement
from lakeward.pipelines.sql.statements import (
    DatasetStatement,
    FlowStatement,
    SetStatement,
    UseStatement,
    split_source,
)

KINDS = {
    "CREATE OR REFRESH STREAMING TABLE t": "streaming_table",
    "create streaming live table LIVE.t": "streaming_table",
    "CREATE TEMPORARY INCREMENTAL LIVE TABLE t": "streaming_table",
    "CREATE OR REPLACE MATERIALIZED VIEW t": "materialized_view",
    "CREATE LIVE TABLE IF NOT EXISTS t": "materialized_view",
    "CREATE TEMPORARY VIEW t": "view",
    "CREATE TEMPORARY LIVE VIEW t": "view",
    "CREATE STREAMING LIVE VIEW t": "view",
}


def dataset(text: str) -> DatasetStatement:
    found = parse_statement(text)
    assert isinstance(found, DatasetStatement)
    return found


@pytest.mark.parametrize(("beginning", "kind"), KINDS.items())
def test_every_spelling_is_one_of_three_kinds(beginning: str, kind: str) -> None:
    text = f"{beginning} AS SELECT 1;"
    found = dataset(text)
    assert (found.kind, found.name) == (kind, "t")
    assert found.query is not None and text[slice(*found.query)] == "SELECT 1"


def test_a_query_may_stand_without_as() -> None:
    text = 'CREATE MATERIALIZED VIEW m COMMENT "x" WITH a AS (SELECT 1) SELECT * FROM a'
    found = dataset(text)
    assert found.query is not None and text[slice(*found.query)].startswith("WITH a")


def test_columns_types_and_expectations_are_distinguished() -> None:
    found = dataset(
        """CREATE STREAMING TABLE a.b (
            id INT NOT NULL COMMENT "it's", s STRUCT<a: INT, b: MAP<STRING, ARRAY<DECIMAL(10, 2)>>>,
            `odd name` STRING MASK f USING COLUMNS (id), d DATE GENERATED ALWAYS AS (CAST(ts AS DATE)),
            k STRING PRIMARY KEY, CONSTRAINT pk PRIMARY KEY (id, k), FOREIGN KEY (k) REFERENCES o (x),
            CONSTRAINT `a (b), c` EXPECT(id < 5 AND f(id, 1)) ON VIOLATION DROP ROW,
            CONSTRAINT u EXPECT (k <> ',') ON VIOLATION FAIL UPDATE, CONSTRAINT w EXPECT (true))"""
    )
    assert format_ddl(found.columns) == (
        "`id` INT NOT NULL COMMENT 'it\\'s', `s` STRUCT<a: INT, b: MAP<STRING, ARRAY<DECIMAL(10, 2)>>>, "
        "`odd name` STRING MASK f USING COLUMNS (id), `d` DATE GENERATED ALWAYS AS (CAST(ts AS DATE)), "
        "`k` STRING"
    )
    assert found.columns[3].generated == "CAST(ts AS DATE)" and not found.warnings
    assert dataset("CREATE MATERIALIZED VIEW m (a MASK f) AS SELECT 1 AS a").warnings == ("MASK",)
    assert [(rule.name, rule.constraint, rule.action) for rule in found.expectations] == [
        ("a (b), c", "id < 5 AND f(id, 1)", "drop"),
        ("u", "k <> ','", "fail"),
        ("w", "true", "warn"),
    ]


@pytest.mark.parametrize(
    "default", ["1 < 2", "2 > 1", "2 >> 1", "1 <> 2", "1 < 2 AND 2 > 1", "f(1 < 2)", "1"]
)
@pytest.mark.parametrize("nested", ["MAP<STRING, INT>", "array<MAP<INT, STRUCT<a: INT, b: INT>>>", "INT"])
def test_comparisons_in_default_values_are_no_brackets(default: str, nested: str) -> None:
    found = dataset(
        f"CREATE STREAMING TABLE t (a INT DEFAULT {default}, m {nested}, b {nested} DEFAULT {default})"
    )
    assert [(column.name, column.type) for column in found.columns] == [
        ("a", "INT"),
        ("m", nested),
        ("b", nested),
    ]


def test_clauses_come_in_any_order() -> None:
    found = dataset(
        """CREATE STREAMING TABLE t TBLPROPERTIES ("a.b" = "x", delta.c = true, n.o = -5, 'e' "f", 'g' = '')
           SCHEDULE REFRESH CRON '0 0 * * * ?' AT TIME ZONE 'UTC' PARTITIONED BY (a, `b c`) COMMENT 'c'
           CLUSTER BY AUTO LOCATION '/x' ROW FILTER s.f ON (a) AS SELECT 1"""
    )
    properties = {"a.b": "x", "delta.c": "true", "n.o": "-5", "e": "f", "g": ""}
    assert found.options == {
        "table_properties": properties,
        "partition_cols": ["a", "`b c`"],
        "comment": "c",
        "path": "/x",
        "row_filter": "s.f ON (a)",
    }
    assert found.warnings == ("SCHEDULE", "CLUSTER BY AUTO")


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (
            (
                "APPLY CHANGES INTO LIVE.t FROM STREAM(LIVE.s) KEYS (id, b)"
                " IGNORE NULL UPDATES ON * EXCEPT (x)"
                " APPLY AS DELETE WHEN op = 'D' APPLY AS TRUNCATE WHEN op = 'T' SEQUENCE BY ts "
                "COLUMNS * EXCEPT (op, _r) STORED AS SCD TYPE 1"
            ),
            {
                "keys": ["id", "b"],
                "ignore_null_updates": True,
                "apply_as_deletes": "op = 'D'",
                "ignore_null_updates_except_column_list": ["x"],
                "apply_as_truncates": "op = 'T'",
                "sequence_by": "ts",
                "except_column_list": ["op", "_r"],
                "stored_as_scd_type": 1,
            },
        ),
        (
            (
                "CREATE FLOW f AS AUTO CDC INTO t FROM STREAM s SEQUENCE BY struct(a, b) KEYS (id) "
                "STORED AS SCD TYPE 2 TRACK HISTORY ON a, b COLUMNS TO UPDATE changed"
            ),
            {
                "sequence_by": "struct(a, b)",
                "keys": ["id"],
                "stored_as_scd_type": 2,
                "track_history_column_list": ["a", "b"],
                "columns_to_update": "changed",
            },
        ),
        (
            (
                "APPLY CHANGES INTO live.t FROM STREAM(live.s) KEYS (id) WHERE day >= '2024' AND (a OR b)"
                " IGNORE NULL UPDATES SEQUENCE BY ts"
            ),
            {
                "keys": ["id"],
                "where": "day >= '2024' AND (a OR b)",
                "ignore_null_updates": True,
                "sequence_by": "ts",
            },
        ),
    ],
)
def test_auto_cdc_takes_its_clauses_in_any_order(text: str, arguments: dict[str, Any]) -> None:
    found = parse_statement(text)
    assert isinstance(found, FlowStatement) and found.changes is not None
    assert (found.changes.target, found.changes.source) == ("t", "s")
    assert found.changes.arguments == arguments


def test_a_change_feed_that_is_more_than_a_name_stays_as_it_is_written() -> None:
    found = parse_statement(
        "CREATE FLOW f AS AUTO CDC INTO t FROM STREAM read_files('x') KEYS (id) SEQUENCE BY ts"
    )
    assert isinstance(found, FlowStatement) and found.changes is not None
    assert (found.changes.source, found.changes.source_is_name) == ("STREAM read_files('x')", False)


def test_settings_and_use() -> None:
    assert parse_statement("SET a.b = 5 + x") == SetStatement("a.b", "5 + x")
    assert parse_statement("SET a.b='y'") == SetStatement("a.b", "y") and parse_statement(
        "SET a.b"
    ) == SetStatement("a.b", None)
    assert parse_statement("USE CATALOG `a-b`") == UseStatement("a-b") and parse_statement(
        "USE a.b"
    ) == UseStatement("a", "b")
    assert parse_statement("USE SCHEMA IDENTIFIER('x')") == UseStatement(schema="x")


@pytest.mark.parametrize(
    ("text", "found", "is_other"),
    [
        ("CREATE LIVE TABLE t (a INT,, b INT) AS SELECT 1", ",", False),
        ("CREATE LIVE TABLE t (a INT,) AS SELECT 1", ",", False),
        ("CREATE STREAMING TABLE t WITH x AS SELECT 1 UNKNOWN", None, False),
        ("CREATE MATERIALIZED VIEW m", "end of statement", False),
        ("CREATE STREAMING TABLE t COMMENT AS SELECT 1", "AS", False),
        ("CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (a) ON VIOLATION IGNORE)", "IGNORE", False),
        ("CREATE MATERIALIZED VIEW  AS SELECT 1", "AS", False),
        ("CREATE OR REFRESH STREAMING TABLE AS SELECT 1", "AS", False),
        ("CREATE TEMPORARY VIEW IF NOT EXISTS as SELECT 1", "as", False),
        ("CREATE MATERIALIZED VIEW `as` AS SELECT 1", None, False),
        ("CREATE TABLE t (a INT)", "CREATE", True),
        ("SELECT 1", "SELECT", True),
    ],
)
def test_a_mistake_is_reported_by_where_it_stands(text: str, found: str | None, is_other: bool) -> None:
    if found is None:
        assert parse_statement(text)
        return
    with pytest.raises(SqlSyntaxError) as raised:
        parse_statement(text)
    assert (raised.value.found, raised.value.is_other) == (found, is_other)
    assert found == "end of statement" or text[raised.value.offset :].startswith(found)


VIEW = "CREATE MATERIALIZED VIEW m "
PERIODS = "MINUTE, MINUTES, HOUR, HOURS, DAY, DAYS, WEEK, WEEKS"
CHANGES_INTO = "CREATE FLOW f AS AUTO CDC INTO t FROM STREAM s "


@pytest.mark.parametrize("refresh", ["", "REFRESH "])
@pytest.mark.parametrize("kind", ["MATERIALIZED VIEW", "STREAMING TABLE"])
@pytest.mark.parametrize(
    "schedule",
    [
        "EVERY 1 HOUR",
        "every 3 days",
        "EVERY 8 WEEKS",
        "CRON '0 0 * * * ?'",
        "CRON '0 0 * * * ?' AT TIME ZONE 'UTC'",
    ],
)
def test_schedules_of_every_form(schedule: str, kind: str, refresh: str) -> None:
    found = dataset(f"CREATE {kind} t SCHEDULE {refresh}{schedule} COMMENT 'c' AS SELECT 1")
    assert (found.warnings, found.options) == (("SCHEDULE",), {"comment": "c"})


@pytest.mark.parametrize("kind", ["MATERIALIZED VIEW", "STREAMING TABLE"])
@pytest.mark.parametrize(
    "interval",
    [
        "1 HOUR",
        "'1' HOUR",
        "'90 minutes'",
        "1 hour 30 minutes",
        "'1:30' HOUR TO MINUTE",
        "'1 02' DAY TO HOUR",
    ],
)
def test_triggers_on_updates_of_every_form(interval: str, kind: str) -> None:
    most = f" AT MOST EVERY INTERVAL {interval}"
    for suffix in ("", most):
        found = dataset(f"CREATE {kind} t TRIGGER ON UPDATE{suffix} COMMENT 'c' AS SELECT 1")
        assert (found.warnings, found.options) == (("TRIGGER ON",), {"comment": "c"})


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        (
            VIEW + "(CONSTRAINT c EXPECT (a > 1) ON VIOLATION DROP) AS SELECT 1",
            "DROP",
            "DROP ROW, FAIL UPDATE",
        ),
        (
            VIEW + "(a INT CONSTRAINT c EXPECT (a > 1) ON VIOLATION FAIL) AS SELECT 1",
            "FAIL",
            "DROP ROW, FAIL UPDATE",
        ),
        (VIEW + "(CONSTRAINT c EXPECT a > 1) AS SELECT 1", "a", "("),
        (VIEW, "end of statement", "AS"),
        (VIEW + "COMMENT AS SELECT 1", "AS", "a string"),
        (VIEW + "PARTITIOND BY (a) AS SELECT 1", "PARTITIOND", "PARTITIONED BY"),
        (VIEW + "tblproperty ('a' = 'b') AS SELECT 1", "tblproperty", "TBLPROPERTIES"),
        (VIEW + "qqq AS SELECT 1", "qqq", None),
        (VIEW + "SCHEDULE DAILY AS SELECT 1", "DAILY", "EVERY, CRON"),
        (VIEW + "SCHEDULE EVERY DAY AS SELECT 1", "DAY", "a whole number"),
        (VIEW + "SCHEDULE EVERY 5 PARSECS AS SELECT 1", "PARSECS", PERIODS),
        (VIEW + "SCHEDULE REFRESH CRON AS SELECT 1", "AS", "a string"),
        (VIEW + "SCHEDULE CRON '0 0 * * * ?' AT ZONE 'UTC' AS SELECT 1", "ZONE", "TIME ZONE"),
        (VIEW + "TRIGGER ON CHANGE AS SELECT 1", "CHANGE", "UPDATE"),
        (VIEW + "TRIGGER ON UPDATE AT LEAST EVERY INTERVAL 1 HOUR AS SELECT 1", "LEAST", "MOST EVERY"),
        (VIEW + "TRIGGER ON UPDATE AT MOST EVERY 1 HOUR AS SELECT 1", "1", "INTERVAL"),
        (CHANGES_INTO + "KEYS (id) SEQUENZ BY ts", "SEQUENZ", "SEQUENCE BY"),
        (CHANGES_INTO + "KEYS (id) SEQUENCE BY ts STORED AS SCD 2", "SCD", "SCD TYPE"),
        (CHANGES_INTO + "KEYS (id) SEQUENCE BY ts STORED AS SCD TYPE two", "two", "a whole number"),
        ("CREATE FLOW f AS INSRT INTO t SELECT 1", "INSRT", ", ".join((*CHANGES, *INSERTS))),
    ],
)
def test_a_mistake_names_what_the_grammar_allows_there(text: str, found: str, expected: str | None) -> None:
    with pytest.raises(SqlSyntaxError) as raised:
        parse_statement(text)
    assert (raised.value.found, raised.value.expected) == (found, expected and f"Expected: {expected}.")


def test_parameters_are_filled_in_and_places_stay() -> None:
    values = {"s": "raw", "n": "it's"}
    text = "-- one\nSET x = 1;\n  CREATE LIVE VIEW ${s}_v AS\nSELECT :n, ':n', a:n, :other FROM t"
    first, second = split_source(text, "f.sql", 10, values.get)
    assert (first.line, first.column, second.line, second.column) == (11, 1, 12, 3)
    assert second.text.endswith("SELECT 'it\\'s', ':n', a:n, :other FROM t")
    assert second.position(second.text.index("SELECT")) == (13, 1)
    assert first.unset == second.unset == ()


@pytest.mark.parametrize(
    ("text", "filled", "unset"),
    [
        ("CREATE LIVE VIEW v (${a} ${b}) AS SELECT 1", "CREATE LIVE VIEW v (x INT ) AS SELECT 1", ("b",)),
        ("SELECT '${b}/${c}', ${b}1", "SELECT '/', 1", ("b", "c")),
        ("SELECT -- ${b}\n/* ${c}\n${d} */ ${a}", "SELECT -- \n/* \n */ x INT", ()),
        ("SELECT ${empty}1", "SELECT 1", ()),
        ("SELECT 'a--${b}', \"/*${c}\"", "SELECT 'a--', \"/*\"", ("b", "c")),
        (r"SELECT 'it\'s --${b}'", r"SELECT 'it\'s --'", ("b",)),
    ],
)
def test_a_parameter_without_a_value_is_replaced_by_nothing(
    text: str, filled: str, unset: tuple[str, ...]
) -> None:
    (only,) = split_source(text, "f.sql", 1, {"a": "x INT", "empty": ""}.get)
    assert (only.text, only.unset) == (filled, unset)


@given(st.text(alphabet="LIVE.live xSELECT'\"`-\n;(),", max_size=120))
def test_the_schema_live_leaves_every_other_character_in_its_place(text: str) -> None:
    blanked = blank_live(text)
    assert len(blanked) == len(text)
    assert all(b in (" ", a) for a, b in zip(text, blanked, strict=True))


WORDS = st.sampled_from(
    [
        "CREATE",
        "OR",
        "REFRESH",
        "STREAMING",
        "LIVE",
        "TABLE",
        "MATERIALIZED",
        "VIEW",
        "t",
        "(",
        ")",
        ",",
        "CONSTRAINT",
        "EXPECT",
        "ON",
        "VIOLATION",
        "DROP",
        "ROW",
        "COMMENT",
        "'x'",
        "TBLPROPERTIES",
        "=",
        "AS",
        "SELECT",
        "1",
        "AUTO",
        "CDC",
        "INTO",
        "FROM",
        "STREAM",
        "KEYS",
        "SEQUENCE",
        "BY",
        "FLOW",
        "COLUMNS",
        "*",
        "EXCEPT",
        "STORED",
        "SCD",
        "TYPE",
        "2",
        "SET",
        "USE",
        ".",
        "INT",
        "<",
        ">",
        ";",
        "APPLY",
        "CHANGES",
        "INSERT",
        "ONCE",
        "PARTITIONED",
        "CLUSTER",
    ]
)


@given(st.lists(WORDS, max_size=25))
def test_whatever_is_written_is_read_or_misread(words: list[str]) -> None:
    text = " ".join(words)
    try:
        parse_statement(text)
    except SqlSyntaxError as error:
        assert 0 <= error.offset <= len(text)
