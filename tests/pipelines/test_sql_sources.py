"""Pipelines in SQL: every spelling declares the same as the Python API (SDP-6.5)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.environments.index import use_folder_index
from tests.pipelines.conftest import Lab, result

CHANGES = """
    SELECT * FROM VALUES
        (124, 'Raul', 'Oaxaca', 'INSERT', 1), (123, 'Isabel', 'Monterrey', 'INSERT', 1),
        (125, 'Mercedes', 'Tijuana', 'INSERT', 2), (126, 'Lily', 'Cancun', 'INSERT', 2),
        (123, NULL, NULL, 'DELETE', 6), (125, 'Mercedes', 'Guadalajara', 'UPDATE', 6),
        (125, 'Mercedes', 'Mexicali', 'UPDATE', 5), (123, 'Isabel', 'Chihuahua', 'UPDATE', 5)
        AS t(userId, name, city, operation, sequenceNum)
"""


def test_streaming_tables_views_and_materialized_views_in_legacy_and_new_spellings(lab: Lab) -> None:
    lab.seed("orders", "SELECT id, id % 3 AS kind, id * 10 AS amount FROM range(10)")
    lab.file(
        "a.sql",
        """
        -- A comment; with a semicolon
        CREATE OR REFRESH STREAMING LIVE TABLE bronze (
            CONSTRAINT `a valid id` EXPECT(id < 9) ON VIOLATION DROP ROW,
            CONSTRAINT small EXPECT (amount < 50)
        )
        TBLPROPERTIES ("quality" = "bronze", pipelines.autoOptimize.managed = true)
        COMMENT "Raw; orders"
        AS SELECT * FROM STREAM(SRC.orders);

        CREATE TEMPORARY VIEW odd AS SELECT * FROM STREAM(LIVE.bronze) WHERE id % 2 = 1;
        CREATE OR REFRESH STREAMING TABLE silver (id BIGINT COMMENT 'the id', amount BIGINT, twice BIGINT
            GENERATED ALWAYS AS (amount * 2), CONSTRAINT pk PRIMARY KEY (id))
        CLUSTER BY (id)
        AS SELECT amount, id FROM STREAM odd;
        CREATE OR REPLACE MATERIALIZED VIEW gold (kind COMMENT 'modulo', total)
        AS SELECT kind, sum(amount) AS total FROM live.bronze GROUP BY ALL
        """,
    )
    lab.file("b.sql", "CREATE LIVE TABLE top AS\nSELECT max(total) AS most FROM LIVE.gold")
    update = lab.done()
    rules = result(update, "bronze").expectations
    assert [(rule.name, rule.passed, rule.failed) for rule in sorted(rules, key=lambda r: r.name)] == [
        ("a valid id", 9, 1),
        ("small", 5, 5),
    ]
    assert lab.rows("silver") == [(1, 10, 20), (3, 30, 60), (5, 50, 100), (7, 70, 140)]
    assert lab.rows("gold") == [(0, 90), (1, 120), (2, 150)]
    assert lab.rows("top") == [(150,)]
    fields = {field.name: field.metadata.get("comment") for field in lab.table("gold").schema}
    assert fields == {"kind": "modulo", "total": None}
    detail = lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.bronze").collect()[0]
    assert detail["description"] == "Raw; orders" and detail["properties"]["quality"] == "bronze"
    assert lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.silver").collect()[0]["clusteringColumns"] == [
        "id"
    ]


@pytest.mark.slow
def test_streams_of_files_have_their_schema_location_in_every_spelling(lab: Lab) -> None:
    """Spark resolves the functions of SQL text in a thread of its own."""
    landing = lab.folder / "landing"
    landing.mkdir()
    (landing / "a.csv").write_text("id,name\n1,x\n")
    options = "format => 'csv', header => true, inferColumnTypes => true"
    spellings = {
        "stream_word": f"STREAM read_files('{landing}', {options})",
        "stream_call": f"STREAM(read_files('{landing}', {options}))",
        "added_columns": f"STREAM read_files('{landing}', {options}, schemaEvolutionMode => 'addNewColumns')",
        "hints": f"STREAM read_files('{landing}', {options}, schemaHints => 'id BIGINT')",
        "older": f"cloud_files('{landing}', 'csv', map('header', 'true'))",
        "joined": f"STREAM read_files('{landing}', {options}) a JOIN (SELECT 1 AS one) b ON a.id = b.one",
    }
    lab.file(
        "a.sql",
        "".join(
            f"CREATE OR REFRESH STREAMING TABLE {name} AS SELECT string(id), name FROM {text};\n"
            for name, text in spellings.items()
        )
        + f"""
        CREATE STREAMING TABLE flows;
        CREATE FLOW f AS INSERT INTO flows BY NAME SELECT string(id), name FROM {spellings["stream_word"]};
        CREATE TEMPORARY VIEW raw AS SELECT * FROM {spellings["stream_word"]};
        CREATE STREAMING TABLE through_a_view AS SELECT string(id), name FROM STREAM raw;
        """,
    )
    lab.file(
        "b.py",
        f"""
        import dlt

        @dlt.table
        def in_python():
            return spark.sql("SELECT string(id), name FROM {spellings["stream_word"]}")
        """,
    )
    lab.done()
    tables = [*spellings, "flows", "through_a_view", "in_python"]
    assert {name: lab.rows(name) for name in tables} == {name: [("1", "x")] for name in tables}
    (landing / "b.csv").write_text("id,name\n2,y\n")
    lab.done()
    assert {name: len(lab.rows(name)) for name in tables} == {**dict.fromkeys(tables, 2), "joined": 1}


def test_flows_append_once_and_apply_changes(lab: Lab) -> None:
    lab.seed("feed", CHANGES)
    lab.seed("more", "SELECT 1 AS id")
    lab.file(
        "flows.sql",
        """
        CREATE OR REFRESH STREAMING TABLE one;
        APPLY CHANGES INTO LIVE.one FROM STREAM(SRC.feed) KEYS (userId)
          APPLY AS DELETE WHEN operation = "DELETE" SEQUENCE BY sequenceNum
          COLUMNS * EXCEPT (operation, sequenceNum) STORED AS SCD TYPE 1;
        CREATE OR REFRESH STREAMING TABLE two;
        CREATE FLOW history AS AUTO CDC INTO two FROM stream(SRC.feed) KEYS (userId)
          SEQUENCE BY struct(sequenceNum) APPLY AS DELETE WHEN operation = 'DELETE'
          COLUMNS * EXCEPT (operation, sequenceNum) STORED AS SCD TYPE 2;
        CREATE OR REFRESH STREAMING TABLE sums;
        CREATE FLOW a COMMENT 'first' AS INSERT INTO sums BY NAME SELECT id FROM STREAM(SRC.more);
        CREATE FLOW b AS INSERT INTO ONCE sums BY NAME SELECT id + 100 AS id FROM SRC.more;
        """,
    )
    lab.done()
    assert lab.rows("one") == [
        (124, "Raul", "Oaxaca"),
        (125, "Mercedes", "Guadalajara"),
        (126, "Lily", "Cancun"),
    ]
    history = lab.rows("two", "userId, city, __START_AT.sequenceNum, __END_AT.sequenceNum")
    assert (125, "Mexicali", 5, 6) in history and len(history) == 7
    assert lab.rows("sums") == [(1,), (101,)]
    lab.done()
    assert lab.rows("sums") == [(1,), (101,)]


def test_settings_parameters_use_and_functions_of_a_python_file(lab: Lab) -> None:
    lab.seed("numbers", "SELECT id FROM range(4)")
    other = f"{lab.schema}b"
    lab.file("udfs.py", 'spark.udf.register("plus_one", lambda x: x + 1, "bigint")\n')
    lab.file(
        "use.sql",
        """
        SET my.limit = 2;
        CREATE MATERIALIZED VIEW ${prefix}_few COMMENT '${prefix}' AS
          SELECT plus_one(id) AS id, :label AS label FROM SRC.numbers WHERE id < ${my.limit};
        USE SCHEMA ${other};
        CREATE MATERIALIZED VIEW base AS SELECT 7 AS x;
        CREATE MATERIALIZED VIEW derived AS SELECT x + 1 AS x FROM base;
        """,
    )
    lab.done(configuration={"prefix": "my", "label": "it's", "other": other})
    assert lab.rows("my_few") == [(1, "it's"), (2, "it's")]
    assert [tuple(row) for row in lab.spark.table(f"main.{other}.derived").collect()] == [(8,)]


def test_parameters_without_a_value_are_empty_and_named(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    text = (
        "CREATE MATERIALIZED VIEW whole (${columns} ${constraints}) AS SELECT '${region}' AS name -- ${note}"
    )
    lab.file("a.sql", text)
    lab.done(configuration={"columns": "name STRING"})
    assert lab.rows("whole") == [("",)]
    warned = [each.getMessage() for each in caplog.records if "has no value" in each.getMessage()]
    assert [each.split(" ")[0] for each in warned] == ["${constraints}", "${region}"]
    lab.file("b.sql", "CREATE MATERIALIZED VIEW other COMMENT ${no} AS SELECT 1 AS x")
    assert "set no in the pipeline's configuration" in (lab.run().error or "")


def test_notebooks_of_every_form_declare_in_their_own_language(lab: Lab) -> None:
    lab.seed("numbers", "SELECT id FROM range(4)")
    lab.file(
        "python_notebook.py",
        """\
        # Databricks notebook source
        # MAGIC %md
        # MAGIC # Title

        # COMMAND ----------

        # MAGIC %pip install pandas

        # COMMAND ----------

        # MAGIC %run ./common/names

        # COMMAND ----------

        # DBTITLE 1,The table
        import dlt

        # COMMAND ----------

        @dlt.table(name=NAME)
        def anything():
            return spark.read.table("SRC.numbers")

        # COMMAND ----------

        # MAGIC %sql
        # MAGIC CREATE LIVE TABLE declares_nothing AS SELECT 1
        """,
    )
    lab.file("common/names.py", '# Databricks notebook source\nNAME = "from_" + "run"\n')
    lab.file("common/__init__.py", "")
    lab.file(
        "sql_notebook.sql",
        """\
        -- Databricks notebook source
        -- MAGIC %md not SQL; at all

        -- COMMAND ----------

        -- DBTITLE 1,One
        CREATE LIVE VIEW v AS SELECT 1 AS x

        -- COMMAND ----------

        CREATE LIVE TABLE t AS SELECT x + 1 AS x FROM LIVE.v;
        """,
    )
    lab.file(
        "plain_cells.sql",
        "CREATE LIVE TABLE u AS SELECT 5 AS x\n\n-- COMMAND ----------\n"
        "CREATE LIVE TABLE w AS SELECT 6 AS x\n",
    )
    cells = [
        "%md text",
        "from pyspark import pipelines as dp\nimport helper",
        "@dp.materialized_view\ndef i():\n    return spark.range(helper.COUNT)",
    ]
    lab.file("helper.py", "COUNT = 2\n")
    (lab.files / "nb.ipynb").write_text(
        json.dumps({"metadata": {}, "cells": [{"cell_type": "code", "source": [cell]} for cell in cells]})
    )
    lab.done()
    assert lab.rows("from_run") == [(0,), (1,), (2,), (3,)]
    assert (lab.rows("t"), lab.rows("u"), lab.rows("w")) == ([(2,)], [(5,)], [(6,)])
    assert lab.rows("i") == [(0,), (1,)]
    assert lab.tables() == {"from_run", "t", "u", "w", "i"}


@pytest.mark.parametrize(
    ("text", "condition", "place"),
    [
        ("\n\nCREATE STREAMING TABLE t (\n  a INT,,\n) AS SELECT 1", "PARSE_SYNTAX_ERROR", ":4:9"),
        ("CREATE LIVE TABLE t\nAS SELECT *\nFROM a b c", "PARSE_SYNTAX_ERROR", ":3:10"),
        ("CREATE LIVE TABLE t\nAS SELECT\n  nope FROM (SELECT 1 AS a)", "UNRESOLVED_COLUMN", ":3:3"),
        ("\nDELETE FROM x", "UNSUPPORTED_PIPELINE_SPARK_SQL_COMMAND", ":2:1"),
        ("\nselec 1", "PARSE_SYNTAX_ERROR", ":2:1"),
        ("\nCREATE LIVE TABLE t SCHEDULE CRON 'foo' AS SELECT 1", "INVALID_CRON_EXPRESSION", ":2"),
        ("\nCREATE LIVE TABLE t SCHEDULE EVERY 73 HOURS AS SELECT 1", "SCHEDULE_PERIOD_INVALID", ":2"),
        ("\nCREATE STREAMING TABLE t AS SELECT 1 AS a", "BATCH_RELATION_FOR_STREAMING_TABLE", ":2"),
        ("\nCREATE LIVE TABLE t AS SELECT 1 AS a; CREATE LIVE TABLE T AS SELECT 2", "DUPLICATE", ":2"),
        (
            "-- Databricks notebook source\n-- MAGIC %pip install no-such-package>=3",
            "DEPENDENCY_NOT_FOUND",
            ":2",
        ),
        (
            "CREATE STREAMING TABLE t;\nAPPLY CHANGES INTO t FROM STREAM(x) SEQUENCE BY y",
            "PARSE_SYNTAX_ERROR",
            ":2",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place_in_the_users_file(
    lab: Lab, text: str, condition: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_folder_index(monkeypatch, tmp_path / "machine", {("other", "1"): ()})
    file = lab.file("wrong.sql", text)
    update = lab.run(dry_run=True)
    assert update.state == "FAILED" and update.error is not None
    assert condition in update.error and f"{file}{place}" in update.error, update.error
    assert "Traceback" not in update.error and "\n\n" not in update.error
    # The quoted line ends where the user's line ends: advice has a line of its own.
    for line in update.error.splitlines():
        assert not line.startswith("    ") or line.strip() in text, update.error


def test_relative_imports_start_in_the_files_own_folder(lab: Lab) -> None:
    lab.file("shared/deep/tools.py", "def two():\n    return 2\n")
    lab.file("shared/__init__.py", "")
    lab.file(
        "sub/source.py",
        """
        import os, sys
        sys.path.append("../shared/deep")
        from pyspark import pipelines as dp
        import tools

        HERE = os.getcwd()

        @dp.materialized_view
        def where_am_i():
            return spark.createDataFrame([(HERE, tools.two())], "folder string, two int")
        """,
    )
    lab.done()
    assert lab.rows("where_am_i") == [(str(lab.files / "sub"), 2)]


@pytest.mark.parametrize("live", ["LIVE.", "live.", "LIVE.main."])
def test_the_qualifier_live_is_ignored_before_a_schema_too(lab: Lab, live: str) -> None:
    other = f"{lab.schema}_other"
    lab.seed("orders", "SELECT id, id % 3 AS kind FROM range(6)")
    lab.file(
        "a.sql",
        f"""
        CREATE OR REFRESH STREAMING TABLE {other}.bronze AS SELECT * FROM STREAM(SRC.orders);
        CREATE OR REFRESH MATERIALIZED VIEW {other}.gold
        AS SELECT kind, count(*) AS n FROM {live}{other}.bronze WHERE id > 0 GROUP BY kind;
        CREATE OR REFRESH STREAMING TABLE LIVE.{other}.folded;
        APPLY CHANGES INTO LIVE.{other}.folded FROM STREAM(LIVE.{other}.bronze)
        KEYS (kind) SEQUENCE BY id STORED AS SCD TYPE 1
        """,
    )
    lab.file(
        "b.py",
        f"""
        import dlt
        @dlt.table(name="{other}.silver")
        def silver():
            return dlt.read_stream("{live}{other}.bronze")
        @dlt.table(name="{other}.most")
        def most():
            gold = dlt.read("{live}{other}.gold").selectExpr("max(n) AS most")
            return gold.crossJoin(spark.sql("SELECT count(*) AS all FROM {live}{other}.silver"))
        dlt.create_streaming_table("{live}{other}.copied")
        @dlt.append_flow(target="{live}{other}.copied")
        def copy():
            return spark.readStream.table("{live}{other}.bronze")
        """,
    )
    lab.done()
    rows = {name: lab.spark.table(f"main.{other}.{name}") for name in ("folded", "silver", "most", "copied")}
    assert {tuple(row) for row in rows["folded"].collect()} == {(3, 0), (4, 1), (5, 2)}
    assert [tuple(row) for row in rows["most"].collect()] == [(2, 6)]
    assert rows["silver"].count() == rows["copied"].count() == 6


def test_a_catalog_of_the_name_live_is_read_by_its_name(lab: Lab) -> None:
    lab.spark.sql("CREATE CATALOG live")
    try:
        lab.spark.sql(f"CREATE SCHEMA live.{lab.schema}")
        lab.spark.sql(f"CREATE TABLE live.{lab.schema}.t AS SELECT 'of the catalog' AS v")
        lab.file(
            "a.py",
            f"""
            import dlt
            @dlt.table
            def t():
                return spark.sql("SELECT 'of the pipeline' AS v")
            @dlt.table
            def u():
                rows = spark.read.table("live.{lab.schema}.t")
                rows = rows.union(spark.sql("SELECT * FROM live.{lab.schema}.t"))
                return rows.union(spark.sql("SELECT * FROM live.t"))
            """,
        )
        lab.done()
        assert sorted(lab.rows("u")) == [("of the catalog",), ("of the catalog",), ("of the pipeline",)]
    finally:
        lab.spark.sql("DROP CATALOG live CASCADE")
